"""The list of models in Anthropic's shape."""

from typing import Any

import msgspec
import pytest
from msgspec import structs

from pointsman.domain.errors import GatewayError
from pointsman.domain.request import Caller
from pointsman.proxy import anthropic_models
from pointsman.testing import builders

NAMES = ["a", "b", "c", "d", "e"]
CONFIG = builders.snapshot([builders.group("a", "p/m", aliases=("c", "e")), builders.group("d", "p/m", aliases=("b",))])
ANYBODY = builders.caller()
SOMEBODY = structs.replace(ANYBODY, groups=frozenset(("a",)))


def page(query: str = "", config: Any = CONFIG, caller: Caller = ANYBODY) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(anthropic_models.page(caller, config, query))
    return found


@pytest.mark.bug("J-07")
@pytest.mark.parametrize(
    ("query", "names", "has_more"),
    [
        ("", "abcde", False),
        ("limit=5", "abcde", False),
        ("limit=2", "ab", True),
        ("limit=2&after_id=b", "cd", True),
        ("limit=2&after_id=c", "de", False),
        ("after_id=e", "", False),
        ("limit=2&before_id=d", "bc", True),
        ("limit=2&before_id=c", "ab", False),
        ("before_id=a", "", False),
        ("limit=1000", "abcde", False),
        ("beta=true&lifecycle=active", "abcde", False),
    ],
)
def test_page_has_the_names_that_were_asked_for(query: str, names: str, has_more: bool) -> None:
    found = page(query)

    assert "".join(model["id"] for model in found["data"]) == names
    ends = (names[0], names[-1]) if names else (None, None)
    assert (found["has_more"], found["first_id"], found["last_id"]) == (has_more, *ends)


def test_page_has_20_names_unless_asked_for_more() -> None:
    many = builders.snapshot([builders.group(f"g{number:02}", "p/m") for number in range(30)])

    assert len(page(config=many)["data"]) == 20


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=99999999999", "limit"),
        ("limit=-1", "limit"),
        ("limit=x", "limit"),
        ("limit=%C2%B2", "limit"),
        ("after_id=zzz", "after_id"),
        ("before_id=zzz", "before_id"),
    ],
)
def test_page_that_cannot_be_is_refused_with_the_field(query: str, param: str) -> None:
    with pytest.raises(GatewayError) as raised:
        page(query)

    assert (raised.value.status, raised.value.param) == (400, param)


def test_each_model_has_anthropics_fields() -> None:
    assert msgspec.json.decode(anthropic_models.one("c", ANYBODY, CONFIG)) == {
        "type": "model",
        "id": "c",
        "display_name": "c",
        "created_at": "2027-01-15T08:00:00.000Z",
        "lifecycle": "active",
    }


def test_unknown_model_is_not_found() -> None:
    with pytest.raises(GatewayError) as raised:
        anthropic_models.one("p/m", ANYBODY, CONFIG)

    assert raised.value.status == 404


def test_only_what_the_caller_may_use_is_shown() -> None:
    assert [model["id"] for model in page(caller=SOMEBODY)["data"]] == ["a", "c", "e"]
    with pytest.raises(GatewayError):
        anthropic_models.one("d", SOMEBODY, CONFIG)
