"""What a running data plane may change under its feet: the snapshot, swapped as a whole, a limit, and readiness."""

from pointsman.config.settings import DEFAULT_BODY_LIMIT_BYTES
from pointsman.domain.snapshot import Snapshot


class Live:
    """Read once at the start of a request; the request keeps what it read (I16)."""

    def __init__(self, snapshot: Snapshot, body_limit_bytes: int = DEFAULT_BODY_LIMIT_BYTES) -> None:
        self.snapshot = snapshot
        self.body_limit_bytes = body_limit_bytes  # of one that is not compressed any more
        self.is_draining = False

    @property
    def is_ready(self) -> bool:
        return not self.is_draining and bool(self.snapshot.groups)
