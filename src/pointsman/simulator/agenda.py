"""What happens next, in virtual time."""

import heapq
from collections.abc import Callable
from enum import IntEnum
from functools import partial


class Kind(IntEnum):
    """What goes first of events of one moment."""

    CHANGE = 0
    END = 1
    CONTENT = 2
    RESUME = 3
    ARRIVAL = 4


_Event = tuple[float, int, int, Callable[[], None]]


class Agenda:
    """One heap, ordered by time, kind and the order of booking."""

    def __init__(self) -> None:
        self.now = 0.0  # seconds since the beginning
        self._heap: list[_Event] = []
        self._booked = 0

    def book(self, at_s: float, kind: Kind, do: Callable[..., None], *args: object) -> None:
        """`do` is called then; never earlier than now."""
        self._booked += 1
        event: _Event = (max(at_s, self.now), kind, self._booked, partial(do, *args))
        heapq.heappush(self._heap, event)

    def run(self) -> None:
        """Until nothing is left to happen."""
        while self._heap:
            self.now, _, _, do = heapq.heappop(self._heap)
            do()
