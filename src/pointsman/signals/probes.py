"""Who has not been asked for too long, and what asking such targets has cost in the last hour (pure)."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from pointsman.domain.decision import Spent
from pointsman.domain.view import ProbeView

_SLOT_S = 60.0
_SLOTS = 60  # an hour, forgotten minute by minute
_OPEN_TO_ALL_INTERVALS = 3.0  # one until a target is due, and two in which only requests without a session may ask it
_OVERDUE_S = 900.0  # by then a target is asked, whatever the budget says,
_OVERDUE_REQUESTS = 200  # once so many requests have gone elsewhere


class _Slot(Struct):
    """One minute."""

    number: int = -1
    requests: int = 0
    probes: int = 0
    best_usd: float = 0.0
    extra_usd: float = 0.0


class Probes:
    """Of one group. Requests are booked as they come, and join the hour when it is looked at."""

    def __init__(self) -> None:
        self._slots = [_Slot() for _ in range(_SLOTS)]
        self._booked = _Slot()  # since the last look
        self._requests = 0  # since the beginning
        self._asked: dict[str, tuple[float, int]] = {}  # by key: when last asked, and how many requests came before
        self.view = ProbeView()

    def book(self, spent: Spent) -> None:
        """A request has been decided; a member that it probes is not due any more."""
        self._requests += 1
        self._booked.requests += 1
        self._booked.best_usd += spent.best_usd
        if spent.probed is not None:
            self._booked.probes += 1
            self._booked.extra_usd += spent.extra_usd
            due = tuple([index for index in self.view.due if index != spent.probed])
            extra_usd = self.view.extra_usd + spent.extra_usd
            self.view = structs.replace(self.view, due=due, probes=self.view.probes + 1, extra_usd=extra_usd)

    def look(self, asked_at: Mapping[str, float], interval_s: float, now: float) -> None:
        """Work out anew who is due. `asked_at`: when each member had its last attempt, by key; -inf: never."""
        self._settle(now)
        self._asked = {key: self._last_asked(key, at, now) for key, at in asked_at.items()}
        silent = [(now - at, self._requests - count) for at, count in self._asked.values()]
        due = [index for index, (silent_s, _) in enumerate(silent) if silent_s >= interval_s]
        due.sort(key=lambda index: -silent[index][0])
        oldest = math.floor(now / _SLOT_S) - _SLOTS
        self.view = _summed([slot for slot in self._slots if slot.number > oldest], tuple(due), silent, interval_s)

    def _last_asked(self, key: str, asked_at: float, now: float) -> tuple[float, int]:
        """A member that is new is not due yet."""
        at, count = self._asked.get(key, (now, self._requests))
        return (asked_at, self._requests) if asked_at > at else (at, count)

    def _settle(self, now: float) -> None:
        """What was booked belongs to this minute."""
        number, booked = math.floor(now / _SLOT_S), self._booked
        slot = self._slots[number % _SLOTS]
        if slot.number != number:
            slot = self._slots[number % _SLOTS] = _Slot(number)
        slot.requests += booked.requests
        slot.probes += booked.probes
        slot.best_usd += booked.best_usd
        slot.extra_usd += booked.extra_usd
        self._booked = _Slot()


def _summed(
    slots: Sequence[_Slot], due: tuple[int, ...], silent: Sequence[tuple[float, int]], interval_s: float
) -> ProbeView:
    return ProbeView(
        due,
        frozenset(index for index in due if silent[index][0] >= _OPEN_TO_ALL_INTERVALS * interval_s),
        frozenset(index for index in due if silent[index][0] >= _OVERDUE_S and silent[index][1] >= _OVERDUE_REQUESTS),
        sum([slot.requests for slot in slots]),
        sum([slot.probes for slot in slots]),
        sum([slot.best_usd for slot in slots]),
        sum([slot.extra_usd for slot in slots]),
    )
