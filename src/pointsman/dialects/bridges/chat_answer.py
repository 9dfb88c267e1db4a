"""Answers of Chat Completions, from and to the neutral form (pure)."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from pointsman.dialects import openai_wire
from pointsman.dialects.bridges import chat_shapes as shapes
from pointsman.dialects.bridges.neutral import Answer, Call, Finish, Refusal, Said, Text, Thinking, finish_of
from pointsman.domain.outcome import Usage

Json = dict[str, Any]

_FINISH_BY_WORD: Mapping[str, Finish] = MappingProxyType({
    "stop": Finish.NATURAL, "length": Finish.LENGTH, "tool_calls": Finish.CALLS, "function_call": Finish.CALLS,
    "content_filter": Finish.REFUSED,
})  # fmt: skip
_WORD_BY_FINISH: Mapping[str, str] = MappingProxyType({
    Finish.NATURAL: "stop", Finish.LENGTH: "length", Finish.CALLS: "tool_calls", Finish.REFUSED: "content_filter",
})  # fmt: skip


def read(body: bytes) -> Answer:
    """Raises one of UNREADABLE."""
    found = shapes.read_answer(body)
    choice = (found.choices or [shapes.Choice()])[0]
    parts = tuple(_parts(choice.message or shapes.Said()))
    finish = finish_of(parts, finish_by(choice.finish_reason))
    return Answer(found.id, found.model, parts, finish, openai_wire.usage(shapes.counts(found.usage)))


def write(answer: Answer, created_s: int) -> bytes:
    message: Json = {"role": "assistant", "content": _joined(answer, Text), "refusal": _joined(answer, Refusal)}
    if thoughts := _joined(answer, Thinking):
        message["reasoning_content"] = thoughts
    if calls := [call(part) for part in answer.parts if isinstance(part, Call)]:
        message["tool_calls"] = calls
    finish = word_of(answer.finish)
    choice: Json = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    body: Json = {"id": answer.id, "object": "chat.completion", "created": created_s, "model": answer.model}
    body["choices"] = [choice]
    return msgspec.json.encode(body if answer.usage is None else body | {"usage": usage(answer.usage)})


def word_of(finish: str | None) -> str | None:
    """How this dialect says why an answer ended; what it has no word for stays the provider's."""
    return None if finish is None else _WORD_BY_FINISH.get(finish, finish)


def finish_by(word: str | None) -> str | None:
    """The same the other way round."""
    return None if word is None else _FINISH_BY_WORD.get(word, word)


def usage(counted: Usage) -> Json:
    """Tokens as this dialect counts them: parts of a whole are named apart, and what is not known is not there."""
    found: Json = {"prompt_tokens": counted.input_tokens, "completion_tokens": counted.output_tokens}
    if counted.input_tokens is not None and counted.output_tokens is not None:
        found["total_tokens"] = counted.input_tokens + counted.output_tokens
    of_prompt = {"cached_tokens": counted.cached_tokens, "cache_write_tokens": counted.cache_write_tokens}
    found["prompt_tokens_details"] = _known(of_prompt) or None
    found["completion_tokens_details"] = _known({"reasoning_tokens": counted.reasoning_tokens}) or None
    return _known(found)


def _known(fields: Json) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


def _parts(said: shapes.Said) -> Iterator[Said]:
    if thoughts := said.reasoning_content or said.reasoning:
        yield Thinking(thoughts)
    if said.content:
        yield Text(said.content)
    if said.refusal:
        yield Refusal(said.refusal)
    for number, one in enumerate(said.tool_calls or ()):
        function = one.function or shapes.Function()
        yield Call(one.id or f"call_{number}", function.name or "", function.arguments or "")


def _joined(answer: Answer, kind: type[Text | Refusal | Thinking]) -> str | None:
    """All that was said of one kind, in order (G-18)."""
    return "".join(part.text for part in answer.parts if isinstance(part, kind)) or None


def call(said: Call) -> Json:
    return {"id": said.id, "type": "function", "function": {"name": said.name, "arguments": said.arguments or "{}"}}
