"""What the windows of a group's targets say at one instant (pure)."""

from collections.abc import Sequence

from msgspec import structs

from pointsman.domain.view import Measured
from pointsman.signals.target_state import TargetState
from pointsman.signals.window import NOTHING_SEEN, Seen


def windowed(
    found: Sequence[Measured], states: Sequence[TargetState | None], length_s: float, now: float
) -> tuple[Measured, ...]:
    """The same, with what each target's window of that length says."""
    return tuple([
        structs.replace(measured, **structs.asdict(_seen(state, length_s, now)))
        for measured, state in zip(found, states, strict=True)
    ])  # fmt: skip


def _seen(state: TargetState | None, length_s: float, now: float) -> Seen:
    tracks = None if state is None else state.tracks
    window = None if tracks is None else tracks.windows.get(length_s)
    return NOTHING_SEEN if window is None else window.at(now)
