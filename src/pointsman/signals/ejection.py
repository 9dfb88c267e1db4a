"""How many targets of a group may be paused at once, and what happens if the rest cannot carry the load (pure)."""

from collections.abc import Mapping, Sequence

from msgspec import structs

from pointsman.domain.policy import Ejection
from pointsman.domain.view import Breaker, PauseCause, TargetView
from pointsman.signals.target_state import TargetState
from pointsman.signals.throttle import MIN_GATE
from pointsman.signals.two_tracks import NOTHING

_RECENT_S = 60.0  # a success within it shows that a target can take over
_HEALS = frozenset((PauseCause.FAULTS, PauseCause.OUTLIER))  # what may be over before the pause is


class Budget:
    """Of one group: remembers how the traffic was shared before the first pause."""

    def __init__(self) -> None:
        self._carried: dict[str, float] = {}  # by state key: fraction of the traffic of the last minutes

    def is_needed(self, key: str, states: Mapping[str, TargetState | None], now: float, policy: Ejection) -> bool:
        """Whether the others could not carry what a pause of the target `key` would leave to them."""
        paused = [each for each, state in states.items() if state is not None and not state.is_closed]
        if not paused:
            self._carried = _shares(states, now)
            return not any(_can_take_over(state, now) for each, state in states.items() if each != key)
        return sum([self._carried.get(each, 0.0) for each in {*paused, key}]) > policy.max_share


def _shares(states: Mapping[str, TargetState | None], now: float) -> dict[str, float]:
    carried = {key: _served(state, now) for key, state in states.items()}
    total = sum(carried.values())
    return {key: count / total for key, count in carried.items()} if total else {}


def _served(state: TargetState | None, now: float) -> float:
    """Requests of the last minutes, the older ones counting less. Failures are quick, and many: they carry nothing."""
    if state is None or state.tracks is None:
        return 0.0
    sums = state.tracks.failures.at(now)
    return sums.slow_weight - sums.slow_sum


def _can_take_over(state: TargetState | None, now: float) -> bool:
    """Nobody has tried it yet, or it has just served."""
    if state is None or state.tracks is None or state.tracks.failures.at(now) is NOTHING:
        return True
    return state.is_closed and now - state.tracks.served_at <= _RECENT_S


def with_overflow(
    views: Sequence[TargetView], states: Sequence[TargetState | None], policy: Ejection
) -> tuple[TargetView, ...]:
    """When what is live cannot carry the load, paused targets get the rest, but for those that only fail.

    Spared ones do not count as live.
    """
    pairs = list(zip(views, states, strict=True))
    live = [seen.gate for seen, state in pairs if _is_live(seen, state)]
    missing = policy.overflow_below - max(live, default=0.0)
    if missing <= 0.0:
        return tuple(views)
    gate = max(missing, MIN_GATE)
    return tuple([
        structs.replace(seen, is_readmitted=True, gate=gate) if _may_take_over(seen, state) else seen
        for seen, state in pairs
    ])  # fmt: skip


def _is_live(seen: TargetView, state: TargetState | None) -> bool:
    return seen.breaker is Breaker.CLOSED and (state is None or not state.is_spared)


def _may_take_over(seen: TargetView, state: TargetState | None) -> bool:
    may_be_well = seen.breaker is Breaker.OPEN and seen.pause_cause in _HEALS and seen.limit is None
    return may_be_well and (state is None or not state.is_spent)
