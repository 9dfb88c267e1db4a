"""Who can serve a request at all."""

import pytest
from msgspec import structs

from pointsman.domain.decision import Excluded, Exclusion
from pointsman.domain.request import Dialect
from pointsman.domain.target import Member
from pointsman.routing import eligibility
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

    assert eligibility.dialect(Dialect.OPENAI_CHAT, speaks) is None


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
