"""Whether an answer to a request with tools can be used: read when it has long left, never on its way (pure)."""

from collections.abc import Mapping, Sequence

from msgspec import Raw
from msgspec.json import Decoder

from pointsman.dialects.bridges.bridge import SIDES
from pointsman.dialects.bridges.events import CallBegun, CallDelta, Finished
from pointsman.dialects.bridges.neutral import Call, Finish, Refusal, Request, Text
from pointsman.dialects.codec import ParsedRequest
from pointsman.dialects.json_schema import fits
from pointsman.dialects.provider_error import UNREADABLE
from pointsman.domain.errors import GatewayError
from pointsman.domain.request import Dialect
from pointsman.domain.tool_fault import ToolFault
from pointsman.domain.value import Leaf

TOOLS = "tools"
_NO_CONVERSATION: Mapping[str, Raw] = {name: Raw(b"[]") for name in ("messages", "input")}
_decode = Decoder().decode
_decode_object = Decoder(dict[str, object]).decode


class Spoken(Leaf):
    """What an answer says, as far as it is judged."""

    calls: tuple[Call, ...]
    says_something: bool  # besides calls
    finish: str | None


def can_be_judged(dialect: Dialect) -> bool:
    return dialect in SIDES


class Judged(Leaf):
    """What was found."""

    fault: ToolFault | None  # None: it can be used


def judged(parsed: ParsedRequest, heard: Sequence[bytes]) -> Judged | None:
    """None: nothing can be said. `heard`: the body, or the data of the events, in the dialect of the request."""
    dialect, is_capped = parsed.facts.dialect, parsed.facts.max_output_tokens is not None
    try:
        asked = SIDES[dialect].read_request({**_NO_CONVERSATION, TOOLS: parsed.fields[TOOLS]})
        spoken = _of_events(dialect, heard) if parsed.facts.stream else _of_body(dialect, heard[0])
    except (*UNREADABLE, GatewayError, KeyError):
        return None
    if spoken.finish == Finish.REFUSED or (spoken.finish == Finish.LENGTH and is_capped):
        return None
    if spoken.finish == Finish.LENGTH:
        return Judged(ToolFault.TRUNCATED)
    if not spoken.calls and (spoken.finish == Finish.CALLS or not spoken.says_something):
        return Judged(ToolFault.EMPTY)
    faults = (_fault(call, asked) for call in spoken.calls)
    return Judged(next((fault for fault in faults if fault is not None), None))


def _fault(call: Call, asked: Request) -> ToolFault | None:
    tool = next((tool for tool in asked.tools if tool.name == call.name), None)
    if tool is None:
        brings_tools = asked.lost.parameters or asked.lost.content  # the provider does
        return None if brings_tools else ToolFault.UNKNOWN_TOOL
    try:
        arguments = _decode_object(call.arguments.strip().encode() or b"{}")
    except UNREADABLE:
        return ToolFault.INVALID_JSON
    schema = None if tool.schema is None else _schema(tool.schema)
    return None if fits(arguments, schema) else ToolFault.SCHEMA_MISMATCH


def _schema(raw: Raw) -> object:
    try:
        return _decode(raw)
    except UNREADABLE:
        return None


def _of_body(dialect: Dialect, body: bytes) -> Spoken:
    answer = SIDES[dialect].read_answer(body)
    calls = tuple([part for part in answer.parts if isinstance(part, Call)])
    return Spoken(calls, any(isinstance(part, Text | Refusal) for part in answer.parts), answer.finish)


def _of_events(dialect: Dialect, heard: Sequence[bytes]) -> Spoken:
    reader, names, pieces = SIDES[dialect].reader(), dict[int, str](), dict[int, list[str]]()
    says_something, finish = False, None
    for event in [event for data in heard for event in reader.read(data)]:
        if isinstance(event, CallBegun):
            names[event.number] = event.name
        elif isinstance(event, CallDelta):
            pieces.setdefault(event.number, []).append(event.arguments)
        elif isinstance(event, Text | Refusal):
            says_something = True
        elif isinstance(event, Finished):
            finish = event.finish
    calls = tuple([Call("", name, "".join(pieces.get(number, ()))) for number, name in names.items()])
    return Spoken(calls, says_something, finish)
