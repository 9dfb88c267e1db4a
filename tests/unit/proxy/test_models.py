"""The list of models."""

import msgspec
import pytest

from pointsman.domain.errors import GatewayError
from pointsman.proxy import models
from pointsman.testing import builders

ALICE = builders.caller()
ONLY_CHAT = msgspec.structs.replace(ALICE, groups=frozenset(("chat",)))
CONFIG = builders.snapshot([builders.group("chat", "a/m", aliases=("fast",)), builders.group("code", "b/m")])


@pytest.mark.bug("J-07")
def test_list_names_every_group_and_alias_and_no_target() -> None:
    listing = msgspec.json.decode(models.listing(ALICE, CONFIG))

    assert listing["object"] == "list"
    assert [model["id"] for model in listing["data"]] == ["chat", "code", "fast"]


@pytest.mark.bug("J-07")
def test_list_names_what_the_caller_may_use_by_all_of_its_names_and_nothing_else() -> None:
    listing = msgspec.json.decode(models.listing(ONLY_CHAT, CONFIG))

    assert [model["id"] for model in listing["data"]] == ["chat", "fast"]


def test_each_model_has_openais_fields() -> None:
    assert msgspec.json.decode(models.one("fast", ONLY_CHAT, CONFIG)) == {
        "id": "fast",
        "object": "model",
        "created": CONFIG.created_utc,
        "owned_by": "pointsman",
    }


def test_unknown_model_is_not_found() -> None:
    with pytest.raises(GatewayError) as caught:
        models.one("a/m", ALICE, CONFIG)

    assert caught.value.status == 404


@pytest.mark.bug("J-07")
def test_model_of_others_is_not_found_like_one_that_nobody_has() -> None:
    with pytest.raises(GatewayError) as foreign:
        models.one("code", ONLY_CHAT, CONFIG)
    with pytest.raises(GatewayError) as unknown:
        models.one("cod_", ONLY_CHAT, CONFIG)

    assert foreign.value.status == unknown.value.status == 404
    assert foreign.value.message.replace("code", "cod_") == unknown.value.message
