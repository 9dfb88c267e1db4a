"""The bridges there are: two sides each, a new dialect is one side and one line (pure)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pointsman.dialects.bridges import (
    chat_answer,
    chat_request,
    messages_answer,
    messages_request,
    responses_answer,
    responses_request,
)
from pointsman.dialects.bridges.chat_events import ChatReader, ChatWriter
from pointsman.dialects.bridges.decoder import BridgeDecoder
from pointsman.dialects.bridges.events import EventReader, EventWriter
from pointsman.dialects.bridges.messages_events import MessagesReader, MessagesWriter
from pointsman.dialects.bridges.neutral import Answer, Lost, Request
from pointsman.dialects.bridges.reading import Fields
from pointsman.dialects.bridges.responses_events import ResponsesReader, ResponsesWriter
from pointsman.dialects.codec import Codec, ParsedRequest
from pointsman.dialects.registry import DIALECTS
from pointsman.dialects.text_size import text_size
from pointsman.domain.carried import CARRIED_AS, carried_as
from pointsman.domain.errors import GatewayError
from pointsman.domain.preferences import Uncarried
from pointsman.domain.request import Dialect
from pointsman.domain.target import Target
from pointsman.domain.value import Value

_CHARS_PER_TOKEN = 4  # usual tokenizers on usual text
PASSED_ON = (b"traceparent",)  # of the caller's headers: the others belong to its dialect


class Surroundings(Value):
    """What an answer needs that is in no answer of the other dialect."""

    created_s: int  # Unix time
    expected_input_tokens: int
    asked: Fields = MappingProxyType({})  # the fields of the request


class Side(Value, eq=False):
    """What a dialect reads and writes."""

    read_request: Callable[[Fields], Request]
    lost: Callable[[Request], Lost]
    write_request: Callable[[Request, str, bool, int | None], bytes]
    read_answer: Callable[[bytes], Answer]
    write_answer: Callable[[Answer, Surroundings], bytes]
    reader: Callable[[], EventReader]
    writer: Callable[[Surroundings], EventWriter]


_CHAT = Side(
    chat_request.read,
    chat_request.lost,
    lambda request, model, stream, _: chat_request.write(request, model, stream=stream),
    chat_answer.read,
    lambda answer, around: chat_answer.write(answer, around.created_s),
    ChatReader,
    lambda around: ChatWriter(around.created_s),
)
_MESSAGES = Side(
    messages_request.read,
    messages_request.lost,
    lambda request, model, stream, most: messages_request.write(request, model, stream=stream, max_tokens=most),
    messages_answer.read,
    lambda answer, _: messages_answer.write(answer),
    MessagesReader,
    lambda around: MessagesWriter(around.expected_input_tokens),
)
_RESPONSES = Side(
    responses_request.read,
    responses_request.lost,
    lambda request, model, stream, _: responses_request.write(request, model, stream=stream),
    responses_answer.read,
    lambda answer, around: responses_answer.write(answer, around.created_s, around.asked),
    ResponsesReader,
    lambda around: ResponsesWriter(around.created_s, around.asked),
)
SIDES: Mapping[Dialect, Side] = MappingProxyType({
    Dialect.OPENAI_CHAT: _CHAT, Dialect.ANTHROPIC_MESSAGES: _MESSAGES, Dialect.OPENAI_RESPONSES: _RESPONSES,
})  # fmt: skip


class Bridge(Value, eq=False):
    """From a caller's dialect to a target's."""

    codec: Codec  # of the target
    caller: Side
    upstream: Side

    def lost(self, parsed: ParsedRequest) -> Lost:
        """What of a request would not arrive."""
        return self.lost_of(neutral(parsed))

    def lost_of(self, request: Request) -> Lost:
        """The same of a request that was read."""
        more = self.upstream.lost(request)
        return Lost(request.lost.parameters + more.parameters, request.lost.content + more.content)

    def write_request(self, parsed: ParsedRequest, model: str, max_output_tokens: int | None) -> bytes:
        request = self.caller.read_request(parsed.fields)
        return self.upstream.write_request(request, model, parsed.facts.stream, max_output_tokens)

    def answer(self, body: bytes, around: Surroundings) -> bytes:
        """A whole answer in the caller's dialect. Raises one of UNREADABLE."""
        return self.caller.write_answer(self.upstream.read_answer(body), around)

    def decoder(self, limit_bytes: int, around: Surroundings, *, is_lenient: bool) -> BridgeDecoder:
        """Of one streamed answer."""
        return BridgeDecoder(limit_bytes, self.upstream.reader(), self.caller.writer(around), is_lenient=is_lenient)


BRIDGES: Mapping[tuple[Dialect, Dialect], Bridge] = MappingProxyType({
    (asked, spoken): Bridge(DIALECTS[spoken], SIDES[asked], SIDES[spoken])
    for asked, others in CARRIED_AS.items() for spoken in others
})  # fmt: skip


def neutral(parsed: ParsedRequest) -> Request:
    """A request of a shape that only its own dialect may know loses all of its conversation."""
    try:
        return SIDES[parsed.facts.dialect].read_request(parsed.fields)
    except GatewayError as error:
        return Request((), lost=Lost(content=(error.param or "messages",)))


def surroundings(parsed: ParsedRequest, utc_s: float) -> Surroundings:
    chars, _ = text_size(parsed.body)
    return Surroundings(int(utc_s), chars // _CHARS_PER_TOKEN, parsed.fields)


def bridge_to(target: Target, asked: Dialect) -> Bridge:
    """For a target that is eligible over one only."""
    into = carried_as(asked, target.dialects)
    if into is None:
        raise RuntimeError(f"{target.id} was sent a request that cannot be carried into what it speaks")
    return BRIDGES[asked, into]


def uncarried_of(parsed: ParsedRequest) -> tuple[Uncarried, ...]:
    """What of a request would be lost, by the dialects that it can be carried into, if any of it would."""
    asked = parsed.facts.dialect
    if asked not in CARRIED_AS:
        return ()
    request = neutral(parsed)
    losses = {into: BRIDGES[asked, into].lost_of(request) for into in CARRIED_AS[asked]}
    return tuple(
        Uncarried(into, lost.parameters, lost.content)
        for into, lost in losses.items()
        if lost.parameters or lost.content
    )
