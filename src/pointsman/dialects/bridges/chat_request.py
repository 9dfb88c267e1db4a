"""Requests of Chat Completions, from and to the neutral form (pure)."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from pointsman.dialects.bridges import chat_answer, media
from pointsman.dialects.bridges import chat_shapes as shapes
from pointsman.dialects.bridges.neutral import (
    Call,
    Choice,
    File,
    Image,
    Lost,
    Medium,
    Request,
    Result,
    Role,
    Structure,
    Text,
    Tool,
    Turn,
    marked,
)
from pointsman.dialects.bridges.reading import (
    FLAG,
    INTEGER,
    NUMBER,
    TEXT,
    Fields,
    Known,
    given,
    texts,
    turn,
    unless_null,
)
from pointsman.dialects.provider_error import is_given

Json = dict[str, Any]

_ZERO = frozenset((b"0", b"0.0"))
KNOWN = Known(
    frozenset((
        "model", "stream", "stream_options", "messages", "tools", "tool_choice", "parallel_tool_calls", "max_tokens",
        "max_completion_tokens", "temperature", "top_p", "stop", "response_format", "reasoning_effort",
        "verbosity",
    )),
    frozenset((
        "user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "metadata", "store", "service_tier",
        "prediction",
    )),
    MappingProxyType({
        "n": frozenset((b"1",)), "logprobs": frozenset((b"false",)), "modalities": frozenset((b'["text"]',)),
        "frequency_penalty": _ZERO, "presence_penalty": _ZERO, "top_logprobs": frozenset((b"0",)),
    }),
)  # fmt: skip

_ROLES: Mapping[str, Role] = MappingProxyType(
    {"system": Role.SYSTEM, "developer": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}
)
_CHOICES: Mapping[str, Choice] = MappingProxyType({choice.value: choice for choice in Choice})
_NO_EFFORT = frozenset(("none", "minimal"))
_IMAGE_FOLLOWS = "The image is in the next message."  # results of tools are texts here


def read(values: Fields) -> Request:
    """Raises GatewayError (400) for a field of the wrong type."""
    lost: list[str] = []
    turns = tuple(_turns(given(values, "messages", shapes.MESSAGES) or [], lost))
    tools = tuple(_tools(given(values, "tools", shapes.TOOLS) or [], lost))
    choice, chosen = _choice(values, lost)
    effort = given(values, "reasoning_effort", TEXT)
    return Request(
        turns,
        tools,
        choice,
        chosen,
        one_call_at_most=given(values, "parallel_tool_calls", FLAG) is False,
        max_tokens=given(values, "max_completion_tokens", INTEGER) or given(values, "max_tokens", INTEGER),
        temperature=given(values, "temperature", NUMBER),
        top_p=given(values, "top_p", NUMBER),
        stop=texts(values, "stop"),
        structure=_structure(values),
        effort=None if effort in _NO_EFFORT else effort,
        verbosity=given(values, "verbosity", TEXT),
        lost=Lost(tuple(KNOWN.lost(values)), tuple(lost)),
    )


def lost(request: Request) -> Lost:
    """What of the neutral form has no place here."""
    return Lost(("top_k",) if request.top_k is not None else ())


def write(request: Request, model: str, *, stream: bool) -> bytes:
    body: Json = {"model": model, "messages": [message for said in request.turns for message in _messages(said)]}
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.chosen is not None:
        body["tool_choice"] = {"type": "function", "function": {"name": request.chosen}}
    elif request.choice is not None:
        body["tool_choice"] = request.choice.value
    if request.one_call_at_most and request.tools:
        body["parallel_tool_calls"] = False
    if request.structure is not None:
        body["response_format"] = _response_format(request.structure)
    numbers: Json = {
        "max_completion_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop": request.stop or None,
        "reasoning_effort": request.effort,
        "verbosity": request.verbosity,
    }
    return msgspec.json.encode(body | {name: value for name, value in numbers.items() if value is not None})


# --- reading


def _turns(messages: list[shapes.Message], lost: list[str]) -> Iterator[Turn]:
    for message in messages:
        if is_given(message.function_call) or message.role == "function":
            lost.append("messages.function_call")
        parts = tuple(_parts(message, lost))
        if message.role == "tool":
            yield Turn(Role.USER, (Result(message.tool_call_id, parts),))
        elif message.role in _ROLES:
            yield turn(_ROLES[message.role], (*parts, *_calls(message, lost)), lost)
        elif message.role != "function":
            lost.append(f"messages.role={message.role}")


def _parts(message: shapes.Message, lost: list[str]) -> Iterator[Medium]:
    if isinstance(message.content, str):
        yield Text(message.content)
    else:
        for part in message.content or ():
            if (found := _part(part)) is not None:
                yield found
            else:
                lost.append(f"messages.{part.type}")
    if message.refusal:
        yield Text(message.refusal)


def _part(part: shapes.Part) -> Medium | None:
    match part.type:
        case "text":
            return Text(part.text)
        case "refusal":
            return Text(part.refusal)
        case "image_url" if part.image_url is not None:
            return media.image_at(part.image_url if isinstance(part.image_url, str) else part.image_url.url)
        case "file" if part.file is not None:
            return media.file_in(part.file.filename, part.file.file_data)
        case _:
            return None


def _calls(message: shapes.Message, lost: list[str]) -> Iterator[Call]:
    for call in message.tool_calls or ():
        if call.function is None:
            lost.append(f"messages.tool_calls.{call.type}")
        else:
            yield Call(call.id or "", call.function.name or "", call.function.arguments or "")


def _tools(tools: list[shapes.Tool], lost: list[str]) -> Iterator[Tool]:
    for tool in tools:
        found = tool.function
        if found is None:
            lost.append(f"tools.{tool.type}")
        else:
            yield Tool(found.name, found.description, unless_null(found.parameters), found.strict)


def _choice(values: Fields, lost: list[str]) -> tuple[Choice | None, str | None]:
    choice = given(values, "tool_choice", shapes.TOOL_CHOICE)
    if choice is None:
        return None, None
    if isinstance(choice, str):
        if choice not in _CHOICES:
            lost.append(f"tool_choice={choice}")
        return _CHOICES.get(choice), None
    if choice.function is None:
        lost.append(f"tool_choice.{choice.type}")
        return None, None
    return None, choice.function.name


def _structure(values: Fields) -> Structure | None:
    wanted = given(values, "response_format", shapes.RESPONSE_FORMAT)
    if wanted is None or wanted.type == "text":
        return None
    schema = wanted.json_schema
    return Structure(None) if schema is None else Structure(unless_null(schema.schema), schema.name, schema.strict)


# --- writing


def _messages(said: Turn) -> Iterator[Json]:
    if said.role is Role.ASSISTANT:
        yield _assistant(said)
        return
    shown: list[Medium] = []
    for part in said.parts:
        if isinstance(part, Result):
            yield {"role": "tool", "tool_call_id": part.call_id, "content": _result_text(part)}
            shown += [inner for inner in part.parts if not isinstance(inner, Text)]
    shown += [part for part in said.parts if isinstance(part, Medium)]
    if shown:
        yield {"role": said.role.value, "content": _content(shown)}


def _assistant(said: Turn) -> Json:
    text = "".join(part.text for part in said.parts if isinstance(part, Text))  # G-18
    calls = [chat_answer.call(part) for part in said.parts if isinstance(part, Call)]
    message: Json = {"role": "assistant", "content": text or None}
    return message | {"tool_calls": calls} if calls else message


def _result_text(result: Result) -> str:
    text = "\n".join(part.text for part in result.parts if isinstance(part, Text))
    if not text and not all(isinstance(part, Text) for part in result.parts):
        text = _IMAGE_FOLLOWS
    return marked(result, text)


def _content(parts: list[Medium]) -> str | list[Json]:
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return [_written(part) for part in parts]


def _written(part: Medium) -> Json:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Image():
            url = part.url or media.data_url(part.media_type, part.data)
            return {"type": "image_url", "image_url": {"url": url}}
        case File():
            file = {"filename": part.name, "file_data": media.data_url(part.media_type, part.data)}
            return {"type": "file", "file": file}


def _tool(tool: Tool) -> Json:
    function: Json = {"name": tool.name}
    fields: Json = {"description": tool.description, "parameters": tool.schema, "strict": tool.strict}
    return {
        "type": "function",
        "function": function | {name: value for name, value in fields.items() if value is not None},
    }


def _response_format(structure: Structure) -> Json:
    if structure.schema is None:
        return {"type": "json_object"}
    schema: Json = {"name": structure.name, "schema": structure.schema}
    return {
        "type": "json_schema",
        "json_schema": schema if structure.strict is None else schema | {"strict": structure.strict},
    }
