"""Who can serve a request at all."""

import pytest
from msgspec import structs

from pointsman.domain.ask import Ask
from pointsman.domain.capability import Capability
from pointsman.domain.decision import Excluded, Exclusion
from pointsman.domain.holder import Holder
from pointsman.domain.preferences import Demands, Preferences
from pointsman.domain.request import Dialect
from pointsman.domain.target import Member
from pointsman.routing import eligibility
from pointsman.routing.strategies import STRATEGIES
from pointsman.testing import builders


def member(*, weight: float = 1.0, **changes: object) -> Member:
    return Member(structs.replace(builders.target("a/m"), **changes), weight)


def test_usual_target_is_eligible() -> None:
    group = builders.group("chat", "a/m", "b/m")

    found = eligibility.split(builders.ask(), group)

    assert (found.members, found.excluded) == ((0, 1), ())


@pytest.mark.parametrize(
    ("excluded", "rule"),
    [
        (member(weight=0), Exclusion.WEIGHT_ZERO),
        (member(dialects=frozenset()), Exclusion.DIALECT_UNSUPPORTED),
        (member(has_credential=False), Exclusion.NO_CREDENTIAL),
    ],
    ids=["weight", "dialect", "credential"],
)
def test_target_is_excluded_with_the_rule(excluded: Member, rule: Exclusion) -> None:
    group = structs.replace(builders.group("chat", "b/m"), members=(excluded, Member(builders.target("b/m"), 1.0)))

    found = eligibility.split(builders.ask(), group)

    assert found.members == (1,)
    assert found.excluded == (Excluded("a/m", rule),)


def test_first_rule_that_fits_is_the_one_that_is_named() -> None:
    group = structs.replace(builders.group("chat", "a/m"), members=(member(weight=0, has_credential=False),))

    assert eligibility.split(builders.ask(), group).excluded == (Excluded("a/m", Exclusion.WEIGHT_ZERO),)


@pytest.mark.req("D-020")
def test_target_that_speaks_the_dialect_among_others_is_eligible() -> None:
    speaks = member(dialects=frozenset(Dialect))

    group = structs.replace(builders.group("chat", "a/m"), members=(speaks,))

    assert eligibility.split(builders.ask(), group).members == (0,)


def test_group_that_is_defined_anew_is_looked_at_anew() -> None:
    before = builders.group("chat", ("a/m", 0))
    after = builders.group("chat", ("a/m", 1))

    found = [eligibility.split(builders.ask(), group).members for group in (before, after, before)]

    assert found == [(), (0,), ()]


def test_group_may_mix_dialects_and_a_request_meets_only_targets_that_speak_its_own() -> None:
    chat, both = member(), member()
    both = structs.replace(both, target=structs.replace(both.target, dialects=frozenset(Dialect)))
    group = structs.replace(builders.group("chat", "a/m"), members=(chat, both))

    found = eligibility.split(builders.ask(dialect=Dialect.ANTHROPIC_MESSAGES), group)

    assert found.members == (1,)
    assert found.excluded == (Excluded("a/m", Exclusion.DIALECT_UNSUPPORTED),)


TOOLS = Demands(needs=(Capability.TOOLS,))
NO_TOOLS = builders.traits(unable=("tools",))


@pytest.mark.req("D-004", "D-023", "C-14")
def test_authority_is_configuration_then_key_then_need_then_preference() -> None:
    wanted = Demands((Capability.TOOLS,), None, Preferences(ignore=("a",)), Preferences(zdr=True))
    group = builders.group("chat", ("a/m", 0), traits={"a/m": NO_TOOLS})
    weighty = builders.group("chat", "a/m", traits={"a/m": NO_TOOLS})
    steps = [(group, wanted), (weighty, wanted), (weighty, structs.replace(wanted, key_policy=Preferences()))]

    found = [eligibility.split(builders.ask(demands=demands), of).excluded[0].rule for of, demands in steps]

    assert found == [Exclusion.WEIGHT_ZERO, Exclusion.KEY_POLICY, Exclusion.NO_TOOLS]


@pytest.mark.req("D-023")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_filters_hold_for_every_strategy(strategy: str) -> None:
    group = builders.group("chat", "a/m", "b/m", strategy=strategy, traits={"a/m": NO_TOOLS})

    found = eligibility.split(builders.ask(demands=TOOLS), group)

    assert (found.members, found.excluded) == ((1,), (Excluded("a/m", Exclusion.NO_TOOLS),))


def test_request_without_demands_meets_the_fixed_rules_only() -> None:
    group = builders.group("chat", "a/m", traits={"a/m": NO_TOOLS})

    assert eligibility.split(builders.ask(), group).members == (0,)


@pytest.mark.bug("B-09")
def test_target_whose_window_is_too_small_is_out_after_all_other_rules() -> None:
    small, unable = builders.traits(context_tokens=8_000), builders.traits(unable=("tools",), context_tokens=8_000)
    group = builders.group("chat", "a/m", "b/m", "c/m", traits={"a/m": small, "b/m": unable})

    found = eligibility.split(builders.ask(demands=TOOLS), group, builders.lengths(group, 10_000))

    assert found.members == (2,)
    assert found.excluded == (Excluded("b/m", Exclusion.NO_TOOLS), Excluded("a/m", Exclusion.CONTEXT_TOO_SMALL))
    assert eligibility.split(builders.ask(demands=TOOLS), group, builders.lengths(group, 1_000)).members == (0, 2)


@pytest.mark.parametrize("dialect", [Dialect.OPENAI_EMBEDDINGS, Dialect.OPENAI_COMPLETIONS])
def test_many_texts_in_one_request_are_not_measured_as_one(dialect: Dialect) -> None:
    group = builders.group("chat", "a/m", traits={"a/m": builders.traits(context_tokens=8_000)})
    speaks_all = structs.replace(group.members[0].target, dialects=frozenset(Dialect))
    group = structs.replace(group, members=(structs.replace(group.members[0], target=speaks_all),))

    found = eligibility.split(builders.ask(dialect=dialect, demands=Demands()), group, builders.lengths(group, 100_000))

    assert found.members == (0,)


@pytest.mark.parametrize(("dialect", "members"), [(Dialect.OPENAI_EMBEDDINGS, (0,)), (Dialect.OPENAI_CHAT, (0, 1))])
def test_unlike_models_never_stand_in_for_each_other_where_vectors_are_compared(
    dialect: Dialect, members: tuple[int, ...]
) -> None:
    usual = member(dialects=frozenset(Dialect))
    unlike = structs.replace(usual, shares_space=False)
    group = structs.replace(builders.group("chat", "a/m"), members=(usual, unlike))

    found = eligibility.split(builders.ask(dialect=dialect), group)

    assert found.members == members
    assert {excluded.rule for excluded in found.excluded} <= {Exclusion.EMBEDDING_SPACE}


def bound(state_key: str, provider: str) -> Ask:
    return structs.replace(builders.ask(), bound_to=Holder(state_key, provider, "chat"))


@pytest.mark.bug("D-03")
@pytest.mark.parametrize(
    ("holder", "members"),
    [
        (("a/m", "a"), (0,)),
        (("b/m", "b"), (1,)),
        (("a/gone", "a"), (0, 2)),
        (("c/m", "c"), ()),
    ],
    ids=["the target", "another target", "others of its account", "nobody"],
)
def test_request_goes_to_who_keeps_what_it_builds_on(holder: tuple[str, str], members: tuple[int, ...]) -> None:
    group = builders.group("chat", "a/m", "b/m", "a/n")

    found = eligibility.split(bound(*holder), group)

    assert found.members == members
    assert {excluded.rule for excluded in found.excluded} == {Exclusion.STATE_ELSEWHERE}


@pytest.mark.bug("D-03")
def test_who_keeps_it_must_be_able_to_serve_all_the_same() -> None:
    group = builders.group("chat", ("a/m", 0), "b/m")

    found = eligibility.split(bound("a/m", "a"), group)

    assert [excluded.rule for excluded in found.excluded] == [Exclusion.WEIGHT_ZERO, Exclusion.STATE_ELSEWHERE]
