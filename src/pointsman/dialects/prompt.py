"""What a request is about, by marks in its messages: found for groups that go by it, and in a bounded part (pure).

Patterns read the bytes of JSON, where a line ends with an escape of two characters. They are marks, not a judgement: a
word in another sense is a mark, too.
"""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

from msgspec import structs

from pointsman.dialects.needs import type_pattern
from pointsman.domain.request import RequestFacts
from pointsman.domain.score_policy import PromptFeature

_LINE = rb'(?:\\n|"|^)[ \t]*'
_MARKS: Mapping[PromptFeature, re.Pattern[bytes]] = MappingProxyType(
    {
        PromptFeature.CODE: re.compile(
            rb"```|%b(?:def \w+\(|class \w+[(:]|import \w|from [\w.]+ import |#include ?<|func \w+\(|fn \w+\()"
            rb"|\bfunction ?\w*\(|\bSELECT\b[^\"]{1,200}\bFROM\b" % _LINE
        ),
        PromptFeature.DIFF: re.compile(rb"diff --git |%b@@ -\d+(?:,\d+)? \+\d+" % _LINE),
        PromptFeature.STACK_TRACE: re.compile(
            rb"Traceback \(most recent call last\)|Exception in thread|segmentation fault|error\[E\d"
            rb"|%bpanic: |%bat [\w$.<>]+ ?\(" % (_LINE, _LINE)
        ),
        PromptFeature.SUMMARIZE: re.compile(rb"\bsummari[sz]e|\bsummary\b|\btl;?dr\b", re.IGNORECASE),
        PromptFeature.EXTRACT: re.compile(rb"\bextract(?:s|ed|ing)?\b|\bpull out\b", re.IGNORECASE),
        PromptFeature.TRANSLATE: re.compile(rb"\btranslat(?:e|es|ed|ing|ion)\b", re.IGNORECASE),
        PromptFeature.SECURITY_REVIEW: re.compile(
            rb"\bsecurity (?:review|audit|issue)|\bvulnerabilit(?:y|ies)\b|\bCVE-\d{4}|\bpenetration test",
            re.IGNORECASE,
        ),
    }
)
_IMAGES = type_pattern(b"image_url", b"input_image", b"image")
_MAX_LOOKED_AT_BYTES = 1 << 20  # for images: further back none would be new


def with_prompt(
    facts: RequestFacts, messages: bytes, wanted: Collection[PromptFeature], max_bytes: int
) -> RequestFacts:
    """The facts, and what the request is about. Of long messages both ends are read, half of `max_bytes` each."""
    text = _ends(messages, max_bytes)
    found = [feature for feature, marks in _MARKS.items() if feature in wanted and marks.search(text)]
    if facts.tool_count and PromptFeature.TOOL_AGENT in wanted:
        found.append(PromptFeature.TOOL_AGENT)
    has_images = _IMAGES.search(messages[-_MAX_LOOKED_AT_BYTES:]) is not None
    return structs.replace(facts, features=tuple(found), has_images=has_images)


def _ends(messages: bytes, max_bytes: int) -> bytes:
    if len(messages) <= max_bytes:
        return messages
    half = max_bytes // 2
    return b"%b %b" % (messages[:half], messages[len(messages) - half :])
