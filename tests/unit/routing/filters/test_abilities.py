"""What a request needs against what a target can do: true, false and not known are three things."""

import pytest

from pointsman.domain.capability import Capability
from pointsman.domain.decision import EXCLUSION_TEXT, Exclusion
from pointsman.domain.preferences import Demands
from pointsman.domain.request import Dialect
from pointsman.domain.target import Member
from pointsman.domain.view import LengthView
from pointsman.routing.filters import abilities
from pointsman.routing.filters.asked import Asked
from pointsman.testing import builders


def asked(*needs: Capability, requires: tuple[Capability, ...] = (), cap: int | None = None) -> Asked:
    return Asked(Dialect.OPENAI_CHAT, builders.policy(requires=frozenset(requires)), Demands(needs, cap))


def member(*able: str, **known: object) -> Member:
    return Member(builders.target("a/m", traits=builders.traits(*able, **known)), 1.0)


@pytest.mark.req("D-021", "D-022", "D-023")
@pytest.mark.parametrize("need", list(Capability))
def test_what_is_known_to_be_missing_excludes_with_a_rule_of_its_own(need: Capability) -> None:
    rule = abilities.capabilities(asked(need), member(unable=(need,)))

    assert rule is abilities._LACKS[need]
    assert rule in EXCLUSION_TEXT


@pytest.mark.bug("B-10")
@pytest.mark.parametrize("need", list(Capability))
@pytest.mark.parametrize("able", [(), (*Capability,)])
def test_what_is_there_or_not_known_keeps_nobody_out(need: Capability, able: tuple[str, ...]) -> None:
    assert abilities.capabilities(asked(need), member(*able)) is None


def test_what_is_missing_matters_to_requests_that_need_it_only() -> None:
    assert abilities.capabilities(asked(Capability.IMAGES), member(unable=("tools",))) is None


@pytest.mark.req("D-013")
@pytest.mark.parametrize(
    ("able", "rule"), [((), Exclusion.NOT_PROVEN), (("tools",), None), (("images",), Exclusion.NOT_PROVEN)]
)
def test_group_that_wants_proof_excludes_what_is_not_known(able: tuple[str, ...], rule: Exclusion | None) -> None:
    wants = asked(Capability.TOOLS, requires=(Capability.TOOLS,))

    assert abilities.capabilities(wants, member(*able)) is rule


def test_proof_is_wanted_of_what_the_request_needs_only() -> None:
    assert abilities.capabilities(asked(requires=(Capability.TOOLS,)), member()) is None


@pytest.mark.bug("B-10")
@pytest.mark.parametrize(
    ("most", "cap", "rule"),
    [(100, 101, Exclusion.OUTPUT_TOO_SHORT), (100, 100, None), (100, None, None), (None, 10**9, None)],
)
def test_cap_above_what_a_model_can_write_excludes_it(
    most: int | None, cap: int | None, rule: Exclusion | None
) -> None:
    assert abilities.max_output(asked(cap=cap), member(max_output_tokens=most)) is rule


@pytest.mark.parametrize(
    ("requires", "window", "rule"), [(True, None, Exclusion.NOT_PROVEN), (True, 1, None), (False, None, None)]
)
def test_window_that_is_not_known_excludes_where_it_must_be_known(
    requires: bool, window: int | None, rule: Exclusion | None
) -> None:
    wants = Asked(Dialect.OPENAI_CHAT, builders.policy(requires_window=requires), Demands())

    assert abilities.window_is_known(wants, member(context_tokens=window)) is rule


@pytest.mark.bug("B-09")
@pytest.mark.parametrize(
    ("window", "tokens", "cap", "too_long"),
    [
        (8_000, 10_000, None, True),
        (8_000, 8_800, None, False),  # within the error of the estimate: the provider has the last word
        (8_000, 8_900, None, True),
        (8_000, 1_000, 7_200, True),  # the caller's own cap is exact
        (8_000, 1_000, 7_000, False),
        (None, 10**9, None, False),
    ],
)
def test_request_that_surely_exceeds_a_known_window_is_too_long(
    window: int | None, tokens: int, cap: int | None, too_long: bool
) -> None:
    assert abilities.too_long_for(member(context_tokens=window), 0, LengthView((tokens,), 1), cap) is too_long
