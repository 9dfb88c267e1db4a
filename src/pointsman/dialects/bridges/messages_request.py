"""Requests of Anthropic Messages, from and to the neutral form (pure)."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Raw

from pointsman.dialects.bridges import media
from pointsman.dialects.bridges import messages_shapes as shapes
from pointsman.dialects.bridges.neutral import (
    Call,
    Choice,
    File,
    Image,
    Lost,
    Medium,
    Part,
    Request,
    Result,
    Role,
    Structure,
    Text,
    Tool,
    Turn,
)
from pointsman.dialects.bridges.reading import (
    INTEGER,
    NUMBER,
    Fields,
    Known,
    given,
    leading_system,
    merged,
    texts,
    turn,
    unless_null,
)
from pointsman.dialects.provider_error import UNREADABLE

Json = dict[str, Any]

DEFAULT_MAX_TOKENS = 8_192  # the dialect wants a number; every model since Claude 3.5 can write as much

KNOWN = Known(
    frozenset((
        "model", "stream", "messages", "system", "tools", "tool_choice", "max_tokens", "temperature", "top_p", "top_k",
        "stop_sequences", "thinking", "output_config", "output_format",
    )),
    frozenset(("metadata", "service_tier", "cache_control", "context_management")),
    MappingProxyType({}),
)  # fmt: skip

_ROLES: Mapping[str, Role] = MappingProxyType({"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT})
_CHOICES: Mapping[str, Choice] = MappingProxyType({"auto": Choice.AUTO, "any": Choice.REQUIRED, "none": Choice.NONE})
_WORDS: Mapping[Choice, str] = MappingProxyType({choice: word for word, choice in _CHOICES.items()})
_OWN_TOOLS = frozenset((None, "custom"))  # every other type is a tool that the provider brings along
_UNREPEATABLE = frozenset(("thinking", "redacted_thinking"))  # signed: other providers cannot read them (G-10)
_BILLING = "x-anthropic-billing-header:"  # Claude Code's, within its prompt: it differs each time, and no cache holds
_NO_PARAMETERS = Raw(b'{"type":"object","properties":{}}')
_NO_ID = re.compile(r"[^A-Za-z0-9_-]")
_MAX_TEMPERATURE = 1.0
_USUAL_VERBOSITY = (None, "medium")
EFFORTS = ((4_096, "low"), (16_384, "medium"))  # of older clients, which say it as a budget of tokens
_MOST_EFFORT = {"max": "xhigh"}  # the word of the others for the most there is


def read(values: Fields) -> Request:
    """Raises GatewayError (400) for a field of the wrong type."""
    lost: list[str] = []
    system = given(values, "system", shapes.SYSTEM) or []
    blocks = [shapes.Block("text", system)] if isinstance(system, str) else system
    kept = [block for block in blocks if not block.text.startswith(_BILLING)]
    turns = [turn(Role.SYSTEM, _parts(kept, lost), lost), *_turns(values, lost)]
    tools = tuple(_tools(given(values, "tools", shapes.TOOLS) or [], lost))
    choice = given(values, "tool_choice", shapes.TOOL_CHOICE) or shapes.ToolChoice()
    output = given(values, "output_config", shapes.OUTPUT_CONFIG) or shapes.OutputConfig()
    return Request(
        merged(turns),
        tools,
        _CHOICES.get(choice.type),
        choice.name if choice.type == "tool" else None,
        one_call_at_most=choice.disable_parallel_tool_use is True,
        max_tokens=given(values, "max_tokens", INTEGER),
        temperature=given(values, "temperature", NUMBER),
        top_p=given(values, "top_p", NUMBER),
        top_k=given(values, "top_k", INTEGER),
        stop=texts(values, "stop_sequences"),
        structure=_structure(output.format or given(values, "output_format", shapes.FORMAT)),
        effort=_effort(given(values, "thinking", shapes.THINKING), output.effort),
        lost=Lost(tuple(KNOWN.lost(values)), tuple(lost)),
    )


def lost(request: Request) -> Lost:
    """What of the neutral form has no place here."""
    parameters = []
    if request.temperature is not None and _temperature(request) is None:
        parameters.append("temperature")
    if request.structure is not None and request.structure.schema is None:
        parameters.append("response_format=json_object")
    if request.verbosity not in _USUAL_VERBOSITY:
        parameters.append("verbosity")
    files = [part for said in request.turns for part in said.parts if isinstance(part, File)]
    return Lost(tuple(parameters), ("messages.file",) if any(file.media_type != media.PDF for file in files) else ())


def write(request: Request, model: str, *, stream: bool, max_tokens: int | None) -> bytes:
    """`max_tokens`: the most that the target can write; None: not known."""
    leading, turns = leading_system(request.turns)
    body: Json = {"model": model, "max_tokens": request.max_tokens or max_tokens or DEFAULT_MAX_TOKENS}
    if system := [_written(part) for said in merged(leading) for part in said.parts]:
        body["system"] = system
    body["messages"] = [_message(turn) for turn in merged(map(_in_place, turns))]
    if stream:
        body["stream"] = True
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        body |= _tool_choice(request)
    if (temperature := _temperature(request)) is not None:
        body["temperature"] = temperature
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if request.stop:
        body["stop_sequences"] = request.stop
    if request.effort is not None and not _is_forced(request):
        body["thinking"] = {"type": "adaptive"}  # unlike others it needs no earlier thoughts in a tool's turn (G-09)
    if output := _output_config(request):
        body["output_config"] = output
    return msgspec.json.encode(body)


# --- reading


def _turns(values: Fields, lost: list[str]) -> Iterator[Turn]:
    for message in given(values, "messages", shapes.MESSAGES) or ():
        blocks = [shapes.Block("text", message.content)] if isinstance(message.content, str) else message.content
        if message.role in _ROLES:
            yield turn(_ROLES[message.role], _parts(blocks, lost), lost)
        else:
            lost.append(f"messages.role={message.role}")


def _parts(blocks: list[shapes.Block], lost: list[str]) -> Iterator[Part]:
    for block in blocks:
        if block.type == "tool_use":
            yield Call(block.id, block.name, bytes(block.input).decode())
        elif block.type == "tool_result":
            yield Result(block.tool_use_id, tuple(_result(block, lost)), is_error=block.is_error is True)
        elif (found := _medium(block)) is not None:
            yield found
        elif block.type not in _UNREPEATABLE:
            lost.append(f"messages.{block.type}")


def _result(block: shapes.Block, lost: list[str]) -> Iterator[Medium]:
    content = block.content or []
    for part in [shapes.Block("text", content)] if isinstance(content, str) else content:
        if (found := _medium(part)) is not None:
            yield found
        else:
            lost.append(f"messages.tool_result.{part.type}")


def _medium(block: shapes.Block) -> Medium | None:
    source = block.source
    if block.type == "text":
        return Text(block.text)
    if source is None or (isinstance(block.citations, shapes.Citations) and block.citations.enabled):
        return None
    match block.type, source.type:
        case "image", "base64":
            return media.image(source.media_type, source.data)
        case "image", "url":
            return Image(source.url)
        case "document", "base64":
            return File(block.title or "document.pdf", source.media_type, source.data)
        case "document", "text":
            return Text(f"{block.title}\n{source.data}" if block.title else source.data)
        case _:
            return None


def _tools(tools: list[shapes.Tool], lost: list[str]) -> Iterator[Tool]:
    for tool in tools:
        if tool.type in _OWN_TOOLS:
            yield Tool(tool.name, tool.description, unless_null(tool.input_schema), tool.strict)
        else:
            lost.append(f"tools.{tool.type}")


def _structure(wanted: shapes.Format | None) -> Structure | None:
    return None if wanted is None else Structure(unless_null(wanted.schema), strict=True)


def _effort(thinking: shapes.Thinking | None, effort: str | None) -> str | None:
    if thinking is None or thinking.type == "disabled":
        return None
    if effort is not None:
        return _MOST_EFFORT.get(effort, effort)
    budget = thinking.budget_tokens or 0
    return next((word for up_to, word in EFFORTS if budget and budget <= up_to), "high")


# --- writing


def _in_place(said: Turn) -> Turn:
    """A system message in the middle stays where it is, as the dialect knows them at the beginning only (G-16)."""
    return Turn(Role.USER, said.parts) if said.role is Role.SYSTEM else said


def _is_forced(request: Request) -> bool:
    """Whether a tool has to be called: the dialect does not think before that."""
    return request.chosen is not None or request.choice is Choice.REQUIRED


def _temperature(request: Request) -> float | None:
    """None: none was given, or one that this dialect refuses, as it does every one but 1 while thinking."""
    said = request.temperature
    is_taken = said is not None and said <= _MAX_TEMPERATURE and (request.effort is None or said == _MAX_TEMPERATURE)
    return said if is_taken else None


def _message(said: Turn) -> Json:
    """What tools gave back comes first, as every dialect wants it right after the calls (G-07)."""
    parts = sorted(said.parts, key=lambda part: not isinstance(part, Result))
    return {"role": said.role.value, "content": [_written(part) for part in parts]}


def _written(part: Part) -> Json:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Image(url=""):
            return {"type": "image", "source": _base64(part)}
        case Image():
            return {"type": "image", "source": {"type": "url", "url": part.url}}
        case File():
            document: Json = {"type": "document", "source": _base64(part)}
            return document | {"title": part.name} if part.name else document
        case Call():
            return {"type": "tool_use", "id": _id(part.id), "name": part.name, "input": arguments(part.arguments)}
        case Result():
            content = [_written(inner) for inner in part.parts if not isinstance(inner, Text) or inner.text.strip()]
            result: Json = {"type": "tool_result", "tool_use_id": _id(part.call_id), "content": content}
            return result | {"is_error": True} if part.is_error else result


def arguments(text: str) -> Raw | Json:
    """The arguments of a call as an object; what is none is shown as it was said."""
    if not text.strip():
        return {}
    raw = text.encode()
    try:
        found = msgspec.json.decode(raw)
    except UNREADABLE:
        return {"arguments": text}
    return Raw(raw) if isinstance(found, dict) else {"arguments": text}


def _id(said: str) -> str:
    """Ids of calls as this dialect takes them; others have dots and colons in them."""
    return _NO_ID.sub("_", said)


def _base64(part: Image | File) -> Json:
    return {"type": "base64", "media_type": part.media_type, "data": part.data}


def _tool(tool: Tool) -> Json:
    fields: Json = {"name": tool.name}
    if tool.description is not None:
        fields["description"] = tool.description
    fields["input_schema"] = _NO_PARAMETERS if tool.schema is None else tool.schema
    return fields | {"strict": True} if tool.strict else fields


def _tool_choice(request: Request) -> Json:
    choice: Json = {}
    if request.chosen is not None:
        choice = {"type": "tool", "name": request.chosen}
    elif request.choice is not None:
        choice = {"type": _WORDS[request.choice]}
    if request.one_call_at_most and request.choice is not Choice.NONE:
        choice = {"type": "auto", **choice, "disable_parallel_tool_use": True}
    return {"tool_choice": choice} if choice else {}


def _output_config(request: Request) -> Json:
    found: Json = {}
    if request.effort is not None:
        found["effort"] = request.effort
    if request.structure is not None and request.structure.schema is not None:
        found["format"] = {"type": "json_schema", "schema": request.structure.schema}
    return found
