"""OpenAI Chat Completions: `POST /v1/chat/completions`, unary and streamed."""

from collections.abc import Iterator

import msgspec
from msgspec import Raw
from msgspec.json import Decoder

from pointsman.dialects import needs, steering
from pointsman.dialects import openai_wire as wire
from pointsman.dialects.codec import PLAIN_EVENT, AnswerFacts, EventFacts, ParsedRequest
from pointsman.dialects.fields import is_json, read_fields, soft, strict
from pointsman.dialects.openai_dialect import OpenAIDialect, written
from pointsman.dialects.provider_error import UNREADABLE
from pointsman.dialects.sse import SseDecoder
from pointsman.dialects.top_level import Edit, TopLevel, splice
from pointsman.domain.capability import Capability
from pointsman.domain.errors import GatewayError
from pointsman.domain.request import Dialect, RequestFacts

_EDITED = frozenset(("model", "stream", "stream_options"))  # what was authorised must be what is sent
_NO_REASONING = frozenset((None, "none", "minimal"))

_MEDIA = {
    Capability.IMAGES: needs.type_pattern(b"image_url"),
    Capability.AUDIO: needs.type_pattern(b"input_audio"),
    Capability.FILES: needs.type_pattern(b"file"),
}

_DONE = b"[DONE]"
_CONTENT_EVENT = EventFacts(has_content=True)
_REASONING_EVENT = EventFacts(has_content=True, is_reasoning=True)
_TERMINATOR_EVENT = EventFacts(is_terminator=True)
_MALFORMED_EVENT = EventFacts(is_malformed=True)

# built once: making a decoder costs more than all its work for one request
_FLAG = Decoder(bool | None)
_OPTIONS = Decoder(dict[str, Raw] | None)
_TEXT = Decoder(str)
_INTEGER = Decoder(int)


class OpenAIChat(OpenAIDialect):
    """The codec; it has no state."""

    dialect = Dialect.OPENAI_CHAT
    path = "/chat/completions"
    natural_end = wire.NATURAL_END
    decoder = SseDecoder

    def read_request(self, body: bytes) -> ParsedRequest:
        top, model = read_fields(body, _EDITED)
        values = top.values
        if not steering.FIELDS.isdisjoint(values):
            return steering.taken_out(top, self.read_request)
        stream = "stream" in values and strict(values, "stream", _FLAG) is True
        options = (strict(values, "stream_options", _OPTIONS) if "stream_options" in values else None) or {}
        wants_usage = "include_usage" in options and bytes(options["include_usage"]) == b"true"
        tools = soft(values, "tools", needs.TOOLS) if "tools" in values else None
        cap = soft(values, "max_completion_tokens", _INTEGER) if "max_completion_tokens" in values else None
        if not cap and "max_tokens" in values:
            cap = soft(values, "max_tokens", _INTEGER)
        facts = RequestFacts(
            self.dialect, model, stream, len(body), len(tools) if tools else 0,
            "response_format" in values and bytes(values["response_format"]) != b"null",
            "reasoning_effort" in values and soft(values, "reasoning_effort", _TEXT) not in _NO_REASONING,
            cap,
            wants_usage,
        )  # fmt: skip
        edit = _usage_edit(body, top, options) if stream and not wants_usage else None
        return ParsedRequest(facts, body, top.span("model"), edit, values)

    def needs(self, request: ParsedRequest) -> tuple[Capability, ...]:
        return needs.in_order(_needs(request))

    def write_request(self, request: ParsedRequest, model: str) -> bytes:
        start, end = request.model_span
        edit = start, end, msgspec.json.encode(model)
        return splice(request.body, [edit] if request.usage_edit is None else [edit, request.usage_edit])

    def read_answer(self, body: bytes) -> AnswerFacts:
        try:
            payload = wire.read_payload(body)
        except UNREADABLE:
            return AnswerFacts(fault="malformed")
        usage = wire.usage(payload.usage)
        error = wire.error_in(payload)
        if error is not None:
            return AnswerFacts(usage, error)
        if not payload.choices or (usage is not None and not usage.output_tokens and wire.says_nothing(payload)):
            return AnswerFacts(usage, fault="empty")
        return AnswerFacts(usage)

    def read_event(self, data: bytes, *, before_visible: bool) -> EventFacts:
        if data.strip() == _DONE:
            return _TERMINATOR_EVENT
        try:
            payload = wire.read_payload(data)
        except msgspec.ValidationError:
            return PLAIN_EVENT if is_json(data) else _MALFORMED_EVENT  # other shapes are not ours to judge
        except UNREADABLE:
            return _MALFORMED_EVENT if data.strip() else PLAIN_EVENT  # an event without data says nothing
        if not before_visible and wire.is_plain_delta(payload):
            return PLAIN_EVENT
        error = wire.error_in(payload)
        if error is not None:
            return EventFacts(error=error)
        usage = wire.usage(payload.usage)
        if not payload.choices:
            return EventFacts(usage=usage, is_usage_only=True) if usage else PLAIN_EVENT
        has_content = before_visible and any(map(wire.choice_says_something, payload.choices))
        is_reasoning = has_content and not any(map(wire.choice_is_visible, payload.choices))
        finish = payload.choices[0].finish_reason
        if usage is None and finish is None:
            if is_reasoning:
                return _REASONING_EVENT
            return _CONTENT_EVENT if has_content else PLAIN_EVENT
        return EventFacts(has_content=has_content, is_reasoning=is_reasoning, usage=usage, finish_reason=finish)

    def write_stream_error(self, error: GatewayError, begun: SseDecoder) -> bytes:
        return b"data: %b\n\ndata: [DONE]\n\n" % written(error)

    def write_terminator(self) -> bytes:
        return b"data: [DONE]\n\n"


def _needs(request: ParsedRequest) -> Iterator[Capability]:
    values = request.fields
    yield from needs.common(request, _MEDIA)
    yield from needs.of_tools(request)
    if needs.is_given(values, "functions"):
        yield Capability.TOOLS
    if request.facts.structured_output and needs.type_of(values, "response_format") != "text":
        yield Capability.STRUCTURED_OUTPUT


def _usage_edit(body: bytes, top: TopLevel, options: dict[str, Raw]) -> Edit:
    """Ask for the usage of a stream; other options stay as they are (E-08)."""
    if "stream_options" in top.values:
        start, end = top.span("stream_options")
        return start, end, msgspec.json.encode({**options, "include_usage": True})
    at = body.index(b"{") + 1
    return at, at, b'"stream_options":{"include_usage":true},'
