"""Short constructors give what their names say, and nothing else unusual."""

import pytest

from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.request import Dialect, Scope
from pointsman.domain.view import Breaker
from pointsman.testing import builders


def test_target_is_named_by_provider_and_model() -> None:
    target = builders.target("a/org/model")

    assert (target.id, target.provider, target.upstream_model) == ("a/org/model", "a", "org/model")
    assert target.state_key == "a/org/model"


def test_member_without_a_weight_has_weight_one() -> None:
    group = builders.group("chat", "a/m", ("b/m", 3.0), aliases=("gpt",))

    assert [(member.target.id, member.weight) for member in group.members] == [("a/m", 1.0), ("b/m", 3.0)]
    assert (group.name, group.aliases) == ("chat", ("gpt",))


def test_policy_takes_overrides() -> None:
    policy = builders.policy("failover", strategy_reason="default")

    assert (policy.strategy, policy.strategy_reason) == ("failover", "default")


def test_unknown_override_is_refused() -> None:
    with pytest.raises(TypeError):
        builders.policy(no_such_field=1)


def test_facts_are_a_short_unary_chat() -> None:
    facts = builders.facts(stream=True)

    assert (facts.dialect, facts.model, facts.stream) == (Dialect.OPENAI_CHAT, "chat", True)


@pytest.mark.parametrize(("scopes", "held"), [((), {Scope.CHAT}), ((Scope.CHAT,), {Scope.CHAT})])
def test_caller_may_chat_unless_scopes_are_named(scopes: tuple[Scope, ...], held: set[Scope]) -> None:
    assert builders.caller("bob", *scopes).scopes == held


def test_ask_without_configuration_has_one_group() -> None:
    ask = builders.ask(model="other")

    assert list(ask.snapshot.groups) == ["chat"]
    assert (ask.caller.name, ask.facts.model) == ("alice", "other")


def test_snapshot_finds_groups_by_name_and_alias_and_makes_their_providers() -> None:
    snapshot = builders.snapshot([builders.group("chat", "b/m", "a/m", aliases=("gpt",))], config_version=3)

    assert snapshot.groups["gpt"] is snapshot.groups["chat"]
    assert list(snapshot.providers) == ["a", "b"]
    assert snapshot.config_version == 3


def test_snapshot_takes_the_providers_it_is_given() -> None:
    account = builders.provider("z")

    assert builders.snapshot([], [account]).providers == {"z": account}


@pytest.mark.parametrize(
    ("base_url", "scheme", "host", "port", "prefix"),
    [
        ("http://127.0.0.1:9/v1", "http", "127.0.0.1", 9, "/v1"),
        ("https://example.com/api/v1/", "https", "example.com", 443, "/api/v1"),
        ("http://example.com", "http", "example.com", 80, ""),
    ],
)
def test_provider_is_at_the_origin_of_its_base_url(
    base_url: str, scheme: str, host: str, port: int, prefix: str
) -> None:
    provider = builders.provider("a", base_url)

    origin = provider.origin
    assert (origin.scheme, origin.host, origin.port, provider.path_prefix) == (scheme, host, port, prefix)


def test_provider_has_a_key_only_if_given() -> None:
    assert builders.provider("a").api_key is None
    assert "sk-made-up" not in repr(builders.provider("a", api_key="sk-made-up"))


@pytest.mark.parametrize(("breaker", "is_calm"), [(Breaker.CLOSED, True), (Breaker.OPEN, False)])
def test_group_is_calm_only_if_all_breakers_are_closed(breaker: Breaker, is_calm: bool) -> None:
    seen = builders.group_view(builders.view(), builders.view(breaker=breaker))

    assert seen.is_calm is is_calm
    assert seen.turn_credits == (0.0, 0.0)


def test_turn_credits_can_be_given() -> None:
    assert builders.group_view(builders.view(), turn_credits=(0.5,)).turn_credits == (0.5,)


def test_outcome_is_ok_unless_named() -> None:
    assert builders.outcome().outcome_class is OutcomeClass.OK
    assert builders.outcome("rate_limited", status=429).outcome_class is OutcomeClass.RATE_LIMITED
