"""Points of a request's shape, and buckets."""

from typing import Any

import pytest

from pointsman.domain.score_policy import Complexity, DynamicScore, PromptFeature, ScoreSignal
from pointsman.routing.complexity import shape_of
from pointsman.testing import builders


@pytest.mark.req("D-034")
@pytest.mark.parametrize(
    ("facts", "points"),
    [
        ({"text_chars": 2_000}, 0),
        ({"text_chars": 2_001}, 1),
        ({"text_chars": 16_001}, 2),
        ({"text_chars": 64_001}, 3),
        ({"text_chars": None, "body_bytes": 64_001}, 3),
        ({"tool_count": 1}, 1),
        ({"tool_count": 9}, 2),
        ({"has_images": True}, 1),
        ({"max_output_tokens": 4_096}, 0),
        ({"max_output_tokens": 4_097}, 1),
        ({"features": (PromptFeature.CODE, PromptFeature.STACK_TRACE)}, 3),
        ({"features": (PromptFeature.SUMMARIZE, PromptFeature.EXTRACT, PromptFeature.TRANSLATE)}, 0),
        ({"text_chars": 99_999, "tool_count": 99, "has_images": True, "features": tuple(PromptFeature)}, 8),
    ],
)
def test_points_add_up_within_bounds(facts: dict[str, Any], points: int) -> None:
    found = shape_of(builders.facts(**facts), DynamicScore())

    assert found.points == points
    assert found.score == points / 8


@pytest.mark.req("D-034")
@pytest.mark.parametrize(
    ("points", "bucket"),
    [(0, Complexity.SIMPLE), (1, Complexity.SIMPLE), (2, Complexity.STANDARD), (4, Complexity.COMPLEX)],
)
def test_points_make_buckets(points: int, bucket: Complexity) -> None:
    features = (PromptFeature.STACK_TRACE, PromptFeature.SECURITY_REVIEW)[: points // 2]
    facts = builders.facts(features=features, tool_count=points % 2)

    assert shape_of(facts, DynamicScore()).complexity is bucket


@pytest.mark.req("D-014")
def test_each_signal_counts_only_while_it_is_on() -> None:
    facts = builders.facts(tool_count=1, features=(PromptFeature.CODE,))

    found = {
        signal: shape_of(facts, DynamicScore(signals=frozenset(ScoreSignal) - {signal}))
        for signal in (ScoreSignal.REQUEST_SHAPE, ScoreSignal.PROMPT_FEATURES, ScoreSignal.COMPLEXITY)
    }

    assert {signal: shape.points for signal, shape in found.items()} == {
        ScoreSignal.REQUEST_SHAPE: 1,
        ScoreSignal.PROMPT_FEATURES: 1,
        ScoreSignal.COMPLEXITY: 2,
    }
    assert found[ScoreSignal.COMPLEXITY].score is None
