"""The list of models."""

import msgspec
import pytest

from pointsman.domain.errors import GatewayError
from pointsman.proxy import models
from pointsman.testing import builders

CONFIG = builders.snapshot([builders.group("chat", "a/m", aliases=("fast",)), builders.group("code", "b/m")])


@pytest.mark.bug("J-07")
def test_list_names_every_group_and_alias_and_no_target() -> None:
    listing = msgspec.json.decode(models.listing(CONFIG))

    assert listing["object"] == "list"
    assert [model["id"] for model in listing["data"]] == ["chat", "code", "fast"]


def test_each_model_has_openais_fields() -> None:
    assert msgspec.json.decode(models.one("fast", CONFIG)) == {
        "id": "fast",
        "object": "model",
        "created": CONFIG.created_utc,
        "owned_by": "pointsman",
    }


def test_unknown_model_is_not_found() -> None:
    with pytest.raises(GatewayError) as caught:
        models.one("a/m", CONFIG)

    assert caught.value.status == 404
