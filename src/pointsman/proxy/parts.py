"""The parts of the data plane that every request uses."""

from pointsman.domain.ports import Clock, Rng
from pointsman.domain.value import Value
from pointsman.http1.limits import UpstreamLimits
from pointsman.proxy.live import Live
from pointsman.proxy.policy_services import PolicyServices
from pointsman.proxy.recorder import Recorder
from pointsman.proxy.tool_judge import ToolJudge
from pointsman.signals.board import SignalBoard
from pointsman.signals.holders import Holders
from pointsman.upstream.client import Upstream


class Parts(Value, eq=False):
    """Built once by `app.py`."""

    live: Live
    board: SignalBoard
    upstream: Upstream
    recorder: Recorder
    rng: Rng
    clock: Clock
    limits: UpstreamLimits
    holders: Holders
    policies: PolicyServices
    tool_judge: ToolJudge
