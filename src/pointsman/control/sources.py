"""What the admin API reads, all of it live."""

from collections.abc import Callable, Mapping

from pointsman.config.settings import Settings
from pointsman.domain.ports import Clock
from pointsman.domain.snapshot import Snapshot
from pointsman.domain.value import Value
from pointsman.observability.recent import RecentDecisions
from pointsman.signals.board import SignalBoard


class Sources(Value, eq=False):
    """Built once by `app.py`. Nothing here is written to."""

    exposition: Callable[[], bytes]  # all metrics
    attempts: Callable[[], Mapping[str, Mapping[str, int]]]  # that have ended, by target and outcome class
    scored_decisions: Callable[[str], Mapping[str, int]]  # of a group, by mode; those whose target has answered
    node_id: str
    status: Callable[[], Mapping[str, object]]
    is_ready: Callable[[], bool]
    snapshot: Callable[[], Snapshot]
    settings: Callable[[], Settings]
    recent: Callable[[], RecentDecisions]  # up to the request that has just ended
    board: SignalBoard
    clock: Clock
