"""Who stays in the running: thresholds, tags of terms, and what happens when nobody is left."""

from typing import Any

import pytest
from msgspec import structs

from pointsman.domain.decision import Exclusion
from pointsman.domain.score_policy import (
    Complexity,
    Condition,
    DynamicScore,
    OnEmpty,
    ScoreSignal,
    ScoreTerm,
    Thresholds,
)
from pointsman.domain.target import Member, ModelGroup
from pointsman.domain.view import Measured
from pointsman.routing.score_terms import Narrowed, breaks, narrowed
from pointsman.testing import builders

TAGGED = ScoreTerm("hard", "cost_score", Condition(at_least=Complexity.COMPLEX), require_tags=frozenset(("validated",)))
SLOW = Thresholds(max_p95_s=10.0)


def group(policy: DynamicScore, *tags: str) -> ModelGroup:
    found = builders.group("chat", "a/m", "b/m", "c/m", strategy="dynamic_score", dynamic_score=policy)
    members = [
        Member(member.target, 1.0, frozenset((tag,))) for member, tag in zip(found.members, tags or "abc", strict=True)
    ]
    return structs.replace(found, members=tuple(members))


def left(found: ModelGroup, *p95_s: float | None, **facts: Any) -> Narrowed:
    measured = tuple([builders.measured(observed=20, p95_s=value) for value in p95_s or (1.0, 1.0, 1.0)])
    view = builders.group_view(*[builders.view()] * 3, measured=measured)
    return narrowed(builders.facts(**facts), found, (0, 1, 2), view)


@pytest.mark.req("D-017")
@pytest.mark.parametrize(
    ("limits", "bad", "good"),
    [
        ({"max_error_ratio": 0.03}, {"error_ratio": 0.04}, {"error_ratio": 0.03}),
        ({"max_timeout_ratio": 0.02}, {"timeout_ratio": 0.03}, {"timeout_ratio": 0.02}),
        ({"max_p95_s": 10.0}, {"p95_s": 10.1}, {"p95_s": 10.0}),
        ({"max_ttfb_s": 1.0}, {"ttfb_p95_s": 1.1}, {"ttfb_p95_s": None}),
        ({"min_output_tps": 20.0}, {"output_tps": 19.0}, {"output_tps": 20.0}),
    ],
)
def test_thresholds_are_limits_of_what_was_observed_often_enough(
    limits: dict[str, float], bad: dict[str, Any], good: dict[str, Any]
) -> None:
    thresholds = Thresholds(**limits)

    def of(numbers: dict[str, Any], observed: int = 20) -> Measured:
        return builders.measured(observed=observed, **numbers)

    assert thresholds.is_set
    assert breaks(thresholds, of(bad))
    assert not breaks(thresholds, of(good))
    assert not breaks(thresholds, of(bad, observed=19))


@pytest.mark.req("D-004", "D-017")
def test_who_breaks_a_threshold_is_out_and_the_rule_is_named() -> None:
    found = left(group(DynamicScore(thresholds=SLOW)), 1.0, 30.0, None)

    assert found.candidates == (0, 2)
    assert [(each.target_id, each.rule) for each in found.excluded] == [("b/m", Exclusion.THRESHOLD)]


@pytest.mark.req("D-036")
@pytest.mark.parametrize(("tools", "kept"), [(9, (0, 2)), (0, (0, 1, 2))])
def test_tags_are_required_where_their_term_applies(tools: int, kept: tuple[int, ...]) -> None:
    found = left(
        group(DynamicScore(terms=(TAGGED,)), "validated", "b", "validated"), tool_count=tools, text_chars=20_000
    )

    assert found.candidates == kept
    assert {each.rule for each in found.excluded} == ({Exclusion.TERM_TAGS} if tools else set())


@pytest.mark.req("D-017", "D-036")
@pytest.mark.parametrize("on_empty", OnEmpty)
def test_rule_that_leaves_nobody_is_dropped_or_fails(on_empty: OnEmpty) -> None:
    policy = DynamicScore(terms=(structs.replace(TAGGED, when=Condition()),), thresholds=SLOW, on_empty=on_empty)

    found = left(group(policy, "validated", "b", "c"), 30.0, 1.0, 1.0)

    if on_empty is OnEmpty.IGNORE:
        assert (found.candidates, found.dropped) == ((1, 2), (Exclusion.TERM_TAGS,))
    else:
        assert found.candidates == ()
        assert {each.target_id: each.rule for each in found.excluded} == {
            "a/m": "threshold", "b/m": "term_tags", "c/m": "term_tags",
        }  # fmt: skip


@pytest.mark.req("D-014", "D-077")
def test_thresholds_do_not_hold_while_performance_is_not_looked_at() -> None:
    policy = DynamicScore(thresholds=SLOW, signals=frozenset(ScoreSignal) - {ScoreSignal.OBSERVED_PERFORMANCE})

    assert left(group(policy), 1.0, 30.0, 1.0) == Narrowed((0, 1, 2))
