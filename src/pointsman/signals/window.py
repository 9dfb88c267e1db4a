"""What a target did within the last minutes, counted; nothing older has a say (pure)."""

import math
from collections import deque
from collections.abc import Sequence

from pointsman.domain.outcome import TARGET_FAULTS, Outcome, OutcomeClass
from pointsman.domain.value import Leaf

_SLOTS = 60  # what is forgotten goes in sixtieths: by then a minute in ten counts a second more or less
_LEAST_S, _STEP, _BUCKETS = 0.01, 1.25, 54  # 10 ms to 1,200 s; within a bucket times are a quarter apart at most
_LOG_STEP = math.log(_STEP)
_HIGH = 0.95
_ATTEMPTS, _ERRORS, _TIMEOUTS, _RESCUED, _TOKENS, _SECONDS, _TIMES = range(7)
_TTFBS = _TIMES + _BUCKETS
_WIDTH = _TTFBS + _BUCKETS
_TIMEOUT = "timeout"  # in the detail of an outcome


class Seen(Leaf):
    """A window at one instant; None: nothing to tell it by."""

    observed: int = 0
    error_ratio: float | None = None
    timeout_ratio: float | None = None
    rescued_ratio: float | None = None
    p95_s: float | None = None
    ttfb_p95_s: float | None = None
    output_tps: float | None = None


NOTHING_SEEN = Seen()


class Window:
    """Counters and two histograms, as running sums over slots."""

    def __init__(self, length_s: float) -> None:
        self._slot_s = length_s / _SLOTS
        self._slots: deque[tuple[int, dict[int, float]]] = deque()  # the oldest first
        self._sums = [0.0] * _WIDTH
        self._seen = NOTHING_SEEN
        self._seen_from: int | None = None  # oldest slot that `_seen` counts; None: it is to be worked out anew

    def observe(self, outcome: Outcome, now: float) -> None:
        """An attempt has ended. What is about its request, its caller or a conflict says nothing of the target."""
        found = dict(_counted(outcome))
        if not found:
            return
        number = math.floor(now / self._slot_s)
        if not self._slots or self._slots[-1][0] < number:
            self._forget(number - _SLOTS)
            self._slots.append((number, {}))
        slot = self._slots[-1][1]
        for index, amount in found.items():
            slot[index] = slot.get(index, 0.0) + amount
            self._sums[index] += amount
        self._seen_from = None

    def at(self, now: float) -> Seen:
        """Changes nothing but what is kept of the answer."""
        oldest = math.floor(now / self._slot_s) - _SLOTS
        first = next((number for number, _ in self._slots if number > oldest), oldest + 1)
        if self._seen_from != first:
            self._seen, self._seen_from = self._worked_out(first), first
        return self._seen

    def _forget(self, upto: int) -> None:
        while self._slots and self._slots[0][0] <= upto:
            for index, amount in self._slots.popleft()[1].items():
                self._sums[index] -= amount
        if not self._slots:
            self._sums = [0.0] * _WIDTH  # what rounding has left

    def _worked_out(self, first: int) -> Seen:
        sums = self._sums
        gone = [slot for number, slot in self._slots if number < first]
        if gone:
            sums = list(sums)
            for slot in gone:
                for index, amount in slot.items():
                    sums[index] -= amount
        attempts = round(sums[_ATTEMPTS])
        if not attempts:
            return NOTHING_SEEN
        return Seen(
            attempts,
            max(sums[_ERRORS], 0.0) / attempts,
            max(sums[_TIMEOUTS], 0.0) / attempts,
            max(sums[_RESCUED], 0.0) / attempts,
            _quantile(sums[_TIMES:_TTFBS]),
            _quantile(sums[_TTFBS:]),
            sums[_TOKENS] / sums[_SECONDS] if sums[_TOKENS] > 0.5 and sums[_SECONDS] > 0.0 else None,
        )


def _counted(outcome: Outcome) -> list[tuple[int, float]]:
    """What an outcome adds, by place in the sums."""
    if outcome.outcome_class is OutcomeClass.OK:
        return [(_ATTEMPTS, 1.0), *_timed(outcome)]
    if outcome.outcome_class in TARGET_FAULTS:
        is_timeout = _TIMEOUT in outcome.detail
        found = [(_ATTEMPTS, 1.0), (_TIMEOUTS if is_timeout else _ERRORS, 1.0)]
    elif outcome.outcome_class is OutcomeClass.RATE_LIMITED:
        found = [(_ATTEMPTS, 1.0)]
    else:
        return []
    return found if outcome.committed else [*found, (_RESCUED, 1.0)]


def _timed(outcome: Outcome) -> list[tuple[int, float]]:
    found = []
    if _is_time(outcome.duration_s):
        found.append((_TIMES + _bucket(outcome.duration_s), 1.0))
        written = None if outcome.usage is None else outcome.usage.output_tokens
        if written is not None and written > 0:
            found += [(_TOKENS, float(written)), (_SECONDS, outcome.duration_s)]
    if outcome.ttfb_s is not None and _is_time(outcome.ttfb_s):
        found.append((_TTFBS + _bucket(outcome.ttfb_s), 1.0))
    return found


def _is_time(value: float) -> bool:
    """Whether it can be learned from: one NaN would poison a sum for ever."""
    return math.isfinite(value) and value > 0.0


def _bucket(time_s: float) -> int:
    if time_s <= _LEAST_S:
        return 0
    return min(int(math.log(time_s / _LEAST_S) / _LOG_STEP), _BUCKETS - 1)


def _quantile(counts: Sequence[float]) -> float | None:
    """The 95th percentile of a histogram, as far into its bucket as it lies."""
    total = sum(counts)
    if total < 0.5:
        return None
    left = _HIGH * total
    for index, count in enumerate(counts):
        if count > 0.5 and left <= count:
            return _LEAST_S * math.pow(_STEP, index + left / count)
        left -= max(count, 0.0)
    return _LEAST_S * math.pow(_STEP, _BUCKETS)
