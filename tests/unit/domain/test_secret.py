"""A secret is never shown."""

import copy
import json
import logging
import pickle
from collections.abc import Callable

import msgspec
import pytest

from pointsman.domain.secret import Secret
from pointsman.testing import builders

TEXT = "sk-very-secret"
SHOWN: dict[str, Callable[[Secret], str]] = {
    "str": str,
    "repr": repr,
    "format": lambda secret: f"{secret}",
    "format with a width": lambda secret: f"{secret:>40}",
    "inside a list": lambda secret: str([secret]),
    "inside a provider": lambda _: repr(builders.provider("a", api_key=TEXT)),
    "in a log line": lambda secret: logging.makeLogRecord({"msg": "%s %r", "args": (secret, secret)}).getMessage(),
}


@pytest.mark.case("I14")
@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
def test_secret_is_shown_as_stars(shown: Callable[[Secret], str]) -> None:
    text = shown(Secret(TEXT))

    assert TEXT not in text
    assert "***" in text


@pytest.mark.case("I14")
@pytest.mark.parametrize("leak", [pickle.dumps, copy.copy, copy.deepcopy, json.dumps, msgspec.json.encode])
def test_secret_cannot_be_written_or_copied(leak: Callable[[Secret], object]) -> None:
    with pytest.raises(TypeError) as caught:
        leak(Secret(TEXT))

    assert TEXT not in str(caught.value)


def test_secret_gives_itself_back_only_when_asked() -> None:
    assert Secret(TEXT).reveal() == TEXT


def test_equal_secrets_are_equal() -> None:
    same, other = {Secret(TEXT), Secret(TEXT)}, Secret("other")

    assert len(same) == 1
    assert other not in same
    assert Secret(TEXT) != TEXT
