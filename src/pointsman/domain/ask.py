"""One request as routing sees it."""

import math

from pointsman.domain.conversation import Prefix, Session
from pointsman.domain.holder import Holder
from pointsman.domain.opinion import Told
from pointsman.domain.preferences import Demands
from pointsman.domain.request import Caller, RequestFacts
from pointsman.domain.snapshot import Snapshot
from pointsman.domain.value import Leaf

_EPOCH_S = 300  # how long a session keeps what it drew
_OFFSET_DIGITS = 8  # of its key: so that not all of them draw again in the same moment


class Ask(Leaf):
    """Who asks for what, and the configuration the request began with and keeps."""

    request_id: str
    caller: Caller
    facts: RequestFacts
    snapshot: Snapshot
    bound_to: Holder | None = None  # keeps what the request builds on; None: it builds on nothing that is known
    prefix: Prefix | None = None  # None: not known, or the group's policy has no use for it
    demands: Demands | None = None  # None: there is nothing in it that could exclude a target of the group
    epoch: int = 0  # of its session: draws are the same within it, at every replica
    told: Told | None = None  # what the policy service of the group says; None: it has none, or was not asked

    @property
    def draw_key(self) -> str:
        """What draws are made of: equal for what shall go the same way."""
        session = self.facts.session
        if session is None or not session.is_worth_keeping:  # requests that merely begin alike are not one session
            return self.request_id
        return f"{session.key} {self.epoch}"


def epoch_at(utc_s: float, session: Session) -> int:
    """The epoch of a session at a date, in seconds since 1970. It begins at another moment for each of them."""
    return math.floor((utc_s + int(session.key[:_OFFSET_DIGITS], 16) % _EPOCH_S) / _EPOCH_S)
