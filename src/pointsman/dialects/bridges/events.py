"""Events of a streamed answer in the words of no dialect (pure)."""

from typing import Protocol

from pointsman.dialects.bridges.neutral import Refusal, Text, Thinking
from pointsman.dialects.sse import SseEvent
from pointsman.domain.outcome import ProviderError, Usage
from pointsman.domain.value import Leaf


class Begun(Leaf):
    """The answer has an id, and nothing in it yet. `usage`: what the provider knows already."""

    id: str
    model: str
    usage: Usage | None = None


class CallBegun(Leaf):
    """A tool is called. `number`: the first call of the answer is 0."""

    number: int
    id: str
    name: str


class CallDelta(Leaf):
    """More of the arguments of a call."""

    number: int
    arguments: str


class Finished(Leaf):
    """Why the answer ends. More of the usage may follow, and nothing else."""

    finish: str | None


class Counted(Leaf):
    """The usage so far."""

    usage: Usage


class Failed(Leaf):
    """The provider says that it failed."""

    error: ProviderError


class Ended(Leaf):
    """The answer is complete."""


class Broken(Leaf):
    """An event that cannot be read."""


Written = Text | Thinking | Refusal | CallBegun | CallDelta | Begun | Failed  # at once; the others wait for the end
Event = Written | Finished | Counted | Ended | Broken


class EventReader(Protocol):
    """Reads the events of one answer."""

    def read(self, data: bytes) -> list[Event]: ...


class EventWriter(Protocol):
    """Writes the events of one answer, each as soon as its dialect allows."""

    def write(self, event: Written) -> list[SseEvent]: ...

    def end(self, finish: str | None, usage: Usage | None) -> list[SseEvent]:
        """All that is left to say. `finish` as in `neutral.Finish`, or a provider's own word; None: it gave none."""
        ...
