"""Builders of OpenAI chat payloads, shaped like those of real providers. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from pointsman.domain.outcome import Usage
from pointsman.domain.request import Dialect

DEFAULT_MODEL = "fake-model"
DEFAULT_ID = "chatcmpl-fake"
DEFAULT_CREATED = 1_800_000_000
DONE = b"data: [DONE]\n\n"
BYTES_PER_TOKEN = 4  # the usual rule of thumb; good enough for invented prompt counts

Payload = dict[str, Any]

ERROR_TYPES: dict[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}


class ToolCall(Struct, frozen=True):
    """A call the model asks for; `arguments` is JSON text, valid or not."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"


class Asked(Struct, frozen=True):
    """What of a request its answer echoes or depends on."""

    model: str = DEFAULT_MODEL
    stream: bool = False
    include_usage: bool = False
    body_bytes: int = 0
    id: str = DEFAULT_ID
    created: int = DEFAULT_CREATED
    dialect: Dialect = Dialect.OPENAI_CHAT
    inputs: int = 1  # of a request for embeddings
    base64: bool = False  # as above


NOTHING_SPECIAL = Asked()


class _StreamOptions(Struct, frozen=True):
    include_usage: bool | None = None


class _Request(Struct, frozen=True):
    model: str = DEFAULT_MODEL
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    input: Any = None
    encoding_format: Any = None


def asked(body: bytes, *, answer_id: str, created: int, dialect: Dialect = Dialect.OPENAI_CHAT) -> Asked:
    """What the request in `body` asks for; raises `msgspec.MsgspecError` if it is no request for a model."""
    request = msgspec.json.decode(body, type=_Request)
    options = request.stream_options or _StreamOptions()
    return Asked(
        model=request.model,
        stream=bool(request.stream) and dialect is not Dialect.OPENAI_EMBEDDINGS,
        include_usage=bool(options.include_usage),
        body_bytes=len(body),
        id=answer_id,
        created=created,
        dialect=dialect,
        inputs=len(request.input) if isinstance(request.input, list) else 1,
        base64=request.encoding_format == "base64",
    )


def words(text: str) -> list[str]:
    """The deltas of a streamed text: one word each, with the white space behind it; joined they give the text."""
    return re.findall(r"\S+\s*|\s+", text)


def completion(
    text: str,
    *,
    to: Asked,
    finish_reason: str = "stop",
    tool_calls: Sequence[ToolCall] = (),
    usage: Payload | None = None,
    reasoning: str = "",
) -> Payload:
    """A whole answer; without `usage` the field is missing."""
    message: Payload = {"role": "assistant", "content": text if text or not tool_calls else None, "refusal": None}
    if reasoning:
        message["reasoning_content"] = reasoning
    if tool_calls:
        message["tool_calls"] = [_tool_call(call) for call in tool_calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}
    payload: Payload = {"id": to.id, "object": "chat.completion", "created": to.created, "model": to.model}
    payload["choices"] = [choice]
    return payload if usage is None else payload | {"usage": usage}


def chunk(delta: Payload, *, to: Asked = NOTHING_SPECIAL, finish_reason: str | None = None) -> Payload:
    """One event of a stream. As at OpenAI, `usage` is null in every chunk if usage was asked for."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    payload: Payload = {"id": to.id, "object": "chat.completion.chunk", "created": to.created, "model": to.model}
    payload["choices"] = [choice]
    return payload | {"usage": None} if to.include_usage else payload


def role_delta() -> Payload:
    """The first delta of a stream: a role and no content."""
    return {"role": "assistant", "content": ""}


def text_delta(text: str) -> Payload:
    """A piece of the answer's text."""
    return {"content": text}


def reasoning_delta(text: str) -> Payload:
    """A piece of what the model thinks, as the self-hosted engines send it."""
    return {"reasoning_content": text}


def tool_call_deltas(calls: Sequence[ToolCall]) -> list[Payload]:
    """Deltas of tool calls: each call is opened with its name, then its arguments come in two halves."""
    deltas: list[Payload] = []
    for index, call in enumerate(calls):
        middle = (len(call.arguments) + 1) // 2
        opening = _tool_call(call) | {"index": index, "function": {"name": call.name, "arguments": ""}}
        deltas.append({"tool_calls": [opening]})
        halves = (call.arguments[:middle], call.arguments[middle:])
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": half}}]} for half in halves if half]
    return deltas


def usage_chunk(usage: Payload, *, to: Asked = NOTHING_SPECIAL) -> Payload:
    """The last event of a stream whose caller asked for usage: no choices."""
    return chunk({}, to=to) | {"choices": [], "usage": usage}


def usage(counted: Usage, *, to: Asked, text: str) -> Payload:
    """Tokens as a provider states them. What `counted` leaves open is invented from the sizes of request and text."""
    prompt = counted.input_tokens
    answer = counted.output_tokens
    prompt = max(1, to.body_bytes // BYTES_PER_TOKEN) if prompt is None else prompt
    answer = len(words(text)) if answer is None else answer
    payload: Payload = {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}
    parts = {"cached_tokens": counted.cached_tokens, "cache_write_tokens": counted.cache_write_tokens}
    if details := {name: count for name, count in parts.items() if count is not None}:
        payload["prompt_tokens_details"] = details
    if counted.reasoning_tokens is not None:
        payload["completion_tokens_details"] = {"reasoning_tokens": counted.reasoning_tokens}
    if counted.charged_usd is not None:
        payload["cost"] = counted.charged_usd
    return payload


def error(status: int, said: str | Mapping[str, object] | None = None) -> Payload:
    """An error body: `said` is its message, or fields that replace those of the usual error of this status."""
    usual_type = "server_error" if status >= 500 else ERROR_TYPES.get(status, "invalid_request_error")
    fields: Payload = {"message": f"scripted answer {status}", "type": usual_type, "param": None, "code": None}
    if isinstance(said, str):
        fields["message"] = said
    elif said is not None:
        fields.update(said)
    return {"error": fields}


def models(*names: str, created: int = DEFAULT_CREATED, owner: str = "fake") -> Payload:
    """The list of models."""
    rows = [{"id": name, "object": "model", "created": created, "owned_by": owner} for name in names]
    return {"object": "list", "data": rows}


def sse(payload: Mapping[str, object]) -> bytes:
    """A payload as one server-sent event."""
    return b"data: " + msgspec.json.encode(payload) + b"\n\n"


def _tool_call(call: ToolCall) -> Payload:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
