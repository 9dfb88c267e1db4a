"""Which group a name means."""

import pytest

from pointsman.domain.errors import GatewayError
from pointsman.routing.resolve import group_for, unknown_model
from pointsman.testing import builders

CONFIG = builders.snapshot([builders.group("chat", "a/m", aliases=("fast",)), builders.group("code", "b/m")])


@pytest.mark.parametrize(("name", "group"), [("chat", "chat"), ("fast", "chat"), ("code", "code")])
def test_name_or_alias_means_its_group(name: str, group: str) -> None:
    assert group_for(builders.ask(config=CONFIG, model=name)).name == group


def test_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(GatewayError) as caught:
        group_for(builders.ask(config=CONFIG, model="cht"))

    assert (caught.value.status, caught.value.code, caught.value.param) == (404, "model_not_found", "model")
    assert "Did you mean 'chat'" in caught.value.message


def test_name_like_nothing_is_refused_with_the_place_of_the_list() -> None:
    assert "GET /v1/models" in unknown_model("zzzzzzzz", ["chat"]).message


def test_endless_name_is_cut_in_the_message() -> None:
    assert len(unknown_model("x" * 1_000_000, ["chat"]).message) < 300


def test_names_are_compared_exactly() -> None:
    with pytest.raises(GatewayError):
        group_for(builders.ask(config=CONFIG, model="Chat"))
