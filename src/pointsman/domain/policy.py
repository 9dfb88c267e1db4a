"""How a group routes. Every default lives here, once, with its reason."""

import math
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from msgspec import structs

from pointsman.domain.capability import Capability
from pointsman.domain.opinion import Adviser
from pointsman.domain.request import Dialect
from pointsman.domain.score_policy import DynamicScore
from pointsman.domain.value import Value
from pointsman.domain.view import Signal

DEFAULT_MAX_ATTEMPTS = 4  # a fourth failure in a row is an outage, not bad luck


class OnAllUnavailable(StrEnum):
    """What to do when every eligible target is unavailable."""

    AUTO = "auto"  # wait if it is soon, else try the least bad, else refuse
    WAIT = "wait"
    TRY = "try"
    REFUSE = "refuse"


class On429(StrEnum):
    """What a rate limit does to its target."""

    ESCALATE = "escalate"  # a pause like any other, never shorter than Retry-After
    RETRY_AFTER_ONLY = "retry_after_only"  # a pause for as long as the provider says; without a word only gates


class PeerRule(Value):
    """A ratio of bad ends that is surely above both pauses a target."""

    floor: float  # however good the others are
    times_peers: float  # of the median of the others; counts from three others on


class Ejection(Value):
    """What keeps pauses from taking away more than the rest can carry."""

    max_share: float = 0.5  # of the traffic before the first pause: the other half can carry it
    overflow_below: float = 0.5  # widest gate of the live ones; below, paused ones get the rest


class Cooldown(Value):
    """What pauses a target, for how long, and how it comes back."""

    base_s: float = 30.0  # longer than a restart of a serving process; doubles up to the maximum (G-058)
    max_s: float = 300.0  # short enough that a recovered target is found again within a coffee
    jitter_ratio: float = 0.2  # upward only, so that replicas do not return in the same second
    fault_threshold: int = 3  # one transient error never pauses, three in a row do
    confirm_window_s: float = 60.0  # two callers within this time confirm a fault of ours
    shared_window_s: float = 600.0  # a target with two callers in this time is shared (I19)
    on_429: On429 = On429.ESCALATE
    closing_successes: int = 1  # of probes in a row
    slow_start_s: float = 20.0  # a flood would knock over what has just recovered; never longer than the pause was
    failures: PeerRule | None = None  # None: only faults in a row pause
    rate_limits: PeerRule | None = None
    ejection: Ejection | None = None  # None: any number may be paused


STRICT = Cooldown()  # a target that misbehaves is left out: whoever names an order or shares wants no experiments
MARKET = Cooldown(
    base_s=10.0,  # price keeps traffic off before a pause does, so pauses may be short
    fault_threshold=5,
    on_429=On429.RETRY_AFTER_ONLY,  # a fixed pause would throw away most of a target whose limit is a little short
    closing_successes=3,
    failures=PeerRule(0.25, 5.0),
    rate_limits=PeerRule(0.5, 5.0),
    ejection=Ejection(),
)


class Retry(Value):
    """How often one request may be sent, and what all requests of a group may spend on it."""

    max_attempts: int | None = None  # None: min(eligible targets + 1, DEFAULT_MAX_ATTEMPTS)
    budget_base: float = 30.0  # covers thin traffic
    budget_ratio: float = 0.2  # Finagle's and linkerd's retry budget: 20 % of requests
    budget_window_s: float = 10.0
    backoff_base_s: float = 0.5  # first wait before the same target is asked again
    backoff_max_s: float = 8.0  # as the vendor SDKs cap theirs
    max_wait_s: float = 10.0  # longest wait for a paused target while `on_all_unavailable` is auto


class Timeouts(Value, cache_hash=True):
    """Limits of one attempt, and of the whole request (`total_s`, `total_stream_s`)."""

    connect_s: float = 3.0  # TCP and TLS; three SYNs
    first_content_s: float = 60.0  # streams: until the first content
    first_content_reasoning_s: float = 300.0  # streams that reason first, and the silence before a unary answer
    idle_s: float = 60.0  # between two reads after the first
    idle_reasoning_s: float = 180.0
    total_s: float = 600.0  # unary
    total_stream_s: float = 3600.0  # streams: idle is the guard, not the total (F-06)


class Blend(Value):
    """How the strategy `blend` weighs its scores; only their ratio matters (R-012)."""

    enabled: bool = True  # false is the kill switch: traffic is shared by weight
    latency_weight: float = 1.0  # what people notice first
    cost_weight: float = 0.5  # a tenfold price outweighs a little speed
    load_weight: float = 0.25  # enough to spread a burst, too little to outweigh twice the speed
    exploration_ratio: float = 0.05  # one request in twenty keeps the scores of the others fresh
    min_samples: int = 50  # requests before the scores are trusted: noise of single ones has evened out


class Objective(StrEnum):
    """What makes a target of the strategy `p2c` likely to be drawn, besides its health."""

    LATENCY = "latency"
    COST = "cost"
    BALANCED = "balanced"


class P2c(Value):
    """How the strategy `p2c` draws its two candidates."""

    enabled: bool = True  # false is the kill switch: traffic is shared by weight
    objective: Objective = Objective.BALANCED  # neither speed at any price nor the lowest price at any speed
    min_weight_fraction: float = 0.05  # of the heaviest: a slow target stays measured, so that it can come back
    warm_cache_weight: float = 8.0  # times as likely: cached input is some times cheaper, and comes sooner
    warm_cache_ttl_s: float = 600.0  # since it last answered the session: providers forget after 5 to 10 minutes


class Detail(StrEnum):
    """What is worked out of a request only for policies that have a use for it."""

    TEXT_SIZE = "text_size"
    SESSION = "session"
    PREFIX = "prefix"
    PROMPT = "prompt"  # what it is about


class AffinityMode(StrEnum):
    """What keeps a session where it is."""

    STRICT = "strict"  # its target, until that is paused
    PREFIX = "prefix"  # the first target that was picked, for a fixed time
    ECONOMIC = "economic"  # its target, unless another one is so much cheaper that the warm cache does not pay
    OFF = "off"


class PinRecord(StrEnum):
    """Which target a session is pinned to."""

    SERVED = "served"  # the one that answered
    SELECTED = "selected"  # the one that was picked first, whether it answers or not


class Affinity(Value):
    """How sessions stay on targets."""

    mode: AffinityMode = AffinityMode.OFF
    ttl_s: float = 600.0  # longer than people read, and as long as providers keep what nobody reads
    max_entries: int = 10_000  # of 300 bytes each
    record: PinRecord = PinRecord.SERVED  # who has answered has a warm cache

    @property
    def slides(self) -> bool:
        """Whether every answer makes a pin last longer (strict); else its time counts from the pick (D-053)."""
        return self.mode is not AffinityMode.PREFIX


class Contract(Value):
    """What every target of a group must have, whatever a request asks for. What is not known does not meet it."""

    require: frozenset[Capability] = frozenset()
    require_tags: frozenset[str] = frozenset()
    min_quality_score: float | None = None
    min_pass_rate: float | None = None


class Scan(Value):
    """What has to be known of a request before a target can be chosen: found from targets and policy at load time."""

    window_tokens: float = math.inf  # the smallest context window that is known
    sizes_text: bool = False  # how much text there is: somebody compares prices
    wants_details: bool = False  # the group itself has a use for more, see `RoutingPolicy.details`
    finds_needs: bool = False  # what the request needs: somebody is known to lack something, or must prove it
    bridged: frozenset[Dialect] = frozenset()  # dialects of requests that some target takes in another one only
    plain_up_to_tokens: float = math.inf  # bytes of body and tokens of output: up to here none of it; -1: always

    def settled(self) -> "Scan":
        """With the last field as it follows from the others."""
        looks_always = self.sizes_text or self.wants_details or self.finds_needs
        return structs.replace(self, plain_up_to_tokens=-1.0 if looks_always else self.window_tokens)

    def with_more(self, other: "Scan") -> "Scan":
        """For a request of this group that may turn to another one."""
        return Scan(
            min(self.window_tokens, other.window_tokens),
            sizes_text=self.sizes_text or other.sizes_text,
            wants_details=self.wants_details,
            finds_needs=self.finds_needs or other.finds_needs,
            bridged=self.bridged | other.bridged,
        ).settled()


class Fallbacks(Value):
    """Names of groups that a request may turn to, in this order."""

    any_failure: tuple[str, ...] = ()
    context: tuple[str, ...] = ()  # the request is too long for the group
    policy: tuple[str, ...] = ()  # a provider refused its content


class Preset(StrEnum):
    """What a second of waiting is worth, by use."""

    BATCH = "batch"
    ECONOMY = "economy"
    BALANCED = "balanced"
    INTERACTIVE = "interactive"
    REALTIME = "realtime"


class SecondsWorth(Value):
    """The price of one second, as a multiple of what a usual request of the group costs."""

    ttft: float  # of waiting for the first token
    decode: float  # of waiting from there to the last one


SECONDS_WORTH: Mapping[Preset, SecondsWorth] = MappingProxyType(
    {
        Preset.BATCH: SecondsWorth(0.02, 0.002),  # nobody waits
        Preset.ECONOMY: SecondsWorth(0.1, 0.01),  # cost comes first
        Preset.BALANCED: SecondsWorth(0.5, 0.05),  # half again as expensive, if it is a second sooner
        Preset.INTERACTIVE: SecondsWorth(1.5, 0.1),  # chat and agents
        Preset.REALTIME: SecondsWorth(4.0, 0.2),  # voice
    }
)
DECODE_WORTH_RATIO = 0.1  # of a second before the first token, where only that is given: people read along


class Market(Value):
    """How the strategy `market` turns time into money, and how far it trusts small differences."""

    enabled: bool = True  # false is the kill switch: traffic is shared by weight
    preset: Preset = Preset.BALANCED
    seconds_worth: float | None = None  # in place of the preset's
    usd_per_second: float | None = None  # the same as an amount; comes before both
    eps: float = 0.02  # behind the best by this ratio: half of its share; of .02 to .10 the best in docs/comparison.md
    probe_interval_s: float = 60.0  # a target without a request for so long gets one, so that its recovery is seen
    probe_spend_ratio: float = 0.01  # of an hour's adjusted price: the most that such requests may cost beyond the best


class External(Value):
    """How the strategy `external` asks its policy service."""

    authority: str = ""  # host and port, for people
    timeout_s: float = 0.05  # every request waits for it: so little goes unnoticed
    fails_closed: bool = False  # without an answer weights decide: a service that is down must not take all else down
    includes_request: bool = False  # prompts go to providers, and to nobody who does not need them


class RoutingPolicy(Value):
    """Everything about a group that is not a target."""

    strategy: str
    strategy_reason: str  # why this one, for `check` and the trace
    selector: str | None = None  # the strategy that decides in its place; None: it does so itself
    compares_prices: bool = False  # the strategy does: lengths of requests are learned and estimated for it
    reads: frozenset[Signal] = frozenset()  # what the strategy compares targets by
    details: frozenset[Detail] = frozenset()  # what it wants to know of a request
    affinity: Affinity = Affinity()
    blend: Blend = Blend()
    p2c: P2c = P2c()
    market: Market = Market()
    dynamic_score: DynamicScore = DynamicScore()
    plugin: Adviser | None = None  # None: the strategy is not `plugin`
    external: External | None = None  # None: the strategy is not `external`
    requires: frozenset[Capability] = frozenset()  # where a request needs it, a target must be known to have it
    requires_window: bool = False  # a context window that is not known excludes
    contract: Contract = Contract()
    scan: Scan = Scan()
    drops_parameters: bool = False  # an answer to another request than the caller's is nothing to be given unasked
    fallbacks: Fallbacks = Fallbacks()
    on_all_unavailable: OnAllUnavailable = OnAllUnavailable.AUTO
    cooldown: Cooldown = Cooldown()
    retry: Retry = Retry()

    @property
    def decides(self) -> str:
        """The name of the strategy that really decides."""
        return self.selector or self.strategy

    @property
    def session_ttl_s(self) -> float:
        """How long the target of a session is remembered; without affinity for its warm cache alone."""
        return self.p2c.warm_cache_ttl_s if self.affinity.mode is AffinityMode.OFF else self.affinity.ttl_s
