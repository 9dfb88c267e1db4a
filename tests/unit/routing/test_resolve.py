"""Which group a name means."""

import pytest
from msgspec import structs

from pointsman.domain.ask import Ask
from pointsman.domain.errors import GatewayError
from pointsman.domain.request import Caller
from pointsman.routing.resolve import group_for, names_for, unknown_model
from pointsman.testing import builders

ONLY_CHAT = structs.replace(builders.caller(), groups=frozenset(("chat",)))
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


@pytest.mark.parametrize("name", ["chat", "fast"])
def test_group_that_the_caller_may_use_is_found_by_all_of_its_names(name: str) -> None:
    assert group_for(ask_of(ONLY_CHAT, name)).name == "chat"


def test_group_of_others_is_forbidden_and_the_place_of_the_list_is_told() -> None:
    with pytest.raises(GatewayError) as caught:
        group_for(ask_of(ONLY_CHAT, "code"))

    assert (caught.value.status, caught.value.code, caught.value.param) == (403, "permission_denied", "model")
    assert caught.value.message == ("This API key may not use the model 'code'. GET /v1/models lists those it may use.")


def test_caller_without_any_group_may_use_none() -> None:
    with pytest.raises(GatewayError) as caught:
        group_for(ask_of(structs.replace(ONLY_CHAT, groups=frozenset()), "chat"))

    assert caught.value.status == 403


def test_unknown_name_is_not_answered_with_the_names_of_others() -> None:
    with pytest.raises(GatewayError) as caught:
        group_for(ask_of(ONLY_CHAT, "cod"))

    assert caught.value.status == 404
    assert "'code'" not in caught.value.message


def ask_of(caller: Caller, name: str) -> Ask:
    return structs.replace(builders.ask(config=CONFIG, model=name), caller=caller)


def test_names_are_compared_exactly() -> None:
    with pytest.raises(GatewayError):
        group_for(builders.ask(config=CONFIG, model="Chat"))


# --- suffixes and single targets

DIRECT = structs.replace(CONFIG, direct={"b/m": builders.group("b/m", "b/m")})
LISTS_IT = structs.replace(builders.caller(), groups=frozenset(("chat", "b/m")))


@pytest.mark.parametrize("name", ["chat:floor", "fast:floor"])
def test_floor_is_the_group_sorted_by_price(name: str) -> None:
    group = group_for(builders.ask(config=CONFIG, model=name))

    assert (group.name, group.policy.strategy) == ("chat", "cost")


@pytest.mark.parametrize("name", ["chat:nitro", "fast:nitro"])
def test_nitro_is_the_group_sorted_by_throughput(name: str) -> None:
    group = group_for(builders.ask(config=CONFIG, model=name))

    assert (group.name, group.policy.strategy) == ("chat", "throughput")


def test_group_of_exactly_that_name_comes_before_its_suffix() -> None:
    config = builders.snapshot([builders.group("chat", "a/m"), builders.group("chat:floor", "b/m")])

    assert group_for(builders.ask(config=config, model="chat:floor")).policy.strategy == "weighted"


@pytest.mark.parametrize("name", ["chat:roof", "cht:floor", ":floor", "floor", "chat:"])
def test_unknown_suffix_or_group_is_unknown(name: str) -> None:
    with pytest.raises(GatewayError) as caught:
        group_for(builders.ask(config=CONFIG, model=name))

    assert caught.value.status == 404


def test_suffix_opens_no_group_of_others() -> None:
    with pytest.raises(GatewayError) as caught:
        group_for(ask_of(ONLY_CHAT, "code:floor"))

    assert caught.value.status == 403


def test_single_target_is_found_by_the_key_that_lists_it() -> None:
    ask = structs.replace(ask_of(LISTS_IT, "b/m"), snapshot=DIRECT)

    assert group_for(ask).name == "b/m"
    assert sorted(names_for(LISTS_IT, DIRECT)) == ["b/m", "chat", "fast"]


@pytest.mark.parametrize("caller", [ONLY_CHAT, builders.caller()])
def test_single_target_is_unknown_to_every_other_key(caller: Caller) -> None:
    ask = structs.replace(ask_of(caller, "b/m"), snapshot=DIRECT)

    with pytest.raises(GatewayError) as caught:
        group_for(ask)

    assert caught.value.status == 404
    assert "b/m" not in names_for(caller, DIRECT)
