"""Short constructors of what is simulated."""

from msgspec import structs

from pointsman.domain.policy import Timeouts
from pointsman.domain.price import Price, Rates
from pointsman.domain.target import Target
from pointsman.simulator.endpoint import Endpoint
from pointsman.simulator.profile import Profile
from pointsman.simulator.request import Request

TIMEOUTS = Timeouts(first_content_s=20.0, idle_s=20.0)


def request(request_id: str = "1.0", **fields: object) -> Request:
    return structs.replace(Request(request_id, at_s=0.0, input_tokens=1_000, output_tokens=200), **fields)


def profile(**fields: object) -> Profile:
    return structs.replace(Profile(ttft_s=0.5, tps=50.0, knee=40.0), **fields)


def endpoint(name: str = "a", *, seed: int = 1, **fields: object) -> Endpoint:
    return Endpoint(name, profile(**fields), TIMEOUTS, seed)


def target(name: str, input_usd: float = 1.0, output_usd: float | None = None) -> Target:
    """USD per million tokens; output costs as much, unless it is said."""
    rates = Rates(input_usd, input_usd if output_usd is None else output_usd, input_usd, input_usd)
    return Target(f"{name}/m", name, "m", state_key=name, price=Price(rates, "a test"))
