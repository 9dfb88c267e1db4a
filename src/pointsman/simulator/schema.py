"""The shape of a scenario file. As strict as the gateway's own configuration, whose sections it shares."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from pointsman.config.scalars import reread
from pointsman.config.schema import (
    AffinitySection,
    CooldownSection,
    Duration,
    OptionalFlag,
    OptionalRate,
    OptionalRatio,
    PriceEntry,
    ProviderName,
    RoutingPolicySection,
    Section,
    Tokens,
)

_MAX_FACTOR = 1_000.0
_MIN_FACTOR = 0.001
_MAX_RATE_PER_S = 10_000.0

Factor = Annotated[
    Annotated[float, Field(allow_inf_nan=False, ge=_MIN_FACTOR, le=_MAX_FACTOR)] | None, BeforeValidator(reread)
]
Speed = Annotated[float, Field(allow_inf_nan=False, ge=_MIN_FACTOR, le=1e6), BeforeValidator(reread)]
OptionalSpeed = Annotated[Speed | None, BeforeValidator(reread)]
Rate = Annotated[float, Field(allow_inf_nan=False, ge=_MIN_FACTOR, le=_MAX_RATE_PER_S), BeforeValidator(reread)]
Count = Annotated[int, Field(ge=1, le=1_000), BeforeValidator(reread)]
Mean = Annotated[float, Field(allow_inf_nan=False, ge=1, le=_MAX_FACTOR), BeforeValidator(reread)]
Status = Annotated[int, Field(ge=400, le=599), BeforeValidator(reread)]
Attempts = Annotated[int, Field(ge=1, le=10), BeforeValidator(reread)]

Tested = Literal[
    "weighted", "round_robin", "failover", "cost", "inverse_square", "least_busy", "p2c", "blend", "market",
    "dynamic_score",
]  # fmt: skip

USUAL_RATE_PER_S = 5.53  # of the Azure conversation trace, whose lengths are the usual ones, too


class BehaviourSection(Section):
    """How a target behaves; None: as before."""

    ttft: Duration | None = None
    tps: OptionalSpeed = None
    knee: OptionalSpeed = None
    prefill_tps: OptionalSpeed = None
    slow: Factor = None
    price_factor: Factor = None
    error_ratio: OptionalRatio = None
    error_after: Duration | None = None
    error_statuses: list[Status] | None = None  # one as likely as the other
    break_ratio: OptionalRatio = None
    black_hole: OptionalFlag = None
    stalls: OptionalFlag = None
    max_rps: OptionalRate = None
    max_tps: OptionalRate = None
    retry_after: Duration | None = None
    tells_limits: OptionalFlag = None
    cache_ttl: Duration | None = None
    absent: OptionalFlag = None


class TargetSection(BehaviourSection):
    """`targets.NAME`."""

    ttft: Duration
    tps: Speed
    knee: Speed
    price: PriceEntry


class ChangeSection(BehaviourSection):
    """`timeline[i]`."""

    targets: list[ProviderName]
    begin: Duration | None = None  # None: from the beginning
    end: Duration | None = None  # None: for good
    every: Duration | None = None  # from one beginning to the next
    times: Count = 1


class BurstsSection(Section):
    """`workload.bursts`."""

    fano: Mean
    length: Duration


class SessionsSection(Section):
    """`workload.sessions`."""

    turns: Mean
    think: Duration
    grows: Tokens


class WorkloadSection(Section):
    """`workload`."""

    rate: Rate = USUAL_RATE_PER_S
    duration: Duration = 3600.0
    lengths: Literal["azure_conv", "azure_code", "mooncake"] = "azure_conv"
    bursts: BurstsSection | None = None
    sessions: SessionsSection | None = None
    trace: str | None = None  # a file in place of all of the above but the duration
    speed: Speed = 1.0  # of the trace


class TimeoutsSection(Section):
    """`timeouts`: the same for every policy."""

    first_content: Duration = 20.0
    idle: Duration = 20.0


class PolicySection(Section):
    """`policies.NAME`: a strategy of ours, with what a model group would say of it."""

    strategy: Tested
    routing_policy: RoutingPolicySection = RoutingPolicySection()
    affinity: AffinitySection = AffinitySection()
    cooldown: CooldownSection = CooldownSection()


class ExpectSection(Section):
    """`expect`: the most that is allowed to one policy; None: nothing is expected."""

    policy: str = "market"
    regret: OptionalRatio = None
    failures: OptionalRatio = None
    detect: Duration | None = None


class ScenarioFile(Section):
    """The whole file. Every key has a default: an empty file is an hour without any trouble."""

    description: str = ""
    workload: WorkloadSection = WorkloadSection()
    pool: Literal["default", "none"] = "default"
    targets: dict[ProviderName, TargetSection] = Field(default_factory=dict)
    timeline: list[ChangeSection] = Field(default_factory=list)
    timeouts: TimeoutsSection = TimeoutsSection()
    attempts: Attempts = 3
    policies: dict[ProviderName, PolicySection] = Field(default_factory=dict)
    compare: list[str] = Field(default_factory=list)
    expect: ExpectSection = ExpectSection()
