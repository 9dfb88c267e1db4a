"""How an attempt ended."""

from enum import StrEnum

from pointsman.domain.value import Leaf, Value


class OutcomeClass(StrEnum):
    """The closed set of ends; `routing/retry.py` and `signals/pauses.py` say what each one means."""

    OK = "ok"
    BROKEN_STREAM = "broken_stream"
    BAD_PAYLOAD = "bad_payload"
    CALLER_FAULT = "caller_fault"
    CONFLICT = "conflict"
    CREDENTIAL_FAULT = "credential_fault"
    BLOCKED = "blocked"
    MISSING = "missing"
    RATE_LIMITED = "rate_limited"
    UPSTREAM_FAULT = "upstream_fault"
    CALLER_GONE = "caller_gone"


# failures that are the fault of a target: the others are about the request, its caller, or a limit
TARGET_FAULTS = frozenset(
    (
        OutcomeClass.BROKEN_STREAM,
        OutcomeClass.BAD_PAYLOAD,
        OutcomeClass.CREDENTIAL_FAULT,
        OutcomeClass.MISSING,
        OutcomeClass.UPSTREAM_FAULT,
    )
)


class Usage(Leaf):
    """Tokens as the provider counted them, the same in every dialect; None means it did not say."""

    input_tokens: int | None = None  # all of the request, whatever a cache did with them
    output_tokens: int | None = None  # all of the answer, reasoning included
    cached_tokens: int | None = None  # part of the input: read from a cache
    reasoning_tokens: int | None = None  # part of the output
    cache_write_tokens: int | None = None  # part of the input: written to a cache
    cache_write_1h_tokens: int | None = None  # part of those: to be kept for an hour, at a price of its own
    charged_usd: float | None = None  # for all of it, where the provider says so


class ProviderError(Value):
    """What a provider said went wrong. The message is for the caller only: records never carry it."""

    message: str
    type: str | None = None
    code: str | None = None
    param: str | None = None


class LimitedUnit(StrEnum):
    """What providers count."""

    REQUESTS = "requests"
    TOKENS = "tokens"


class ToldLimit(Leaf):
    """What a provider says is left of a limit."""

    unit: LimitedUnit
    remaining: float
    reset_s: float  # until all of it is there again


class Outcome(Leaf):
    """One attempt, seen from its end. Times are seconds since the attempt began; None: never happened."""

    outcome_class: OutcomeClass
    detail: str = ""  # closed set of reasons within the class, e.g. "connect_refused"
    status: int | None = None
    error: ProviderError | None = None
    confirmed: bool = False  # the provider's own code proves whose fault it is
    retry_after_s: float | None = None
    committed: bool = False  # content had reached the caller
    ttfb_s: float | None = None
    ttft_s: float | None = None
    duration_s: float = 0.0
    usage: Usage | None = None
    told_limits: tuple[ToldLimit, ...] = ()  # those of which little is left
    visible_s: float | None = None  # of a stream: the first text or tool; `ttft_s` may have been reasoning
