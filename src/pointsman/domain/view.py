"""What the signals say about one target at one instant."""

from enum import StrEnum

from msgspec import Struct


class Breaker(StrEnum):
    """closed: traffic flows; open: paused; half_open: one probe decides."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class PauseCause(StrEnum):
    """Why a target is paused."""

    FAULTS = "faults"
    RATE_LIMIT = "rate_limit"
    CREDENTIAL = "credential"
    MISSING = "missing"


class TargetView(Struct, frozen=True):
    """Numbers `decide()` may use. Reading one changes nothing."""

    breaker: Breaker = Breaker.CLOSED
    pause_cause: PauseCause | None = None
    paused_until: float = 0.0  # monotonic seconds; meaningless while closed
    is_probing: bool = False  # half-open, and its only probe is on its way


class GroupView(Struct, frozen=True):
    """One group at one instant; both tuples follow the order of the group's members."""

    is_calm: bool  # every breaker is closed
    targets: tuple[TargetView, ...]
    turn_credits: tuple[float, ...]  # smooth weighted round robin: what each member is owed


class LengthView(Struct, frozen=True, gc=False):
    """How long one request is expected to be, in tokens."""

    input_tokens: tuple[int, ...]  # by the group's members: each model has a tokenizer of its own
    output_tokens: int
