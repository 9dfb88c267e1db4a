"""Builders of OpenAI Responses payloads, shaped like those of OpenAI. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from pointsman.domain.outcome import Usage
from pointsman.testing.chat import BYTES_PER_TOKEN, NOTHING_SPECIAL, Asked, Payload, ToolCall, words


def response(
    output: Sequence[Payload],
    *,
    to: Asked = NOTHING_SPECIAL,
    status: str = "completed",
    usage: Payload | None = None,
    error: Payload | None = None,
    incomplete: str | None = None,
) -> Payload:
    """A whole answer, or the `response` of an event. `incomplete`: why it ended early."""
    return {
        "id": to.id, "object": "response", "created_at": to.created, "model": to.model, "status": status,
        "output": list(output), "error": error, "usage": usage, "tools": [], "tool_choice": "auto",
        "parallel_tool_calls": True, "incomplete_details": None if incomplete is None else {"reason": incomplete},
    }  # fmt: skip


def message_item(text: str, index: int = 0) -> Payload:
    """Said text."""
    content = [text_part(text)] if text else []
    return {"id": f"msg_{index}", "type": "message", "role": "assistant", "status": "completed", "content": content}


def text_part(text: str) -> Payload:
    """Text within a message."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def reasoning_item(text: str, index: int = 0) -> Payload:
    """A summary of what the model thinks."""
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"id": f"rs_{index}", "type": "reasoning", "summary": summary}


def call_item(call: ToolCall, index: int = 0) -> Payload:
    """A tool call."""
    said = {"call_id": call.id, "name": call.name, "arguments": call.arguments, "status": "completed"}
    return {"id": f"fc_{index}", "type": "function_call", **said}


def created(*, to: Asked = NOTHING_SPECIAL) -> list[Payload]:
    """The first events of a stream: no content yet."""
    begun = response((), to=to, status="in_progress")
    return [{"type": "response.created", "response": begun}, {"type": "response.in_progress", "response": begun}]


def item_added(item: Payload, index: int = 0) -> Payload:
    """An item begins."""
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def item_done(item: Payload, index: int = 0) -> Payload:
    """An item is complete."""
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def part_added(part: Payload, index: int = 0) -> Payload:
    """A part of a message begins."""
    return {
        "type": "response.content_part.added", "item_id": f"msg_{index}", "output_index": index, "content_index": 0,
        "part": part,
    }  # fmt: skip


def text_delta(text: str, index: int = 0) -> Payload:
    """A piece of the answer's text."""
    place = {"item_id": f"msg_{index}", "output_index": index, "content_index": 0}
    return {"type": "response.output_text.delta", **place, "delta": text, "logprobs": []}


def text_begin(index: int = 0) -> list[Payload]:
    """An item of text begins, and in it a part."""
    return [item_added(message_item("", index), index), part_added(text_part(""), index)]


def text_events(text: str, index: int) -> list[Payload]:
    """An item of text, word by word."""
    deltas = (text_delta(word, index) for word in words(text))
    return [*text_begin(index), *deltas, item_done(message_item(text, index), index)]


def reasoning_events(text: str, index: int) -> list[Payload]:
    """An item of reasoning, word by word."""
    place = {"item_id": f"rs_{index}", "output_index": index, "summary_index": 0}
    kind = "response.reasoning_summary_text.delta"
    deltas = [{"type": kind, **place, "delta": word} for word in words(text)]
    return [item_added(reasoning_item("", index), index), *deltas, item_done(reasoning_item(text, index), index)]


def call_events(call: ToolCall, index: int) -> list[Payload]:
    """A tool call: opened with its name, then its arguments come in two halves."""
    middle = (len(call.arguments) + 1) // 2
    place = {"item_id": f"fc_{index}", "output_index": index}
    halves = [half for half in (call.arguments[:middle], call.arguments[middle:]) if half]
    kind = "response.function_call_arguments.delta"
    opening = call_item(call, index) | {"arguments": "", "status": "in_progress"}
    deltas = [{"type": kind, **place, "delta": half} for half in halves]
    return [item_added(opening, index), *deltas, item_done(call_item(call, index), index)]


def ended(answer: Payload) -> Payload:
    """The last event of a stream, named after the status of the answer."""
    return {"type": f"response.{answer['status']}", "response": answer}


def failed(code: str, message: str, *, to: Asked = NOTHING_SPECIAL) -> Payload:
    """The last event of a stream that failed."""
    return ended(response((), to=to, status="failed", error={"code": code, "message": message}))


def usage(counted: Usage, *, to: Asked, text: str) -> Payload:
    """Tokens as OpenAI states them. What `counted` leaves open is invented from the sizes of request and text."""
    given, made = counted.input_tokens, counted.output_tokens
    given = max(1, to.body_bytes // BYTES_PER_TOKEN) if given is None else given
    made = len(words(text)) if made is None else made
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": counted.cached_tokens or 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": counted.reasoning_tokens or 0},
        "total_tokens": given + made,
    }


def numbered(events: Iterable[Payload]) -> Iterator[Payload]:
    """The events of one stream."""
    return ({**event, "sequence_number": number} for number, event in enumerate(events))


def sse(payload: Mapping[str, object]) -> bytes:
    """A payload as one server-sent event, which has the name of its type."""
    name = str(payload.get("type", "error"))
    return b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(payload))


COMPLETED = sse(ended(response(())))
