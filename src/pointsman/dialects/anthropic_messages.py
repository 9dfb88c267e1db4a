"""Anthropic Messages: `POST /v1/messages`, unary and streamed."""

from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Raw, Struct
from msgspec.json import Decoder

from pointsman.dialects import anthropic_errors as errors
from pointsman.dialects import anthropic_wire as wire
from pointsman.dialects import needs, steering
from pointsman.dialects.codec import PLAIN_EVENT, AnswerFacts, EventFacts, ParsedRequest
from pointsman.dialects.fields import ONLY_TYPE, is_json, read_fields, says_beside, soft, strict
from pointsman.dialects.named_events import NamedEventDecoder
from pointsman.dialects.provider_error import NULL, UNREADABLE, error_of, is_given, read_error
from pointsman.dialects.sse import SseDecoder
from pointsman.dialects.top_level import splice
from pointsman.domain.capability import Capability
from pointsman.domain.errors import GatewayError
from pointsman.domain.outcome import ProviderError, Usage
from pointsman.domain.request import Dialect, RequestFacts

_EDITED = frozenset(("model", "stream"))  # what was authorised must be what is sent

_MEDIA = {Capability.IMAGES: needs.type_pattern(b"image"), Capability.FILES: needs.type_pattern(b"document")}
_FORCED_CHOICES = frozenset(("any", "tool"))

_CONTENT_EVENT = EventFacts(has_content=True)
_REASONING_EVENT = EventFacts(has_content=True, is_reasoning=True)
_TERMINATOR_EVENT = EventFacts(is_terminator=True)
_MALFORMED_EVENT = EventFacts(is_malformed=True)


class _Thinking(Struct, gc=False):
    type: str = "disabled"


class _OutputConfig(Struct, gc=False):
    format: Raw = NULL


# built once: making a decoder costs more than all its work for one request
_FLAG = Decoder(bool | None)
_INTEGER = Decoder(int)
_THINKING = Decoder(_Thinking)
_OUTPUT = Decoder(_OutputConfig)


class AnthropicMessages:
    """The codec; it has no state."""

    dialect = Dialect.ANTHROPIC_MESSAGES
    path = "/messages"
    passed_on: tuple[bytes, ...] = (b"anthropic-version", b"anthropic-beta", b"traceparent")
    limit_headers = b"anthropic-ratelimit-"
    natural_end = wire.NATURAL_END
    decoder: type[SseDecoder] = NamedEventDecoder

    def read_request(self, body: bytes) -> ParsedRequest:
        top, model = read_fields(body, _EDITED)
        values = top.values
        if not steering.FIELDS.isdisjoint(values):
            return steering.taken_out(top, self.read_request)
        tools = soft(values, "tools", needs.TOOLS) if "tools" in values else None
        thinking = soft(values, "thinking", _THINKING) if "thinking" in values else None
        facts = RequestFacts(
            Dialect.ANTHROPIC_MESSAGES, model,
            "stream" in values and strict(values, "stream", _FLAG) is True, len(body), len(tools) if tools else 0,
            _has_format(values),
            thinking is not None and thinking.type != "disabled",
            soft(values, "max_tokens", _INTEGER) if "max_tokens" in values else None,
        )  # fmt: skip
        return ParsedRequest(facts, body, top.span("model"), None, values)

    def needs(self, request: ParsedRequest) -> tuple[Capability, ...]:
        return needs.in_order(_needs(request))

    def write_request(self, request: ParsedRequest, model: str) -> bytes:
        start, end = request.model_span
        return splice(request.body, [(start, end, msgspec.json.encode(model))])

    def read_answer(self, body: bytes) -> AnswerFacts:
        try:
            message = wire.read_message(body)
        except UNREADABLE:
            return AnswerFacts(fault="malformed")
        usage = wire.usage(message.usage)
        if is_given(message.error):
            return AnswerFacts(usage, error_of(message.error))
        if message.content is None or (not message.content and message.stop_reason is None):
            return AnswerFacts(usage, fault="empty")
        return AnswerFacts(usage, fault="empty" if wire.says_nothing(message) else None)

    def read_error(self, status: int, body: bytes) -> ProviderError:
        return read_error(status, body)

    def read_event(self, data: bytes, *, before_visible: bool) -> EventFacts:
        try:
            event = wire.read_event(data)
        except msgspec.ValidationError:
            return PLAIN_EVENT if is_json(data) else _MALFORMED_EVENT  # other shapes are not ours to judge
        except UNREADABLE:
            return _MALFORMED_EVENT if data.strip() else PLAIN_EVENT  # an event without data says nothing
        if event.error is not NULL and is_given(event.error):
            return EventFacts(error=error_of(event.error))
        match event.type:
            case "content_block_delta":
                says = before_visible and says_beside(ONLY_TYPE, event.delta)
                return _content(event.delta) if says else PLAIN_EVENT
            case "content_block_start":
                says = before_visible and wire.block_says_something(event.content_block)
                return _content(event.content_block) if says else PLAIN_EVENT
            case "message_start":
                return _counted(wire.usage_of_start(event.message), None)
            case "message_delta":
                return _counted(wire.usage(event.usage), wire.stop_reason(event.delta))
            case "message_stop":
                return _TERMINATOR_EVENT
            case "error":
                return EventFacts(error=error_of(event.error))
            case _:
                return PLAIN_EVENT

    def usage_after(self, earlier: Usage, later: Usage) -> Usage:
        return wire.usage_after(earlier, later)

    def status_of(self, error: GatewayError) -> int:
        return errors.status_of(error)

    def write_error(self, error: GatewayError, request_id: str) -> bytes:
        return errors.written(error, request_id)

    def write_stream_error(self, error: GatewayError, begun: SseDecoder) -> bytes:
        return b"event: error\ndata: %b\n\n" % errors.written(error, None)

    def write_terminator(self) -> bytes:
        return b'event: message_stop\ndata: {"type":"message_stop"}\n\n'


def _needs(request: ParsedRequest) -> Iterator[Capability]:
    yield from needs.common(request, _MEDIA)
    if request.facts.tool_count:
        yield Capability.TOOLS
    if needs.type_of(request.fields, "tool_choice") in _FORCED_CHOICES:
        yield Capability.FORCED_TOOLS
    if request.facts.structured_output:
        yield Capability.STRUCTURED_OUTPUT


def _has_format(values: Mapping[str, Raw]) -> bool:
    """Whether the answer must have a given structure; `output_format` is how the first release of that was named."""
    if "output_format" in values:
        return is_given(values["output_format"])
    output = soft(values, "output_config", _OUTPUT) if "output_config" in values else None
    return output is not None and is_given(output.format)


def _content(part: Raw) -> EventFacts:
    return _REASONING_EVENT if wire.is_reasoning(part) else _CONTENT_EVENT


def _counted(usage: Usage | None, stop_reason: str | None) -> EventFacts:
    if usage is None and stop_reason is None:
        return PLAIN_EVENT
    return EventFacts(usage=usage, finish_reason=stop_reason)
