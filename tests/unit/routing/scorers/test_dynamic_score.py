"""Scores by expressions: cold start, terms, signals, the cap, ties, exploration, and what is not known."""

from typing import Any

import pytest
from msgspec import structs

from pointsman.domain.decision import DecisionMode, FallbackReason, ScoreNote
from pointsman.domain.request import RequestFacts
from pointsman.domain.score_policy import (
    ALWAYS,
    Complexity,
    Condition,
    DynamicScore,
    PromptFeature,
    ScoreSignal,
    ScoreTerm,
)
from pointsman.domain.target import Member
from pointsman.domain.view import Measured
from pointsman.routing.scorers import SCORERS, Contest, Verdict
from pointsman.testing import builders

COST = ScoreTerm("cheap", "cost_score")


def seen(p95_s: float | None = 1.0, **overrides: Any) -> Measured:
    """A target that was observed often, and never failed."""
    usual = {"observed": 50, "error_ratio": 0.0, "timeout_ratio": 0.0, "rescued_ratio": 0.0, "output_tps": 40.0}
    return builders.measured(p95_s=p95_s, **{**usual, **overrides})


def scored(
    *measured: Measured,
    terms: tuple[ScoreTerm, ...] = (COST,),
    weights: tuple[float, ...] = (),
    costs_usd: tuple[float | None, ...] = (),
    tags: tuple[frozenset[str], ...] = (),
    traits: dict[str, Any] | None = None,
    facts: RequestFacts | None = None,
    is_first: bool = True,
    **policy: Any,
) -> Verdict:
    """What the strategy says of targets `a/m`, `b/m`, ... with these numbers, for a plain request."""
    ids = [f"{letter}/m" for letter in "abcdef"[: len(measured)]]
    own = DynamicScore(terms=terms, **policy)
    found = builders.group("chat", *ids, strategy="dynamic_score", traits=traits or {}, dynamic_score=own)
    labels = tags or (frozenset[str](),) * len(ids)
    members = tuple(
        Member(member.target, member.weight, own_tags) for member, own_tags in zip(found.members, labels, strict=True)
    )
    found = structs.replace(found, members=members)
    view = builders.group_view(*[builders.view() for _ in ids], measured=measured)
    estimates = tuple(builders.estimates(found, usd)[0] for usd in costs_usd or (None,) * len(ids))
    ask = structs.replace(builders.ask(), facts=facts or builders.facts(features=(), has_images=False))
    heavy = weights or (1.0,) * len(ids)
    contest = Contest(found, view, tuple(range(len(ids))), heavy, measured, estimates, False, ask, is_first)
    return SCORERS["dynamic_score"](contest)


def note(verdict: Verdict) -> ScoreNote:
    assert verdict.note is not None
    return verdict.note


@pytest.mark.req("D-011", "D-037")
@pytest.mark.parametrize(("observed", "mode"), [(9, DecisionMode.FALLBACK), (10, DecisionMode.SCORE)])
def test_until_enough_was_observed_the_heaviest_serves_for_certain(observed: int, mode: DecisionMode) -> None:
    targets = [seen(observed=observed), seen(observed=10)]

    found = scored(*targets, weights=(9.0, 1.0), costs_usd=(9.0, 1.0), min_observations=20, exploration_ratio=0.0)

    leader = found.weights.index(1.0)
    assert found.modes[leader] is mode
    assert leader == (0 if mode is DecisionMode.FALLBACK else 1)
    assert found.fallback is (FallbackReason.WARMING if mode is DecisionMode.FALLBACK else None)
    assert note(found).observations == observed + 10


@pytest.mark.req("D-037")
def test_cold_start_explores_nobody_and_breaks_ties_by_name() -> None:
    found = scored(seen(observed=0), seen(observed=0), weights=(5.0, 5.0), exploration_ratio=0.5)

    assert found.weights == (1.0, 0.0)


@pytest.mark.req("D-038")
@pytest.mark.parametrize(("ratio", "expected"), [(0.0, (1.0, 0.5)), (0.7, (0.65, 0.85)), (1.0, (0.5, 1.0))])
def test_scores_move_traffic_no_further_than_the_cap(ratio: float, expected: tuple[float, ...]) -> None:
    found = scored(seen(), seen(), weights=(2.0, 1.0), costs_usd=(2.0, 1.0), max_adjustment_ratio=ratio)

    assert found.terms["score"] == pytest.approx(expected)


@pytest.mark.req("D-030", "D-031", "D-032", "D-033", "D-035")
@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("cost_score", 0.5, 1.0),
        ("latency_score", 1.0, 0.25),
        ("throughput_score", 1.0, 0.5),
        ("reliability_score", 0.79, 1.0),
        ("eval_quality_score", 0.9, 0.6),
        ("load_score", 0.25, 1.0),
        ("cache_score", 0.0, 0.0),
    ],
)
def test_scores_are_numbers_beside_the_best(name: str, first: float, second: float) -> None:
    targets = [
        seen(0.5, error_ratio=0.1, timeout_ratio=0.01, rescued_ratio=0.2, output_tps=40.0, in_flight=3),
        seen(2.0, output_tps=20.0),
    ]
    traits = {"a/m": builders.traits(quality_score=0.9, pass_rate=0.1), "b/m": builders.traits(pass_rate=0.6)}

    found = scored(*targets, terms=(ScoreTerm("one", f"{name} + 1e-6"),), costs_usd=(2.0, 1.0), traits=traits)

    assert found.terms[name] == (pytest.approx(first), pytest.approx(second))


@pytest.mark.req("D-030", "D-031", "D-032", "D-033", "D-035")
@pytest.mark.parametrize(
    "name", ["cost_score", "latency_score", "throughput_score", "reliability_score", "eval_quality_score"]
)
def test_what_is_not_known_is_in_the_middle(name: str) -> None:
    unknown = builders.measured(observed=50)

    found = scored(unknown, unknown, terms=(ScoreTerm("one", name),))

    assert found.terms[name] == (0.5, 0.5)


@pytest.mark.req("D-014")
@pytest.mark.parametrize(
    ("signal", "name"),
    [
        (ScoreSignal.COST, "cost_score"),
        (ScoreSignal.COST, "adjusted_price_score"),
        (ScoreSignal.OBSERVED_PERFORMANCE, "latency_score"),
        (ScoreSignal.OBSERVED_PERFORMANCE, "throughput_score"),
        (ScoreSignal.OBSERVED_PERFORMANCE, "reliability_score"),
        (ScoreSignal.EVALUATION_METADATA, "eval_quality_score"),
        (ScoreSignal.COMPLEXITY, "complexity_score"),
    ],
)
def test_signal_that_is_off_has_no_influence(signal: ScoreSignal, name: str) -> None:
    targets = [seen(0.5, error_ratio=0.9, output_tps=10.0), seen(5.0)]
    traits = {"a/m": builders.traits(quality_score=0.9)}

    found = scored(
        *targets, terms=(ScoreTerm("one", name),), costs_usd=(1.0, 9.0), traits=traits,
        signals=frozenset(ScoreSignal) - {signal},
    )  # fmt: skip

    assert found.terms[name] == (0.5, 0.5)
    assert found.terms["score"] == (pytest.approx(0.65), pytest.approx(0.65))
    assert signal not in note(found).signals


@pytest.mark.req("D-016", "D-036")
def test_terms_that_apply_add_up_beside_the_most_they_can_be() -> None:
    terms = (
        ScoreTerm("cheap", "2 * cost_score"),
        ScoreTerm("fast", "latency_score"),
        ScoreTerm("hard", "load_score", Condition(at_least=Complexity.COMPLEX)),
    )

    found = scored(seen(1.0), seen(2.0), terms=terms, costs_usd=(4.0, 1.0), max_adjustment_ratio=1.0)

    assert note(found).applied == ("cheap", "fast")
    assert found.terms["cheap"] == (0.5, 2.0)
    assert found.terms["fast"] == (1.0, 0.5)
    assert found.terms["score"] == (pytest.approx(1.5 / 3.0), pytest.approx(2.5 / 3.0))
    assert "load_score" not in found.terms


@pytest.mark.req("D-016", "D-036")
@pytest.mark.parametrize(
    ("when", "applies"),
    [
        (ALWAYS, True),
        (Condition(at_most=Complexity.STANDARD), False),
        (Condition(at_most=Complexity.COMPLEX), True),
        (Condition(at_least=Complexity.COMPLEX), True),
        (Condition(feature=PromptFeature.CODE), True),
        (Condition(feature=PromptFeature.DIFF), False),
        (Condition(at_least=Complexity.STANDARD, feature=PromptFeature.DIFF), False),
    ],
)
def test_terms_apply_when_all_of_their_conditions_hold(when: Condition, applies: bool) -> None:
    features = (PromptFeature.CODE, PromptFeature.STACK_TRACE)
    facts = builders.facts(features=features, has_images=False, tool_count=1)

    found = scored(seen(), seen(), terms=(ScoreTerm("one", "cost_score", when),), facts=facts)

    assert note(found).applied == (("one",) if applies else ())
    assert found.fallback is (None if applies else FallbackReason.NO_TERM)


@pytest.mark.req("D-014")
@pytest.mark.parametrize("signal", [ScoreSignal.COMPLEXITY, ScoreSignal.PROMPT_FEATURES])
def test_condition_on_a_signal_that_is_off_never_holds(signal: ScoreSignal) -> None:
    facts = builders.facts(features=(PromptFeature.CODE,), has_images=False)
    when = Condition(at_least=Complexity.SIMPLE, feature=PromptFeature.CODE)

    on = scored(seen(), seen(), terms=(ScoreTerm("one", "cost_score", when),), facts=facts)
    off = scored(
        seen(), seen(), terms=(ScoreTerm("one", "cost_score", when),), facts=facts,
        signals=frozenset(ScoreSignal) - {signal},
    )  # fmt: skip

    assert (note(on).applied, note(off).applied) == (("one",), ())


@pytest.mark.req("D-016")
def test_preferred_tags_decide_between_near_equals_and_no_more() -> None:
    term = ScoreTerm("one", "cost_score", prefer_tags=frozenset(("near", "new")))
    tags = (frozenset[str](), frozenset(("near",)))

    near = scored(seen(), seen(), terms=(term,), costs_usd=(1.0, 1.04), tags=tags, max_adjustment_ratio=1.0)
    far = scored(seen(), seen(), terms=(term,), costs_usd=(1.0, 1.10), tags=tags, max_adjustment_ratio=1.0)

    assert near.weights == (0.05, 0.95)
    assert far.weights == (0.95, 0.05)
    assert all(score is not None and score <= 1.0 for score in near.terms["score"])


@pytest.mark.req("D-038")
def test_no_tag_moves_traffic_beyond_the_cap() -> None:
    term = ScoreTerm("one", "cost_score", prefer_tags=frozenset(("near",)))

    found = scored(
        seen(), seen(), terms=(term,), tags=(frozenset(), frozenset(("near",))), weights=(2.0, 1.0),
        max_adjustment_ratio=0.0,
    )  # fmt: skip

    assert found.weights == (0.95, 0.05)


@pytest.mark.req("D-039")
@pytest.mark.bug("N-11")
def test_term_without_a_value_leaves_its_target_to_its_weight() -> None:
    term = ScoreTerm("odd", "clamp(0.2 / load_score, 0, 1) - clamp(0 / (latency_score - 1), 0, 1)")

    found = scored(seen(1.0), seen(2.0), terms=(term,), weights=(3.0, 4.0), max_adjustment_ratio=1.0)

    assert found.terms["odd"] == (None, pytest.approx(0.2))
    assert found.terms["score"] == (0.75, pytest.approx(0.2))


@pytest.mark.parametrize("first", ["0.45 * cost_score", "latency_score"])
def test_addends_of_a_term_are_told_by_name(first: str) -> None:
    found = scored(seen(), seen(), terms=(ScoreTerm("both", f"{first} - 0.1 * load_score"),))

    assert {name for name in found.terms if name.startswith("both")} == {
        "both",
        f"both: {first}",
        "both: -(0.1 * load_score)",
    }


def test_equal_scores_go_to_the_heavier_and_then_to_the_first_name() -> None:
    by_weight = scored(seen(), seen(), weights=(1.0, 1.0 + 1e-12), exploration_ratio=0.0)
    by_name = scored(seen(), seen(), seen(), exploration_ratio=0.0)

    assert by_weight.weights == (0.0, 1.0)
    assert by_name.weights == (1.0, 0.0, 0.0)


def test_others_share_the_exploration_of_first_attempts() -> None:
    costs_usd = (2.0, 1.0, 3.0)

    first = scored(seen(), seen(), seen(), costs_usd=costs_usd, exploration_ratio=0.1)
    later = scored(seen(), seen(), seen(), costs_usd=costs_usd, exploration_ratio=0.1, is_first=False)

    assert first.weights == (0.05, 0.9, 0.05)
    assert first.modes == (DecisionMode.EXPLORATION, DecisionMode.SCORE, DecisionMode.EXPLORATION)
    assert later.weights == (0.0, 1.0, 0.0)


@pytest.mark.req("D-034", "D-074")
def test_note_tells_the_shape_of_the_request_in_buckets() -> None:
    facts = builders.facts(
        text_chars=20_000, tool_count=9, max_output_tokens=8_000, has_images=True, features=(PromptFeature.CODE,)
    )

    found = note(scored(seen(), seen(), facts=facts))

    assert (found.complexity, found.input_bucket, found.output_bucket, found.tools_bucket) == (
        "complex", "large", "large", "many",
    )  # fmt: skip


def test_adjusted_price_is_the_one_that_market_goes_by() -> None:
    targets = [seen(ttft_s=0.5, decode_tps=50.0), seen(ttft_s=5.0, decode_tps=50.0)]

    first, second = scored(*targets, terms=(ScoreTerm("one", "adjusted_price_score"),)).terms["adjusted_price_score"]

    assert first == 1.0
    assert second is not None
    assert second < 0.5
