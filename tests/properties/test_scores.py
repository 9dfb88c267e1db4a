"""`dynamic_score`: whatever was measured, whatever is asked and written, every score is one and shares are whole."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from pointsman.domain.request import RequestFacts
from pointsman.domain.score_policy import (
    Complexity,
    Condition,
    DynamicScore,
    PromptFeature,
    ScoreSignal,
    ScoreTerm,
    Thresholds,
)
from pointsman.domain.view import Measured
from pointsman.routing.router import decide
from pointsman.testing import builders
from tests.properties.thorough import thorough

EXPRESSIONS = [
    "0.45 * cost_score + 0.25 * latency_score + 0.20 * throughput_score + 0.10 * reliability_score",
    "clamp(1 / latency_score, 0, 1) + sqrt(cost_score - load_score)",
    "coalesce(latency_score, throughput_score, 0.2) ** 2 - 0.5 * cache_score",
    "adjusted_price_score if complexity_score > 0.3 else eval_quality_score",
]
_ratio = st.none() | st.floats(0.0, 1.0)
_time = st.none() | st.floats(1e-6, 1e6)
targets = st.builds(
    Measured, in_flight=st.integers(0, 10_000), observed=st.integers(0, 50), error_ratio=_ratio, timeout_ratio=_ratio,
    rescued_ratio=_ratio, p95_s=_time, ttfb_p95_s=_time, output_tps=_time,
)  # fmt: skip
conditions = st.builds(
    Condition,
    st.none() | st.sampled_from(Complexity),
    st.none() | st.sampled_from(Complexity),
    st.none() | st.sampled_from(PromptFeature),
)
tags = st.frozensets(st.sampled_from(["x", "y"]), max_size=2)
policies = st.builds(
    DynamicScore,
    terms=st.lists(st.tuples(st.sampled_from(EXPRESSIONS), conditions, tags, tags), max_size=3).map(
        lambda rows: tuple([ScoreTerm(f"t{number}", *row) for number, row in enumerate(rows)])
    ),
    min_observations=st.integers(0, 60),
    max_adjustment_ratio=st.floats(0.0, 1.0),
    exploration_ratio=st.floats(0.0, 0.5),
    thresholds=st.builds(Thresholds, _ratio, _ratio, _time, _time, _time, st.integers(0, 30)),
    signals=st.frozensets(st.sampled_from(ScoreSignal)),
)
facts = st.builds(
    builders.facts,
    text_chars=st.none() | st.integers(0, 10**6),
    tool_count=st.integers(0, 20),
    features=st.none() | st.lists(st.sampled_from(PromptFeature), unique=True).map(tuple),
    has_images=st.none() | st.booleans(),
)


@pytest.mark.req("D-030", "D-038", "D-039")
@thorough(300)
@given(
    measured=st.lists(targets, min_size=2, max_size=4),
    policy=policies,
    weights=st.lists(st.floats(1e-9, 1e9), min_size=4, max_size=4),
    prices=st.lists(st.none() | st.floats(0.0, 1e6), min_size=4, max_size=4),
    asked=facts,
)
def test_scores_are_within_zero_and_one_and_shares_add_up(
    measured: list[Measured],
    policy: DynamicScore,
    weights: list[float],
    prices: list[float | None],
    asked: RequestFacts,
) -> None:
    ids = [f"{number}/m" for number in range(len(measured))]
    known = {name: builders.price(usd, usd) for name, usd in zip(ids, prices, strict=False) if usd is not None}
    group = builders.group(
        "chat", *zip(ids, weights, strict=False), strategy="dynamic_score", prices=known, dynamic_score=policy
    )
    view = builders.group_view(*[builders.view()] * len(ids), measured=tuple(measured))
    ask = structs.replace(builders.ask(), facts=asked)

    decision = decide(ask, group, view, rng=Random(1), lengths=builders.lengths(group))

    assert decision.pick is not None
    assert decision.scores is not None
    assert math.fsum(decision.shares) == pytest.approx(1.0)
    values = [value for row in decision.scores.terms.values() for value in row if value is not None]
    assert all(map(math.isfinite, values))
    assert all(0.0 <= score <= 1.0 + 1e-9 for score in decision.scores.terms["score"] if score is not None)
    assert None not in decision.scores.terms["score"]
