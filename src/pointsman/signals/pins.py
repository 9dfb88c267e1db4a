"""Which target each session of a group belongs to: bounded, and fair to callers (pure)."""

from msgspec import Struct

from pointsman.domain.conversation import Session


class _Pin(Struct, gc=False):
    state_key: str  # of the target: what it is, never its place in a list
    expires_at: float  # monotonic seconds


class _Shelf:
    """The pins of one caller, apart by kind, each kind in the order in which they expire."""

    __slots__ = ("auto", "explicit")

    def __init__(self) -> None:
        self.explicit: dict[str, _Pin] = {}
        self.auto: dict[str, _Pin] = {}

    def kind_of(self, session: Session) -> dict[str, _Pin]:
        return self.explicit if session.is_explicit else self.auto

    def __len__(self) -> int:
        return len(self.explicit) + len(self.auto)


class Pins:
    """Found by caller and session. What has expired is as good as gone, and is the first to make room."""

    def __init__(self) -> None:
        self._shelves: dict[str, _Shelf] = {}  # by caller
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def find(self, caller: str, session: Session, now: float) -> str | None:
        """The state key of the session's target; None: it has none. Changes nothing."""
        shelf = self._shelves.get(caller)
        pin = None if shelf is None else shelf.kind_of(session).get(session.key)
        return None if pin is None or pin.expires_at <= now else pin.state_key

    def put(self, caller: str, session: Session, state_key: str, *, expires_at: float, room: int) -> None:
        """The session belongs to that target from now on, whatever it was before (D-02). `room`: for so many pins."""
        pins = self._shelves.setdefault(caller, _Shelf()).kind_of(session)
        if pins.pop(session.key, None) is None:  # what is put again expires last: the order stays right
            self._count += 1
        pins[session.key] = _Pin(state_key, expires_at)
        while self._count > room:
            self._evict(session)

    def _evict(self, latest: Session) -> None:
        """Who has most loses one, so that nobody floods the others; one nobody named never drives out one that was."""
        if latest.is_explicit:
            caller, shelf = max(self._shelves.items(), key=lambda item: len(item[1]))
            pins = shelf.auto or shelf.explicit
        else:
            caller, shelf = max(self._shelves.items(), key=lambda item: len(item[1].auto))
            pins = shelf.auto
        del pins[next(iter(pins))]
        self._count -= 1
        if not len(shelf):
            del self._shelves[caller]
