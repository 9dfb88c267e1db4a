"""The last decision records, in memory: for a look at what has just happened, without a search through files.

Records come in the batches that one tick makes of them, and go the same way: a record of its own costs nothing here.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from pointsman.domain.value import Leaf, Value
from pointsman.observability.decision_log import DecisionRecord

MAX_BYTES = 32 << 20  # as JSON, and about as much in memory: what a gateway can spare, whatever the records look like
MAX_LOOKED_AT = 10_000  # records per page: some milliseconds, in which nobody else is served

Wanted = Callable[[DecisionRecord], bool]


class Batch(Leaf):
    """The records of one tick, oldest first."""

    first: int  # number of its first record since the start
    records: Sequence[DecisionRecord]
    size_bytes: int  # of its JSON


class Page(Value):
    """What was found, newest first, and where to go on looking; None: there is nothing older."""

    records: list[DecisionRecord]
    before: int | None


class RecentDecisions:
    """Bounded by number and by bytes, whichever is reached first; whole batches leave."""

    def __init__(self, max_rows: int, max_bytes: int = MAX_BYTES) -> None:
        self.max_rows, self._max_bytes = max_rows, max_bytes  # the first may change at any time
        self._batches: deque[Batch] = deque()
        self._next = 1  # number of the next record; numbers are never used again
        self._size_bytes = 0

    def __len__(self) -> int:
        return self._next - self._batches[0].first if self._batches else 0

    def keep(self, records: Sequence[DecisionRecord], size_bytes: int) -> None:
        """Add a batch, and forget what is too much."""
        kept = records[-self.max_rows :] if self.max_rows else ()
        self._next += len(records) - len(kept)
        if not kept:
            return
        self._batches.append(Batch(self._next, kept, size_bytes))
        self._next += len(kept)
        self._size_bytes += size_bytes
        while len(self) > self.max_rows or self._size_bytes > self._max_bytes:
            self._size_bytes -= self._batches.popleft().size_bytes

    def find(self, request_id: str) -> DecisionRecord | None:
        """The newest record of a request. Callers choose ids, so there may be older ones."""
        for batch in reversed(self._batches):
            for record in reversed(batch.records):
                if record.request_id == request_id:
                    return record
        return None

    def page(self, is_wanted: Wanted, *, limit: int, before: int | None = None) -> Page:
        """Up to `limit` records that are wanted, older than number `before`; looks at MAX_LOOKED_AT at most."""
        found: list[DecisionRecord] = []
        last = None
        for number, record in islice(self._newest(self._next if before is None else before), MAX_LOOKED_AT):
            last = number
            if is_wanted(record):
                found.append(record)
                if len(found) == limit:
                    break
        is_oldest = last is None or last == self._batches[0].first
        return Page(found, None if is_oldest else last)

    def _newest(self, before: int) -> Iterator[tuple[int, DecisionRecord]]:
        """All records with smaller numbers, newest first."""
        for batch in reversed(self._batches):
            for index in range(min(len(batch.records), before - batch.first) - 1, -1, -1):
                yield batch.first + index, batch.records[index]
