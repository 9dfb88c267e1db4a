"""How Responses writes each kind of item of an answer (pure)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pointsman.dialects.bridges.neutral import Refusal, Text, Thinking
from pointsman.domain.value import Value

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Kind(Value, eq=False):
    """One kind of item."""

    type: str
    id_prefix: str
    said: str  # `response.<said>.delta` and `.done` are the events of what is said; "": there are none
    word: str  # the field with all that was said
    place: str = ""  # the field with the one part of the item; "": what was said is a field of the item itself
    part: str = ""  # `response.<part>.added` and `.done` are the events of that part
    fields: Mapping[str, Any] = NOTHING  # of the item
    part_fields: Mapping[str, Any] = NOTHING  # of the part
    at: Mapping[str, Any] = NOTHING  # of every event of the part
    more: Mapping[str, Any] = NOTHING  # of every event of what is said


_ASSISTANT = MappingProxyType({"role": "assistant"})
_FIRST = MappingProxyType({"content_index": 0})

TEXT = Kind(
    "message", "msg", "output_text", "text", "content", "content_part", _ASSISTANT,
    MappingProxyType({"type": "output_text", "annotations": [], "logprobs": []}), _FIRST,
    MappingProxyType({"logprobs": []}),
)  # fmt: skip
REFUSAL = Kind(
    "message", "msg", "refusal", "refusal", "content", "content_part", _ASSISTANT,
    MappingProxyType({"type": "refusal"}), _FIRST,
)  # fmt: skip
THINKING = Kind(
    "reasoning", "rs", "reasoning_summary_text", "text", "summary", "reasoning_summary_part", NOTHING,
    MappingProxyType({"type": "summary_text"}), MappingProxyType({"summary_index": 0}),
)  # fmt: skip
FUNCTION = Kind("function_call", "fc", "function_call_arguments", "arguments")
CUSTOM = Kind("custom_tool_call", "ctc", "custom_tool_call_input", "input")
SEARCH = Kind("tool_search_call", "tsc", "", "arguments", fields=MappingProxyType({"execution": "client"}))

KINDS: Mapping[type[Text | Refusal | Thinking], Kind] = MappingProxyType(
    {Text: TEXT, Refusal: REFUSAL, Thinking: THINKING}
)
