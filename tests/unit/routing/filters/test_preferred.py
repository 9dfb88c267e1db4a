"""The hard half of preferences: each wish with the targets that it leaves out."""

import pytest
from msgspec import structs

from pointsman.domain.decision import Exclusion
from pointsman.domain.preferences import Demands, MaxPrice, Preferences
from pointsman.domain.request import Dialect
from pointsman.domain.target import Member
from pointsman.routing.filters import preferred
from pointsman.routing.filters.asked import Asked
from pointsman.testing import builders

UNKNOWN = Member(builders.target("near/m"), 1.0)


def known(**traits: object) -> Member:
    return Member(builders.target("near/m", builders.price(1.0, 2.0), builders.traits(**traits)), 1.0)


def rule(preferences: Preferences, member: Member = UNKNOWN) -> Exclusion | None:
    return preferred.preferences(Asked(Dialect.OPENAI_CHAT, builders.policy(), Demands((), None, preferences)), member)


def test_without_a_wish_nobody_is_left_out() -> None:
    assert rule(Preferences()) is None


@pytest.mark.parametrize("slug", ["near", "NEAR", "near/m"])
def test_name_means_a_provider_or_one_of_its_targets(slug: str) -> None:
    assert rule(Preferences(only=((slug,),))) is None
    assert rule(Preferences(ignore=(slug,))) is Exclusion.IGNORED


@pytest.mark.parametrize("slug", ["far", "near/other", "nea", "m"])
def test_only_leaves_out_everybody_else(slug: str) -> None:
    assert rule(Preferences(only=((slug,),))) is Exclusion.NOT_NAMED
    assert rule(Preferences(ignore=(slug,))) is None


@pytest.mark.req("C-14")
def test_every_list_must_name_the_target() -> None:
    assert rule(Preferences(only=(("near",), ("far",)))) is Exclusion.NOT_NAMED


@pytest.mark.req("C-15")
@pytest.mark.parametrize(("fallbacks", "expected"), [(True, None), (False, Exclusion.NOT_NAMED)])
def test_order_is_a_closed_set_only_while_fallbacks_are_off(fallbacks: bool, expected: Exclusion | None) -> None:
    assert rule(Preferences(order=("far",), allow_fallbacks=fallbacks)) is expected


def test_order_that_names_the_target_keeps_it_in() -> None:
    assert rule(Preferences(order=("far", "near"), allow_fallbacks=False)) is None


@pytest.mark.parametrize(
    ("member", "expected"),
    [(UNKNOWN, Exclusion.TRAINING), (known(trains=True), Exclusion.TRAINING), (known(trains=False), None)],
)
def test_denied_training_wants_a_promise(member: Member, expected: Exclusion | None) -> None:
    assert rule(Preferences(denies_training=True), member) is expected


@pytest.mark.parametrize(
    ("member", "expected"),
    [(UNKNOWN, Exclusion.RETENTION), (known(zdr=False), Exclusion.RETENTION), (known(zdr=True), None)],
)
def test_zero_retention_wants_a_promise(member: Member, expected: Exclusion | None) -> None:
    assert rule(Preferences(zdr=True), member) is expected


@pytest.mark.parametrize(
    ("wanted", "found", "fits"),
    [
        ("fp8", "fp8", True),
        ("fp8", "mxfp8", True),
        ("mxfp8", "fp8", False),
        ("fp4", "mxfp4", True),
        ("fp4", "nvfp4", True),
        ("bf16", "fp16", False),
        ("unknown", None, True),
        ("bf16", None, False),
    ],
)
def test_quantization_means_its_family(wanted: str, found: str | None, fits: bool) -> None:
    expected = None if fits else Exclusion.QUANTIZATION

    assert rule(Preferences(quantizations=("int4", wanted)), known(quantization=found)) is expected


@pytest.mark.parametrize(
    ("declared", "fits"), [(None, False), (frozenset(("top_p",)), False), (frozenset(("top_p", "seed", "n")), True)]
)
def test_every_parameter_must_be_declared(declared: frozenset[str] | None, fits: bool) -> None:
    expected = None if fits else Exclusion.PARAMETERS

    assert rule(Preferences(parameters=frozenset(("top_p", "seed"))), known(parameters=declared)) is expected


@pytest.mark.bug("C-10")
@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (MaxPrice(prompt=1.0, completion=2.0, request=0.0), None),
        (MaxPrice(prompt=0.99), Exclusion.TOO_EXPENSIVE),
        (MaxPrice(completion=1.99), Exclusion.TOO_EXPENSIVE),
        (MaxPrice(), None),
    ],
)
def test_price_above_the_most_excludes(limit: MaxPrice, expected: Exclusion | None) -> None:
    assert rule(Preferences(max_prices=(limit,)), known()) is expected


@pytest.mark.bug("C-10")
def test_unknown_price_is_above_every_limit_but_none() -> None:
    assert rule(Preferences(max_prices=(MaxPrice(prompt=1e6),))) is Exclusion.TOO_EXPENSIVE
    assert rule(Preferences(max_prices=(MaxPrice(),))) is None


def test_free_target_is_within_a_limit_of_nothing() -> None:
    free = structs.replace(UNKNOWN, target=builders.target("near/m", builders.price(0, 0)))

    assert rule(Preferences(max_prices=(MaxPrice(0, 0, 0),)), free) is None


@pytest.mark.req("C-14")
def test_key_policy_is_a_rule_of_its_own() -> None:
    demands = Demands(preferences=Preferences(only=(("near",),)), key_policy=Preferences(only=(("far",),)))
    asked = Asked(Dialect.OPENAI_CHAT, builders.policy(), demands)

    assert preferred.key_policy(asked, UNKNOWN) is Exclusion.KEY_POLICY
    assert preferred.preferences(asked, UNKNOWN) is None


def test_two_sets_of_preferences_together_never_allow_what_one_forbids() -> None:
    body = Preferences(order=("near",), zdr=True, max_prices=(MaxPrice(1.0),), models=("long",))
    head = Preferences(only=(("near",),), ignore=("far",), denies_training=True, allow_fallbacks=False)

    assert body.with_more(head) == Preferences(
        order=("near",), allow_fallbacks=False, only=(("near",),), ignore=("far",), denies_training=True, zdr=True,
        max_prices=(MaxPrice(1.0),), models=("long",),
    )  # fmt: skip
