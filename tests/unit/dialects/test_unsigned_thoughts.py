"""Thoughts that nobody signed, and the provider that would refuse them."""

import json
from typing import Any

import pytest

from pointsman.dialects.unsigned_thoughts import without_unsigned_thoughts
from pointsman.testing import messages

UNSIGNED = messages.thinking_block("hm", signature="")
SIGNED = messages.thinking_block("so")
SEALED = {"type": "redacted_thinking", "data": "x"}
TEXT = messages.text_block('é "signature":""')
ASKED = {"role": "user", "content": "hi"}
COMPACT, SPACED = (",", ":"), (", ", ": ")


def said(*blocks: object) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def written(*conversation: object, separators: tuple[str, str] = COMPACT) -> bytes:
    body = {"model": "m", "thinking": {"type": "enabled"}, "messages": list(conversation), "n": 1}
    return json.dumps(body, separators=separators, ensure_ascii=False).encode()


@pytest.mark.bug("G-09")
@pytest.mark.parametrize("separators", [COMPACT, SPACED], ids=["compact", "spaced"])
@pytest.mark.parametrize(
    ("blocks", "left"),
    [
        ([UNSIGNED, TEXT], [TEXT]),
        ([TEXT, UNSIGNED], [TEXT]),
        ([TEXT, UNSIGNED, TEXT], [TEXT, TEXT]),
        ([UNSIGNED, UNSIGNED, TEXT], [TEXT]),
        ([SIGNED, TEXT, UNSIGNED], [SIGNED, TEXT]),
        ([UNSIGNED, SEALED, {"type": "thinking", "thinking": "hm"}], [SEALED]),
    ],
)
def test_they_go_and_every_other_byte_stays(blocks: Any, left: Any, separators: tuple[str, str]) -> None:
    found = without_unsigned_thoughts(written(ASKED, said(*blocks), ASKED, separators=separators))

    assert found == written(ASKED, said(*left), ASKED, separators=separators)


@pytest.mark.bug("G-13")
def test_a_turn_that_says_nothing_else_goes_with_them() -> None:
    assert without_unsigned_thoughts(written(ASKED, said(UNSIGNED), ASKED)) == written(ASKED, ASKED)


@pytest.mark.parametrize(
    "conversation",
    [
        [ASKED, said(SIGNED, TEXT)],
        [ASKED, {"role": "assistant", "content": 'says "signature":""'}],
        [said({"type": "other", "signature": ""})],
        [said({"type": 5, "signature": ""})],
        [{"content": None, "signature": ""}],
        [{"signature": ""}],
        [["signature", {"signature": ""}]],
        [],
    ],
    ids=["signed", "text", "other", "mistyped", "null", "without_content", "no_message", "nothing"],
)
def test_all_else_is_left_to_the_provider_to_judge(conversation: list[object]) -> None:
    body = written(*conversation)

    assert without_unsigned_thoughts(body) == body


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m","system":[{"signature":""}]}',
        b'{"messages":"x","a":{"signature":""}}',
        b'{"messages":[{"content":[{"signature":""}],"content":[{"signature":""}]}]}',
    ],
    ids=["no_messages", "mistyped", "repeated"],
)
def test_shapes_that_are_none_stay_as_they_are(body: bytes) -> None:
    assert without_unsigned_thoughts(body) == body


def test_a_conversation_of_such_thoughts_only_stays_as_it_is() -> None:
    body = written(said(UNSIGNED))

    assert without_unsigned_thoughts(body) == body
