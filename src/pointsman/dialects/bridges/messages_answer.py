"""Answers of Anthropic Messages, from and to the neutral form (pure)."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from pointsman.dialects import anthropic_wire
from pointsman.dialects.bridges import messages_shapes as shapes
from pointsman.dialects.bridges.messages_request import arguments
from pointsman.dialects.bridges.neutral import Answer, Call, Finish, Said, Text, Thinking, finish_of
from pointsman.domain.outcome import Usage

Json = dict[str, Any]

_FINISH_BY_WORD: Mapping[str, Finish] = MappingProxyType({
    "end_turn": Finish.NATURAL, "stop_sequence": Finish.NATURAL, "tool_use": Finish.CALLS,
    "max_tokens": Finish.LENGTH, "model_context_window_exceeded": Finish.LENGTH, "refusal": Finish.REFUSED,
})  # fmt: skip
_WORD_BY_FINISH: Mapping[str, str] = MappingProxyType({
    Finish.NATURAL: "end_turn", Finish.LENGTH: "max_tokens", Finish.CALLS: "tool_use", Finish.REFUSED: "refusal",
})  # fmt: skip


def read(body: bytes) -> Answer:
    """Raises one of UNREADABLE."""
    found = shapes.read_answer(body)
    parts = tuple(_parts(found.content or []))
    finish = finish_of(parts, finish_by(found.stop_reason))
    return Answer(found.id, found.model, parts, finish, anthropic_wire.usage(found.usage))


def write(answer: Answer) -> bytes:
    return msgspec.json.encode(
        {
            "id": answer.id,
            "type": "message",
            "role": "assistant",
            "model": answer.model,
            "content": [_block(part) for part in answer.parts],
            "stop_reason": word_of(answer.finish),
            "stop_sequence": None,
            "usage": usage(answer.usage or Usage()),
        }
    )


def word_of(finish: str | None) -> str | None:
    """How this dialect says why an answer ended; what it has no word for stays the provider's."""
    return None if finish is None else _WORD_BY_FINISH.get(finish, finish)


def finish_by(word: str | None) -> str | None:
    """The same the other way round."""
    return None if word is None else _FINISH_BY_WORD.get(word, word)


def usage(counted: Usage) -> Json:
    """Tokens as this dialect counts them: input, reads and writes of a cache are apart from each other (H-02).

    Clients insist on the first two: null where the provider did not say, since 0 would be a count.
    """
    reads, writes = counted.cached_tokens, counted.cache_write_tokens
    total = counted.input_tokens
    uncached = None if total is None else max(0, total - (reads or 0) - (writes or 0))
    found: Json = {"input_tokens": uncached, "output_tokens": counted.output_tokens}
    if reads is not None:
        found["cache_read_input_tokens"] = reads
    if writes is not None:
        found["cache_creation_input_tokens"] = writes
    if counted.reasoning_tokens is not None:
        found["output_tokens_details"] = {"thinking_tokens": counted.reasoning_tokens}
    return found


def _parts(blocks: list[shapes.Block]) -> Iterator[Said]:
    for block in blocks:
        match block.type:
            case "text":
                yield Text(block.text)
            case "thinking":
                yield Thinking(block.thinking)
            case "tool_use":
                yield Call(block.id, block.name, bytes(block.input).decode())
            case _:
                pass  # what only a tool of the provider's says: none was asked for; or sealed thoughts


def _block(part: Said) -> Json:
    if isinstance(part, Call):
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": arguments(part.arguments)}
    if isinstance(part, Thinking):
        return {"type": "thinking", "thinking": part.text, "signature": ""}
    return {"type": "text", "text": part.text}
