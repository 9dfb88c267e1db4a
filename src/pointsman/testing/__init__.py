"""A scripted fake provider, a fake clock and short constructors: for our tests, yours, and game days.

Speaks every dialect over real sockets and produces on demand every fault that providers produce by accident. May import
`domain` and the layers below `proxy`; needs `domain` only. `builders`, `chat`, `messages`, `responses`, `plain` and
`keys` are used by their module names.

    async with FakeProvider() as a:
        a.script(Status(500), Status(500), Chat("hi"))
        ...  # send requests to a.base_url
        assert a.log[0].header("authorization") == b"Bearer sk-test"
"""

from pointsman.http1.clock import SystemClock
from pointsman.testing.answers import (
    Answer,
    Chat,
    CloseEarly,
    Events,
    Hang,
    Json,
    Raw,
    Status,
    Truncated,
    stream_of,
)
from pointsman.testing.capacity import Capacity
from pointsman.testing.chat import ToolCall
from pointsman.testing.clock import FakeClock
from pointsman.testing.profile import SimulatedProfile
from pointsman.testing.provider import FakeProvider, refused_port
from pointsman.testing.received import Received

__all__ = [
    "Answer",
    "Capacity",
    "Chat",
    "CloseEarly",
    "Events",
    "FakeClock",
    "FakeProvider",
    "Hang",
    "Json",
    "Raw",
    "Received",
    "SimulatedProfile",
    "Status",
    "SystemClock",
    "ToolCall",
    "Truncated",
    "refused_port",
    "stream_of",
]
