"""OpenAI Responses: `POST /v1/responses`, unary and streamed."""

from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Raw
from msgspec.json import Decoder

from pointsman.dialects import needs, steering
from pointsman.dialects import responses_wire as wire
from pointsman.dialects.codec import PLAIN_EVENT, AnswerFacts, EventFacts, ParsedRequest
from pointsman.dialects.fields import ONLY_TYPE, is_json, read_fields, says_beside, says_something, soft, strict
from pointsman.dialects.kept_state import keys
from pointsman.dialects.numbered_events import NumberedDecoder
from pointsman.dialects.openai_dialect import OpenAIDialect
from pointsman.dialects.provider_error import NULL, UNREADABLE, error_of, is_given
from pointsman.dialects.sse import SseDecoder
from pointsman.domain.capability import Capability
from pointsman.domain.errors import GatewayError
from pointsman.domain.request import Dialect, RequestFacts

_EDITED = frozenset(("model", "stream"))  # what was authorised must be what is sent
_NO_REASONING = frozenset(("none", "minimal"))
_PLAIN_FORMATS = frozenset((None, "text"))

_BY_CONVERSATION = {
    Capability.IMAGES: needs.type_pattern(b"input_image"),
    Capability.AUDIO: needs.type_pattern(b"input_audio"),
    Capability.FILES: needs.type_pattern(b"input_file"),
    Capability.TOOLS: needs.type_pattern(b"additional_tools", b"tool_search_output"),  # offered by the conversation
}

_CONTENT_EVENT = EventFacts(has_content=True)
_REASONING_EVENT = EventFacts(has_content=True, is_reasoning=True)
_MALFORMED_EVENT = EventFacts(is_malformed=True)


# built once: making a decoder costs more than all its work for one request
_FLAG = Decoder(bool | None)
_INTEGER = Decoder(int)


class OpenAIResponses(OpenAIDialect):
    """The codec; it has no state."""

    dialect = Dialect.OPENAI_RESPONSES
    path = "/responses"
    natural_end = wire.NATURAL_END
    decoder: type[SseDecoder] = NumberedDecoder

    def read_request(self, body: bytes) -> ParsedRequest:
        top, model = read_fields(body, _EDITED)
        values = top.values
        if not steering.FIELDS.isdisjoint(values):
            return steering.taken_out(top, self.read_request)
        tools = soft(values, "tools", needs.TOOLS) if "tools" in values else None
        facts = RequestFacts(
            Dialect.OPENAI_RESPONSES, model,
            "stream" in values and strict(values, "stream", _FLAG) is True, len(body), len(tools) if tools else 0,
            _has_format(values),
            _reasons(values),
            soft(values, "max_output_tokens", _INTEGER) if "max_output_tokens" in values else None,
        )  # fmt: skip
        builds_on = keys(values.get("previous_response_id", NULL), values.get("conversation", NULL), body)
        return ParsedRequest(facts, body, top.span("model"), None, values, builds_on=builds_on)

    def needs(self, request: ParsedRequest) -> tuple[Capability, ...]:
        return needs.in_order(_needs(request))

    def read_answer(self, body: bytes) -> AnswerFacts:
        try:
            response = wire.read_response(body)
        except UNREADABLE:
            return AnswerFacts(fault="malformed")
        usage, error = wire.usage(response.usage), wire.error_in(response)
        if error is not None:
            return AnswerFacts(usage, error)
        if wire.is_empty(response):
            return AnswerFacts(usage, fault="empty")
        return AnswerFacts(usage, kept=wire.kept(response, body))

    def read_event(self, data: bytes, *, before_visible: bool) -> EventFacts:
        try:
            event = wire.read_event(data)
        except msgspec.ValidationError:
            return PLAIN_EVENT if is_json(data) else _MALFORMED_EVENT  # other shapes are not ours to judge
        except UNREADABLE:
            return _MALFORMED_EVENT if data.strip() else PLAIN_EVENT  # an event without data says nothing
        if is_given(event.error):
            return EventFacts(error=error_of(event.error))
        match event.type:
            case "response.completed" | "response.incomplete" | "response.failed":
                return _ended(event, data)
            case "response.created":
                kept = wire.kept_from_the_start(event, data)
                return EventFacts(kept=kept) if kept else PLAIN_EVENT
            case "error":
                return EventFacts(error=wire.error_of_event(data))
            case _:
                return _content(event) if before_visible and _says_something(event) else PLAIN_EVENT

    def write_stream_error(self, error: GatewayError, begun: SseDecoder) -> bytes:
        """The response as it began, and that it failed; with the number that the next event would have had."""
        first, number = begun.so_far()
        fault = {"code": error.code, "message": error.message}
        failed = {**wire.response_in(first), "status": wire.FAILED, "error": fault}
        event = {"type": "response.failed", "sequence_number": number, "response": failed}
        return b"event: response.failed\ndata: %b\n\n" % msgspec.json.encode(event)

    def write_terminator(self) -> bytes:
        return b""  # never asked for: the finish reason that would allow it comes within the terminator only


def _needs(request: ParsedRequest) -> Iterator[Capability]:
    yield from needs.common(request, _BY_CONVERSATION, "input")
    yield from needs.of_tools(request)
    if request.facts.structured_output:
        yield Capability.STRUCTURED_OUTPUT


def _has_format(values: Mapping[str, Raw]) -> bool:
    text = soft(values, "text", wire.TEXT) if "text" in values else None
    return text is not None and text.format is not None and text.format.type not in _PLAIN_FORMATS


def _reasons(values: Mapping[str, Raw]) -> bool:
    """Whether an effort, or a summary of what it came to, is asked for."""
    asked = soft(values, "reasoning", wire.REASONING) if "reasoning" in values else None
    if asked is None or asked.effort in _NO_REASONING:
        return False
    return asked.effort is not None or asked.summary is not None


def _says_something(event: wire.Event) -> bool:
    """Whether an event has content; events of a response's life have none, an item or a part may begin without."""
    return says_something(event.delta) or wire.item_says_something(event.item) or says_beside(ONLY_TYPE, event.part)


def _content(event: wire.Event) -> EventFacts:
    return _REASONING_EVENT if wire.is_reasoning(event) else _CONTENT_EVENT


def _ended(event: wire.Event, data: bytes) -> EventFacts:
    """A terminal event: with an error it is a failure, whatever it is called (D-07)."""
    try:
        response = wire.read_response(event.response)
    except UNREADABLE:
        response = wire.Response()
    response.status = event.type.removeprefix("response.")
    usage, error = wire.usage(response.usage), wire.error_in(response)
    if error is not None:
        return EventFacts(usage=usage, error=error)
    finish_reason, kept = wire.finish_reason(response), wire.kept(response, data)
    return EventFacts(usage=usage, finish_reason=finish_reason, is_terminator=True, kept=kept)
