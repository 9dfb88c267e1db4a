"""Builders of Anthropic Messages payloads, shaped like those of real providers. Pure."""

from collections.abc import Mapping, Sequence

import msgspec

from pointsman.domain.outcome import Usage
from pointsman.testing.chat import BYTES_PER_TOKEN, NOTHING_SPECIAL, Asked, Payload, ToolCall, words

DEFAULT_REQUEST_ID = "req_fake"
SIGNATURE = "c2lnbmF0dXJl"  # of thinking: opaque, and to be sent back as it came

ERROR_TYPES: dict[int, str] = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def message(
    content: Sequence[Payload], *, to: Asked, stop_reason: str | None = "end_turn", usage: Payload | None = None
) -> Payload:
    """A whole answer; without `usage` the field is missing."""
    payload: Payload = {"id": to.id, "type": "message", "role": "assistant", "model": to.model}
    payload |= {"content": list(content), "stop_reason": stop_reason, "stop_sequence": None}
    return payload if usage is None else payload | {"usage": usage}


def text_block(text: str) -> Payload:
    """Said text."""
    return {"type": "text", "text": text}


def thinking_block(text: str, signature: str = SIGNATURE) -> Payload:
    """What the model thinks."""
    return {"type": "thinking", "thinking": text, "signature": signature}


def tool_use_block(call: ToolCall) -> Payload:
    """A tool call; arguments that are no JSON are shown as text."""
    try:
        arguments = msgspec.json.decode(call.arguments)
    except msgspec.DecodeError:
        arguments = call.arguments
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def message_start(*, to: Asked = NOTHING_SPECIAL, usage: Payload | None = None) -> Payload:
    """The first event of a stream: no content yet."""
    return {"type": "message_start", "message": message((), to=to, stop_reason=None, usage=usage)}


def ping() -> Payload:
    """A sign of life."""
    return {"type": "ping"}


def block_start(block: Payload, index: int = 0) -> Payload:
    """A block begins, empty."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def block_delta(delta: Payload, index: int = 0) -> Payload:
    """More of a block."""
    return {"type": "content_block_delta", "index": index, "delta": delta}


def block_stop(index: int = 0) -> Payload:
    """A block is complete."""
    return {"type": "content_block_stop", "index": index}


def text_delta(text: str, index: int = 0) -> Payload:
    """A piece of the answer's text."""
    return block_delta({"type": "text_delta", "text": text}, index)


def text_events(text: str, index: int) -> list[Payload]:
    """A block of text, word by word."""
    return [block_start(text_block(""), index), *(text_delta(word, index) for word in words(text)), block_stop(index)]


def thinking_events(text: str, index: int) -> list[Payload]:
    """A block of thinking, word by word, and its signature."""
    deltas = [{"type": "thinking_delta", "thinking": word} for word in words(text)]
    signed = {"type": "signature_delta", "signature": SIGNATURE}
    begin = block_start(thinking_block("", signature=""), index)
    return [begin, *(block_delta(delta, index) for delta in (*deltas, signed)), block_stop(index)]


def tool_use_events(call: ToolCall, index: int) -> list[Payload]:
    """A tool call: opened with its name, then its arguments come in two halves."""
    middle = (len(call.arguments) + 1) // 2
    halves = [half for half in (call.arguments[:middle], call.arguments[middle:]) if half]
    deltas = [block_delta({"type": "input_json_delta", "partial_json": half}, index) for half in halves]
    begin = block_start({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, index)
    return [begin, *deltas, block_stop(index)]


def message_delta(stop_reason: str, usage: Payload | None = None) -> Payload:
    """How the answer ends, and its usage."""
    event: Payload = {"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": None}}
    return event if usage is None else event | {"usage": usage}


def usage(counted: Usage, *, to: Asked, text: str) -> Payload:
    """Tokens as a provider states them. What `counted` leaves open is invented from the sizes of request and text."""
    reads, writes = counted.cached_tokens or 0, counted.cache_write_tokens or 0
    total = max(1, to.body_bytes // BYTES_PER_TOKEN) if counted.input_tokens is None else counted.input_tokens
    return {
        "input_tokens": max(0, total - reads - writes),
        "cache_creation_input_tokens": writes,
        "cache_read_input_tokens": reads,
        "output_tokens": len(words(text)) if counted.output_tokens is None else counted.output_tokens,
    }


def error(status: int, said: str | Mapping[str, object] | None = None) -> Payload:
    """An error body: `said` is its message, or fields that replace those of the usual error of this status."""
    usual_type = ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    fields: Payload = {"type": usual_type, "message": f"scripted answer {status}"}
    if isinstance(said, str):
        fields["message"] = said
    elif said is not None:
        fields.update(said)
    return {"type": "error", "error": fields, "request_id": DEFAULT_REQUEST_ID}


def sse(payload: Mapping[str, object]) -> bytes:
    """A payload as one server-sent event, which has the name of its type."""
    return b"event: %b\ndata: %b\n\n" % (str(payload["type"]).encode(), msgspec.json.encode(payload))


STOP = sse({"type": "message_stop"})
