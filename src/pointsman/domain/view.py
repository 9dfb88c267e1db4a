"""What the signals say about one target at one instant."""

from enum import StrEnum

from pointsman.domain.value import Leaf, Value

TYPICAL_INPUT_TOKENS = 1_000  # what latencies and scores are shown for
TYPICAL_OUTPUT_TOKENS = 200
RARE_RATIO = 0.002  # of bad ends, before any is known: nobody never fails


class Breaker(StrEnum):
    """closed: traffic flows; open: paused; half_open: one probe decides."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class PauseCause(StrEnum):
    """Why a target is paused."""

    FAULTS = "faults"
    OUTLIER = "outlier"  # far worse than its peers
    RATE_LIMIT = "rate_limit"
    CREDENTIAL = "credential"
    MISSING = "missing"


class Limit(StrEnum):
    """A limit that lets nothing more through."""

    MAX_CONCURRENT = "max_concurrent"
    MAX_RPS = "max_rps"
    MAX_TPM = "max_tpm"
    PROVIDER = "provider_limit"  # the provider has said that nothing is left


class Signal(StrEnum):
    """What a strategy may read of its targets besides their pauses: nothing else is collected for it."""

    IN_FLIGHT = "in_flight"
    TTFT = "ttft"
    TTFB = "ttfb"
    LOAD_SLOPE = "load_slope"
    FAILURES = "failures"
    RATE_LIMITS = "rate_limits"
    MONEY = "money"
    WINDOW = "window"
    QUALITY = "quality"


class Measured(Leaf, omit_defaults=True):
    """What was measured of one target, as far as the strategy reads it; None: not read, or not known."""

    in_flight: int
    overdue: int = 0  # attempts that should have had their first content by now
    samples: int = 0  # times that a latency was learned
    ttft_s: float | None = None  # first content of a stream, for a prompt of usual length
    unary_s: float | None = None  # a whole answer of usual length
    ttfb_s: float | None = None  # first byte: the latest peak, on its way back to what is typical
    failure_ratio: float | None = None  # share of attempts that fail
    rate_limited_ratio: float | None = None  # share of attempts that a rate limit refuses
    broken_ratio: float = RARE_RATIO  # share of answers to requests with tools that nobody can use
    decode_tps: float | None = None  # tokens per second after the first one
    fault_s: float | None = None  # time lost before a failure
    rejection_s: float | None = None  # time lost before a rate limit refuses
    lost_input_tokens: float = 0.0  # that a failed attempt is charged for
    lost_output_tokens: float = 0.0
    ttft_error: float = 0.0  # standard error of ln(ttft_s): how well it is known
    decode_error: float = 0.0  # of ln(decode_tps)
    failure_error: float = 0.0  # of failure_ratio
    rate_limited_error: float = 0.0  # of rate_limited_ratio
    price_factor: float = 1.0  # what it charges, times its list price
    observed: int = 0  # attempts within the window that scores are made of, as all below
    error_ratio: float | None = None  # of them: failed, but for timeouts
    timeout_ratio: float | None = None
    rescued_ratio: float | None = None  # failed or refused so early that another target could answer
    p95_s: float | None = None  # of whole answers
    ttfb_p95_s: float | None = None
    output_tps: float | None = None  # tokens per second of whole answers


class Learned(Leaf):
    """What a target has taught that holds for all its groups; None: nobody asks, or nothing was learned."""

    load_slope: float | None = None  # of ln(latency) over ln(1 + in flight)
    in_flight_limit: float | None = None
    price_factor: float | None = None  # what it charges, times its list price
    is_price_off: bool | None = None  # so far from 1 that the list is most likely wrong


class TargetView(Value):
    """Numbers `decide()` may use. Reading one changes nothing."""

    breaker: Breaker = Breaker.CLOSED
    pause_cause: PauseCause | None = None
    paused_until: float = 0.0  # monotonic seconds; meaningless while closed
    is_probing: bool = False  # half-open, and its only probe is on its way
    is_probe_overdue: bool = False  # half-open for so long that also a request whose session is elsewhere may probe
    is_readmitted: bool = False  # paused, but what is live cannot carry the load: its gate says how much it gets
    gate: float = 1.0  # probability that it is admitted to a decision: the product of all limits; 0 excludes
    limit: Limit | None = None  # the one that excludes it
    limited_until: float = 0.0  # monotonic seconds of the soonest moment at which it may not
    flagged: bool = False  # its benchmark or its answers are bad: exploration only, where a strategy explores by money

    @property
    def is_calm(self) -> bool:
        """Nothing keeps traffic from it."""
        return self.breaker is Breaker.CLOSED and self.gate == 1.0


class MarketView(Value, eq=False, weakref=True):
    """What a group's requests are like, as of its latest tick. Equal only to itself: what follows is kept beside it."""

    input_tokens: float = float(TYPICAL_INPUT_TOKENS)  # of a mean request
    output_tokens: float = float(TYPICAL_OUTPUT_TOKENS)
    median_input_tokens: float = float(TYPICAL_INPUT_TOKENS)


class ProbeView(Leaf):
    """Which members nobody has asked for too long, and what asking them has cost; sums are those of the last hour."""

    due: tuple[int, ...] = ()  # indexes of members, the longest unasked first
    open_to_all: frozenset[int] = frozenset()  # those of them that also a request whose session is elsewhere may ask
    overdue: frozenset[int] = frozenset()  # those of them that must be asked whatever it costs
    requests: int = 0
    probes: int = 0
    best_usd: float = 0.0  # adjusted prices of the best targets for those requests
    extra_usd: float = 0.0  # what probes cost beyond the best


class GroupView(Value):
    """One group at one instant; both tuples follow the order of the group's members."""

    is_calm: bool  # every target is
    targets: tuple[TargetView, ...]
    turn_credits: tuple[float, ...]  # smooth weighted round robin: what each member is owed
    measured: tuple[Measured, ...] = ()  # in the same order; empty: the strategy reads no signal
    served: int = 0  # requests the group has answered; counted for strategies that read signals
    market: MarketView | None = None  # None: the strategy does not read money
    probes: ProbeView = ProbeView()
    at: float = 0.0  # monotonic seconds; told to strategies that read signals


class LengthView(Leaf):
    """How long one request is expected to be, in tokens."""

    input_tokens: tuple[int, ...]  # by the group's members: each model has a tokenizer of its own
    output_tokens: int
    cached_tokens: tuple[int, ...] = ()  # part of the input, by members: read from a cache; empty: nobody asks
    price_factors: tuple[float, ...] = ()  # what each charges, times its list price; empty: that itself
