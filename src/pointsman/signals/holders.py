"""Which target keeps what later requests build on: bounded, and apart for each caller (pure)."""

from collections.abc import Iterable

from pointsman.domain.holder import Holder

MAX_KEPT = 50_000  # some 20 MB; what is used least recently makes room


class Holders:
    """Found by caller and key: nobody reaches what another one has stored."""

    def __init__(self, max_kept: int = MAX_KEPT) -> None:
        self._max_kept = max_kept
        self._holders: dict[tuple[str, str], Holder] = {}  # the least recently used first

    def __len__(self) -> int:
        return len(self._holders)

    def keep(self, caller: str, keys: Iterable[str], holder: Holder) -> None:
        """From now on that target keeps what has these keys."""
        for key in keys:
            self._holders.pop((caller, key), None)
            self._holders[caller, key] = holder
        while len(self._holders) > self._max_kept:
            del self._holders[next(iter(self._holders))]

    def find(self, caller: str, keys: Iterable[str]) -> Holder | None:
        """Who keeps the first of these that is known; None: nobody that is known of."""
        for key in keys:
            holder = self._holders.get((caller, key))
            if holder is not None:
                self.keep(caller, (key,), holder)  # used just now
                return holder
        return None

    def forget(self, caller: str, key: str) -> None:
        """It is kept no longer."""
        self._holders.pop((caller, key), None)
