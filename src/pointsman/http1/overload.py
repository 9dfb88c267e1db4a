"""When requests are turned away: they wait too long for the loop, or memory runs out (pure)."""

from enum import IntEnum, StrEnum

from pointsman.domain.errors import ErrorKind, GatewayError

STANDING_S = 0.25  # a shorter queue is a burst, which is over before anything could be done about it
CALM_S = 5.0  # without a queue, until everything counts as over: else the log would tell of each swing
MIN_RATIO = 0.05  # somebody always gets through: nothing else shows that the overload is over
_SHRINK = 0.1  # per look, for a queue as long as the limit; a longer one shrinks the ratio faster,
_MAX_SHRINK = 0.3  # but not below half of it: the queue of the moment came with the ratio of before
_GROW = 0.01  # per look: a tenth in a second, or the next queue would be as long as the one before

COPIES = 3  # of a body at once: as it came, with another model name, and as it goes to the provider
_MARGIN = 0.03  # of the limit, below a step before it is left: the memory of one request must not switch it
_MEMORY_RETRY_S = 5.0  # most answers are complete by then, and their memory is free


class Cause(StrEnum):
    """Why a request was turned away."""

    QUEUE = "queue"
    MEMORY = "memory"


class MemoryStep(IntEnum):
    """What is given up while memory is short; each step includes the ones before."""

    PLENTY = 0
    NO_BODIES = 1  # that would still have to be read
    NO_REQUESTS = 2
    NO_CONNECTIONS = 3  # but for probes


STEPS = {MemoryStep.NO_BODIES: 0.85, MemoryStep.NO_REQUESTS: 0.92, MemoryStep.NO_CONNECTIONS: 0.95}  # of the limit


class QueueGate:
    """Which part of the requests is admitted, by how long requests wait for the loop.

    Steered in small steps, look by look: to refuse everybody until the queue is gone would waste what the loop can do.
    """

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s  # may change at any time
        self.ratio = 1.0
        self.is_shedding = False
        self._late_since: float | None = None
        self._late_at = 0.0
        self._credit = 0.0

    def observe(self, waited_s: float, now: float) -> None:
        """How long it took the loop to come round, ten times a second or as often as it did."""
        is_late = waited_s > self.limit_s
        if is_late:
            self._late_at = now
        if not self.is_shedding:
            if not is_late:
                self._late_since = None
            elif self._late_since is None:
                self._late_since = now
            self.is_shedding = self._late_since is not None and now - self._late_since >= STANDING_S
        if self.is_shedding:
            self._steer(waited_s, now)

    def admits(self) -> bool:
        """Whether the next request is one of those that are; evenly spread, without a draw."""
        self._credit += self.ratio
        if self._credit < 1.0:
            return False
        self._credit -= 1.0
        return True

    def _steer(self, waited_s: float, now: float) -> None:
        if waited_s > self.limit_s:
            shrink = min(_MAX_SHRINK, _SHRINK * waited_s / self.limit_s)
            self.ratio = max(MIN_RATIO, self.ratio * (1.0 - shrink))
        else:
            self.ratio = min(1.0, self.ratio + _GROW)
            self.is_shedding = self.ratio < 1.0 or now - self._late_at < CALM_S
            if not self.is_shedding:
                self._late_since, self._credit = None, 0.0


class MemoryGate:
    """Which step holds, by the memory in use."""

    def __init__(self, limit_bytes: int | None) -> None:
        self.limit_bytes = limit_bytes  # None: not known, and nothing is ever given up; may change at any time
        self.step = MemoryStep.PLENTY

    def observe(self, used_bytes: int) -> None:
        """Up at once, down with a margin."""
        limit = self.limit_bytes
        if limit is None:
            self.step = MemoryStep.PLENTY
            return
        reached = held = MemoryStep.PLENTY
        for step, share in STEPS.items():
            if used_bytes >= share * limit:
                reached = step
            if used_bytes >= (share - _MARGIN) * limit:
                held = step
        self.step = max(reached, min(held, self.step))

    def has_room(self, used_bytes: int, expected_bytes: int) -> bool:
        """Whether bodies of so many bytes in all can still be read."""
        limit = self.limit_bytes
        return limit is None or used_bytes + COPIES * expected_bytes < STEPS[MemoryStep.NO_BODIES] * limit


class Overload:
    """Both gates. A request looks at `is_shedding`, and asks no further while that is false."""

    def __init__(self, queue_s: float, memory_bytes: int | None) -> None:
        self.queue, self.memory = QueueGate(queue_s), MemoryGate(memory_bytes)
        self.is_shedding = False  # of complete requests
        self.shed = dict.fromkeys(Cause, 0)

    def observe(self, waited_s: float, used_bytes: int, now: float) -> None:
        """Once per look."""
        self.queue.observe(waited_s, now)
        self.memory.observe(used_bytes)
        self.is_shedding = self.queue.is_shedding or self.memory.step >= MemoryStep.NO_REQUESTS

    def admit(self) -> None:
        """One request, while `is_shedding`. Raises GatewayError (503) for those that are too many."""
        if self.memory.step >= MemoryStep.NO_REQUESTS:
            raise self._short_of_memory()
        if self.queue.is_shedding and not self.queue.admits():
            self.shed[Cause.QUEUE] += 1
            text = "The gateway has more requests than it can serve. Send this one again later."
            raise GatewayError(ErrorKind.OVERLOADED, text, retry_after_s=1.0 / self.queue.ratio)

    def admit_body(self, used_bytes: int, expected_bytes: int) -> None:
        """A body that is still to come, with all others that are. Raises GatewayError (503)."""
        if self.memory.step >= MemoryStep.NO_BODIES or not self.memory.has_room(used_bytes, expected_bytes):
            raise self._short_of_memory()

    def _short_of_memory(self) -> GatewayError:
        self.shed[Cause.MEMORY] += 1
        text = "The gateway is short of memory. Send this request again later."
        return GatewayError(ErrorKind.OVERLOADED, text, retry_after_s=_MEMORY_RETRY_S)
