"""What the proxy asks of a dialect: one object per wire format."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from msgspec import Raw

from pointsman.dialects.sse import SseDecoder
from pointsman.domain.capability import Capability
from pointsman.domain.errors import GatewayError
from pointsman.domain.outcome import ProviderError, Usage
from pointsman.domain.preferences import Preferences
from pointsman.domain.request import Dialect, RequestFacts
from pointsman.domain.value import Leaf

_NO_FIELDS: Mapping[str, Raw] = MappingProxyType({})


class ParsedRequest(Leaf):
    """A request body that was read, and where its bytes may be edited."""

    facts: RequestFacts
    body: bytes
    model_span: tuple[int, int]  # of the JSON string that names the model
    usage_edit: tuple[int, int, bytes] | None = None  # start, end, replacement: asks for the usage of a stream
    fields: Mapping[str, Raw] = _NO_FIELDS  # top-level, unread
    preferences: Preferences | None = None  # None: it came with none; they are no longer in the body
    builds_on: tuple[str, ...] = ()  # keys of what some provider keeps, the most telling first


class EventFacts(Leaf):
    """One event of a streamed answer, read as far as the relay needs it. All defaults: relay it as it is."""

    has_content: bool = False  # text, tool or reasoning, the first of which commits; looked for as long as asked
    is_reasoning: bool = False  # content, and nothing of it is text or a tool
    finish_reason: str | None = None
    usage: Usage | None = None
    is_usage_only: bool = False
    error: ProviderError | None = None
    is_terminator: bool = False
    is_malformed: bool = False
    kept: tuple[str, ...] = ()  # by the provider: keys of what later requests may build on


PLAIN_EVENT = EventFacts()  # compared by identity on the hot path


class AnswerFacts(Leaf):
    """A unary answer, read as far as routing needs it. All None: a proper answer without usage."""

    usage: Usage | None = None
    error: ProviderError | None = None  # an error inside a success (B-15)
    fault: str | None = None  # "malformed" or "empty" (B-11, B-16)
    kept: tuple[str, ...] = ()  # as of an event


class Codec(Protocol):
    """Reads requests and answers, writes errors. Never touches a byte that it was not asked to edit."""

    dialect: Dialect
    path: str  # below a base URL, ours and the provider's
    passed_on: tuple[bytes, ...]  # of the caller's headers only these go on to the provider
    limit_headers: bytes  # how the names of a provider's headers begin that tell its limits
    natural_end: str  # the finish reason of an answer that has simply ended
    decoder: type[SseDecoder]

    def read_request(self, body: bytes) -> ParsedRequest:
        """Raises GatewayError (400) naming the field."""
        ...

    def needs(self, request: ParsedRequest) -> tuple[Capability, ...]:
        """What a target must be able to do for it."""
        ...

    def write_request(self, request: ParsedRequest, model: str) -> bytes:
        """The caller's bytes with the named edits only."""
        ...

    def read_answer(self, body: bytes) -> AnswerFacts: ...

    def read_error(self, status: int, body: bytes) -> ProviderError:
        """What a provider said with an error status, whatever shape it came in."""
        ...

    def read_event(self, data: bytes, *, before_visible: bool) -> EventFacts:
        """`before_visible`: neither text nor a tool has come yet, so content is looked for."""
        ...

    def usage_after(self, earlier: Usage, later: Usage) -> Usage:
        """What holds after a stream has reported its usage again."""
        ...

    def status_of(self, error: GatewayError) -> int: ...

    def write_error(self, error: GatewayError, request_id: str) -> bytes: ...

    def write_stream_error(self, error: GatewayError, begun: SseDecoder) -> bytes:
        """The events that end a broken stream honestly. `begun`: the decoder that has read it so far."""
        ...

    def write_terminator(self) -> bytes: ...
