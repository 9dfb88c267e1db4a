"""Requests of Responses, from and to the neutral form (pure)."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Raw

from pointsman.dialects.bridges import custom_tools, media, offered_tools, tool_search
from pointsman.dialects.bridges import responses_shapes as shapes
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
from pointsman.dialects.bridges.offered_tools import joined, names_of, offered
from pointsman.dialects.bridges.reading import (
    FLAG,
    INTEGER,
    NUMBER,
    TEXT,
    Fields,
    Known,
    given,
    merged,
    turn,
    unless_null,
)
from pointsman.dialects.provider_error import is_given

Json = dict[str, Any]

KNOWN = Known(
    frozenset((
        "model", "stream", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls", "max_output_tokens",
        "temperature", "top_p", "text", "reasoning", "previous_response_id", "conversation", "prompt",
    )),
    frozenset((
        "user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "metadata", "client_metadata",
        "store", "service_tier", "stream_options", "max_tool_calls",
    )),
    MappingProxyType({
        "include": frozenset((b'["reasoning.encrypted_content"]',)),  # there is none to include
        "background": frozenset((b"false",)), "truncation": frozenset((b'"disabled"',)),
        "top_logprobs": frozenset((b"0",)),
    }),
)  # fmt: skip

_KEPT = ("previous_response_id", "conversation", "prompt")  # parts of the conversation that only a provider has
_ROLES: Mapping[str, Role] = MappingProxyType(
    {"system": Role.SYSTEM, "developer": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}
)
_CHOICES: Mapping[str, Choice] = MappingProxyType({choice.value: choice for choice in Choice})
_OWN_TOOLS = frozenset(("function", custom_tools.KIND))  # every other type is one that the provider brings along
_CALLS = frozenset(("function_call", "custom_tool_call", tool_search.CALL))
_RESULTS = frozenset(("function_call_output", "custom_tool_call_output", tool_search.RESULT))
# sealed, so that other providers cannot read it (G-10); and tools, which are offered with all others
_SILENT = frozenset(("reasoning", offered_tools.ADDED))
_NO_EFFORT = frozenset(("none", "minimal"))
_NO_PARAMETERS = Raw(b'{"type":"object","properties":{}}')


def read(values: Fields) -> Request:
    """Raises GatewayError (400) for a field of the wrong type."""
    lost = [name for name in _KEPT if name in values and is_given(values[name])]
    said = given(values, "input", shapes.INPUT) or []
    items = [shapes.Item(role="user", content=said)] if isinstance(said, str) else said
    instructions = Turn(Role.SYSTEM, (Text(given(values, "instructions", TEXT) or ""),))
    own = given(values, "tools", shapes.TOOLS)
    tools = tuple(_tools(offered(own or (), items), lost))
    choice, chosen = _choice(values, lost)
    wanted = given(values, "text", shapes.TEXT_OPTIONS) or shapes.TextOptions()
    effort = (given(values, "reasoning", shapes.REASONING) or shapes.Reasoning()).effort
    return Request(
        merged([instructions, *_turns(items, lost)]),
        tools,
        choice,
        chosen,
        one_call_at_most=given(values, "parallel_tool_calls", FLAG) is False,
        max_tokens=given(values, "max_output_tokens", INTEGER),
        temperature=given(values, "temperature", NUMBER),
        top_p=given(values, "top_p", NUMBER),
        structure=_structure(wanted.format),
        effort=None if effort in _NO_EFFORT else effort,
        verbosity=wanted.verbosity,
        lost=Lost(tuple(KNOWN.lost(values)), tuple(lost)),
    )


def lost(request: Request) -> Lost:
    """What of the neutral form has no place here."""
    has = {"top_k": request.top_k is not None, "stop": bool(request.stop)}
    return Lost(tuple(name for name, is_there in has.items() if is_there))


def write(request: Request, model: str, *, stream: bool) -> bytes:
    """The whole conversation comes each time, so nothing has to be kept of it."""
    body: Json = {"model": model, "input": [item for said in request.turns for item in _items(said)], "store": False}
    if stream:
        body["stream"] = True
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.chosen is not None:
        body["tool_choice"] = {"type": "function", "name": request.chosen}
    elif request.choice is not None:
        body["tool_choice"] = request.choice.value
    if request.one_call_at_most and request.tools:
        body["parallel_tool_calls"] = False
    if text := _text_options(request):
        body["text"] = text
    if request.effort is not None:
        body["reasoning"] = {"effort": request.effort}
    numbers: Json = {
        "max_output_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
    }
    return msgspec.json.encode(body | {name: value for name, value in numbers.items() if value is not None})


# --- reading


def _turns(items: list[shapes.Item], lost: list[str]) -> Iterator[Turn]:
    for item in items:
        match item.type:
            case "message" if item.role in _ROLES:
                yield turn(_ROLES[item.role], _media(item.content, lost), lost)
            case "message":
                lost.append(f"input.role={item.role}")
            case call if call in _CALLS:
                yield Turn(Role.ASSISTANT, (_call(item),))
            case result if result in _RESULTS:
                yield Turn(Role.USER, (_result(item, lost),))
            case silent if silent in _SILENT:
                pass
            case type_:
                lost.append(f"input.{type_}")


def _call(item: shapes.Item) -> Call:
    match item.type:
        case "custom_tool_call":
            return Call(item.call_id, _name(item), custom_tools.arguments_of(item.input))
        case tool_search.CALL:
            return Call(item.call_id, tool_search.NAME, item.call)
        case _:
            return Call(item.call_id, _name(item), item.call)


def _result(item: shapes.Item, lost: list[str]) -> Result:
    if item.type == tool_search.RESULT:
        return tool_search.result_of(item, names_of(item.tools))
    return Result(item.call_id, tuple(_media(item.output, lost)))


def _media(content: str | list[shapes.Part] | None, lost: list[str]) -> Iterator[Medium]:
    if isinstance(content, str):
        yield Text(content)
        return
    for part in content or ():
        if (found := _medium(part)) is not None:
            yield found
        else:
            lost.append(f"input.{part.type}")


def _medium(part: shapes.Part) -> Medium | None:
    match part.type:
        case "input_text" | "output_text" | "text":
            return Text(part.text)
        case "refusal":
            return Text(part.refusal)
        case "input_image" if part.image_url is not None:
            return media.image_at(part.image_url)
        case "input_file" if part.file_data is not None:
            return media.file_in(part.filename or "", part.file_data)
        case _:
            return None


def _tools(tools: Iterable[shapes.Tool], lost: list[str]) -> Iterator[Tool]:
    for tool in tools:
        if tool_search.is_the_clients(tool):
            yield tool_search.as_function(tool)
        elif tool.type not in _OWN_TOOLS:
            lost.append(f"tools.{tool.type}")
        elif tool.type == custom_tools.KIND:
            yield custom_tools.as_function(tool)
        else:
            yield Tool(tool.name, tool.description, unless_null(tool.parameters), tool.strict)


def _name(tool: shapes.Item | shapes.NamedChoice) -> str:
    return joined(tool.namespace or "", tool.name)


def _choice(values: Fields, lost: list[str]) -> tuple[Choice | None, str | None]:
    choice = given(values, "tool_choice", shapes.TOOL_CHOICE)
    if choice is None:
        return None, None
    if isinstance(choice, str):
        if choice not in _CHOICES:
            lost.append(f"tool_choice={choice}")
        return _CHOICES.get(choice), None
    if choice.type not in _OWN_TOOLS:
        lost.append(f"tool_choice.{choice.type}")
        return None, None
    return None, _name(choice)


def _structure(wanted: shapes.Format | None) -> Structure | None:
    if wanted is None or wanted.type == "text":
        return None
    return Structure(unless_null(wanted.schema), wanted.name, wanted.strict)


# --- writing


def _items(said: Turn) -> Iterator[Json]:
    """Texts and pictures that follow each other are one message."""
    shown: list[Medium] = []
    for part in said.parts:
        if isinstance(part, Medium):
            shown.append(part)
            continue
        yield from _message(said.role, shown)
        shown = []
        if isinstance(part, Call):
            call = {"call_id": part.id, "name": part.name, "arguments": part.arguments or "{}"}
            yield {"type": "function_call", **call}
        else:
            yield {"type": "function_call_output", "call_id": part.call_id, "output": _output(part)}
    yield from _message(said.role, shown)


def _message(role: Role, shown: list[Medium]) -> Iterator[Json]:
    if not shown:
        return
    texts = [part.text for part in shown if isinstance(part, Text)]
    is_text = role is Role.ASSISTANT or (len(texts) == len(shown) == 1)
    yield {"role": role.value, "content": "".join(texts) if is_text else _parts(shown)}


def _parts(shown: Iterable[Medium]) -> list[Json]:
    return [_written(part) for part in shown]


def _output(result: Result) -> str | list[Json]:
    texts = [part.text for part in result.parts if isinstance(part, Text)]
    if len(texts) == len(result.parts):
        return marked(result, "\n".join(texts))
    return _parts((Text(marked(result, "\n".join(texts))), *(p for p in result.parts if not isinstance(p, Text))))


def _written(part: Medium) -> Json:
    match part:
        case Text():
            return {"type": "input_text", "text": part.text}
        case Image():
            return {"type": "input_image", "image_url": part.url or media.data_url(part.media_type, part.data)}
        case File():
            data = media.data_url(part.media_type, part.data)
            return {"type": "input_file", "filename": part.name, "file_data": data}


def _tool(tool: Tool) -> Json:
    """`strict` is true in this dialect where nothing is said, and in no other one."""
    fields: Json = {"type": "function", "name": tool.name}
    if tool.description is not None:
        fields["description"] = tool.description
    return fields | {"parameters": tool.schema or _NO_PARAMETERS, "strict": tool.strict is True}


def _text_options(request: Request) -> Json:
    found: Json = {}
    if request.structure is not None:
        found["format"] = _format(request.structure)
    return found if request.verbosity is None else found | {"verbosity": request.verbosity}


def _format(structure: Structure) -> Json:
    if structure.schema is None:
        return {"type": "json_object"}
    schema: Json = {"type": "json_schema", "name": structure.name, "schema": structure.schema}
    return schema if structure.strict is None else schema | {"strict": structure.strict}
