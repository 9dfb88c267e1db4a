"""The configuration of a simulated gateway: compiled by the same code as that of a real one."""

from collections.abc import Mapping
from datetime import UTC, datetime

from pointsman.config.compile import snapshot_of
from pointsman.config.schema import ConfigFile, PriceEntry
from pointsman.domain.policy import Timeouts
from pointsman.domain.snapshot import Snapshot
from pointsman.simulator.nodes import GROUP
from pointsman.simulator.plan import Plan
from pointsman.simulator.profile import Profile
from pointsman.simulator.schema import PolicySection

_MODEL = "model"
_NOWHERE = "http://127.0.0.1:9"  # nothing is ever sent
_CREDENTIAL_KEY = b"simulator"  # equal ones give equal state keys: what was learned outlives a change of prices
_PRICED_AT = datetime(2026, 1, 1, tzinfo=UTC)  # no price depends on it


def timeouts_of(plan: Plan) -> Timeouts:
    return Timeouts(first_content_s=plan.first_content_s, idle_s=plan.idle_s)


def snapshot(plan: Plan, policy: PolicySection, profiles: Mapping[str, Profile], version: int) -> Snapshot:
    """As somebody would configure these targets at that time."""
    present = [name for name, profile in profiles.items() if not profile.absent]
    config = ConfigFile.model_validate(
        {
            "version": 1,
            "auth": {"mode": "none"},
            "timeouts": {"first_content": plan.first_content_s, "idle": plan.idle_s},
            "retry": {"max_attempts": plan.attempts},
            "cooldown": policy.cooldown,
            "providers": {name: {"kind": "vllm", "base_url": _NOWHERE} for name in present},
            "prices": {
                "overrides": {
                    f"{name}/{_MODEL}": _price(plan.prices[name], profiles[name].price_factor) for name in present
                }
            },
            "models": {
                GROUP: {
                    "strategy": policy.strategy,
                    "targets": [{"model": f"{name}/{_MODEL}"} for name in present],
                    "routing_policy": policy.routing_policy,
                    "affinity": policy.affinity,
                }
            },
        }
    )
    return snapshot_of(config, version, 0, _CREDENTIAL_KEY, None, _PRICED_AT, {})


def _price(entry: PriceEntry, factor: float) -> PriceEntry:
    if factor == 1.0:
        return entry
    rates = {
        kind: usd * factor
        for kind, usd in entry.model_dump(include={"input", "output", "cache_read", "cache_write", "request"}).items()
        if usd is not None
    }
    return entry.model_copy(update=rates)
