"""Answers of Responses, from and to the neutral form (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from pointsman.dialects import responses_wire
from pointsman.dialects.bridges import responses_shapes as shapes
from pointsman.dialects.bridges.neutral import Answer, Call, Finish, Refusal, Said, Text, Thinking, finish_of
from pointsman.dialects.bridges.offered_tools import Named, named_in
from pointsman.dialects.bridges.reading import Fields
from pointsman.dialects.bridges.responses_items import Item, item_of
from pointsman.dialects.bridges.responses_kinds import KINDS, REFUSAL
from pointsman.domain.outcome import Usage

Json = dict[str, Any]

COMPLETED, INCOMPLETE, IN_PROGRESS = "completed", "incomplete", "in_progress"
_FINISH_BY_WORD: Mapping[str, Finish] = MappingProxyType({
    COMPLETED: Finish.NATURAL, "max_output_tokens": Finish.LENGTH, "content_filter": Finish.REFUSED,
})  # fmt: skip
_WORD_BY_FINISH: Mapping[str, str] = MappingProxyType({
    Finish.NATURAL: COMPLETED, Finish.LENGTH: "max_output_tokens", Finish.CALLS: COMPLETED,
    Finish.REFUSED: "content_filter",
})  # fmt: skip
# what a request says and its answer repeats; the long ones are left out
_REPEATED: Mapping[str, Any] = MappingProxyType({
    "max_output_tokens": None, "metadata": {}, "parallel_tool_calls": True, "reasoning": None, "temperature": None,
    "tool_choice": "auto", "top_p": None,
})  # fmt: skip


def read(body: bytes) -> Answer:
    """Raises one of UNREADABLE."""
    found = shapes.read_answer(body)
    parts = tuple(part for item in found.output or () for part in parts_of(item))
    finish = finish_of(parts, finish_by(found))
    return Answer(found.id, found.model, parts, finish, responses_wire.usage(found.usage))


def write(answer: Answer, created_s: int, asked: Fields) -> bytes:
    items = _items(answer, named_in(asked))
    response = opening(answer.id, answer.model, created_s, asked)
    return msgspec.json.encode(response | closing(items, answer.finish, answer.usage))


def opening(answer_id: str, model: str, created_s: int, asked: Fields) -> Json:
    """A response that has only begun. Nobody keeps it, whatever was asked for."""
    repeated: Json = {name: asked.get(name, default) for name, default in _REPEATED.items()}
    response: Json = {"id": answer_id, "object": "response", "created_at": created_s, "model": model}
    response |= {"status": IN_PROGRESS, "background": False, "error": None, "incomplete_details": None}
    response |= {"instructions": None, "output": [], "previous_response_id": None, "store": False, "tools": []}
    return response | {"usage": None} | repeated


def closing(items: Sequence[Item], finish: str | None, counted: Usage | None) -> Json:
    """What of it is known at its end."""
    word = word_of(finish)
    if word == "content_filter" and any(item.kind is REFUSAL for item in items):
        word = COMPLETED  # the refusal is the answer
    is_complete = word is None or word == COMPLETED
    return {
        "status": COMPLETED if is_complete else INCOMPLETE,
        "incomplete_details": None if is_complete else {"reason": word},
        "output": [item.whole() for item in items],
        "usage": usage(counted),
    }


def word_of(finish: str | None) -> str | None:
    """How this dialect says why an answer ended; what it has no word for stays the provider's."""
    return None if finish is None else _WORD_BY_FINISH.get(finish, finish)


def finish_by(response: shapes.Answer) -> str | None:
    """The same the other way round: the reason why it is not complete, or that it is."""
    reason = response.incomplete_details.reason if response.incomplete_details is not None else None
    word = reason or response.status
    return None if word is None else _FINISH_BY_WORD.get(word, word)


def usage(counted: Usage | None) -> Json | None:
    """Tokens as this dialect counts them; None: the provider did not say both of input and output.

    Clients read the details without a look whether they are there, so what is not known is none.
    """
    if counted is None or counted.input_tokens is None or counted.output_tokens is None:
        return None
    details: Json = {"cached_tokens": counted.cached_tokens or 0}
    if counted.cache_write_tokens is not None:
        details["cache_write_tokens"] = counted.cache_write_tokens
    return {
        "input_tokens": counted.input_tokens,
        "input_tokens_details": details,
        "output_tokens": counted.output_tokens,
        "output_tokens_details": {"reasoning_tokens": counted.reasoning_tokens or 0},
        "total_tokens": counted.input_tokens + counted.output_tokens,
    }


def parts_of(item: shapes.Item) -> Iterator[Said]:
    content = item.content if isinstance(item.content, list) else []
    match item.type:
        case "message":
            for part in content:
                yield Refusal(part.refusal) if part.type == "refusal" else Text(part.text)
        case "reasoning" if thoughts := "\n\n".join(part.text for part in content or item.summary or ()):
            yield Thinking(thoughts)
        case "function_call":
            yield Call(item.call_id, item.name, item.call)
        case _:
            pass  # what only a tool of the provider's says: none was asked for


def _items(answer: Answer, named: Mapping[str, Named]) -> list[Item]:
    """What is of one kind and comes together is one item."""
    found: list[Item] = []
    for part in answer.parts:
        if isinstance(part, Call):
            found.append(item_of(part, answer.id, len(found), named))
            found[-1].add(part.arguments)
            continue
        kind = KINDS[type(part)]
        if not found or found[-1].kind is not kind:
            found.append(Item(kind, answer.id, len(found)))
        found[-1].add(part.text)
    return found
