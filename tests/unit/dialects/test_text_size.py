"""How much text a body holds."""

import json

import pytest

from pointsman.dialects.text_size import MAX_COUNTED_BYTES, text_size, with_text_size
from pointsman.domain.request import Script
from pointsman.testing import builders

IMAGE = "data:image/png;base64," + "iVBORw0KGgo" * 1_000
CHINESE = "我们需要一份关于铁路信号的报告" * 20
RUSSIAN = "Нам нужен отчёт про железнодорожные сигналы. " * 20
ENGLISH = "We need a report on railway signals. " * 20


def body(*contents: object, escaped: bool = False) -> bytes:
    messages = [{"role": "user", "content": content} for content in contents]
    return json.dumps({"model": "chat", "messages": messages}, ensure_ascii=escaped).encode()


@pytest.mark.parametrize(
    ("text", "script"), [(ENGLISH, Script.LATIN), (RUSSIAN, Script.LATIN), (CHINESE, Script.CJK), ("", Script.LATIN)]
)
def test_characters_are_counted_and_most_of_them_name_the_script(text: str, script: Script) -> None:
    raw = body(text)

    assert text_size(raw) == (len(raw.decode()), script)


def test_escaped_text_has_as_many_characters_as_plain_text() -> None:
    chars, script = text_size(body(CHINESE, escaped=True))

    assert chars == pytest.approx(text_size(body(CHINESE))[0], abs=1)
    assert script is Script.CJK


def test_share_of_escapes_is_taken_from_the_end_of_a_long_body() -> None:
    chars, _ = text_size(body(*[CHINESE] * 50, escaped=True))

    assert chars == pytest.approx(text_size(body(*[CHINESE] * 50))[0], rel=0.05)


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
def test_images_are_no_text(text: str) -> None:
    parts = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": IMAGE}}]

    chars, script = text_size(body(parts, parts))

    assert len(text) * 2 < chars < len(text) * 2 + 500
    assert script is text_size(body(text))[1]


@pytest.mark.parametrize("space", ["", " "])
def test_images_and_files_of_anthropic_are_no_text(space: str) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo+/A==" * 1_000}
    raw = json.dumps([source, ENGLISH, source], separators=("," + space, ":" + space)).encode()

    chars, _ = text_size(raw)

    assert len(ENGLISH) < chars < len(ENGLISH) + 500


@pytest.mark.parametrize("data", ["aGVsbG8=", "two words " * 100])
def test_what_merely_is_called_data_is_text(data: str) -> None:
    raw = json.dumps({"data": data}).encode()

    assert text_size(raw)[0] == len(raw)


def test_image_without_an_end_is_text_no_more() -> None:
    assert text_size(b"x;base64,AAAA")[0] >= 0


def test_very_long_body_is_measured_in_bytes() -> None:
    raw = body(CHINESE * (MAX_COUNTED_BYTES // len(CHINESE)))

    assert text_size(raw) == (len(raw), Script.LATIN)


def test_facts_get_the_size_and_keep_all_else() -> None:
    raw = body(ENGLISH)

    facts = with_text_size(builders.facts(tool_count=3), raw)

    assert facts == builders.facts(tool_count=3, text_chars=len(raw), script=Script.LATIN)
