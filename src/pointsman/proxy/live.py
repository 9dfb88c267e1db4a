"""What a running data plane may change under its feet: the snapshot, swapped as a whole, and readiness."""

from pointsman.domain.snapshot import Snapshot


class Live:
    """Read once at the start of a request; the request keeps what it read (I16)."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.is_draining = False

    @property
    def is_ready(self) -> bool:
        return not self.is_draining and bool(self.snapshot.groups)
