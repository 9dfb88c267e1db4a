"""One request as routing sees it."""

from msgspec import Struct

from pointsman.domain.conversation import Prefix
from pointsman.domain.holder import Holder
from pointsman.domain.preferences import Demands
from pointsman.domain.request import Caller, RequestFacts
from pointsman.domain.snapshot import Snapshot


class Ask(Struct, frozen=True, gc=False):
    """Who asks for what, and the configuration the request began with and keeps."""

    request_id: str
    caller: Caller
    facts: RequestFacts
    snapshot: Snapshot
    bound_to: Holder | None = None  # keeps what the request builds on; None: it builds on nothing that is known
    prefix: Prefix | None = None  # None: not known, or the group's policy has no use for it
    demands: Demands | None = None  # None: there is nothing in it that could exclude a target of the group
