"""Decisions by scores, counted in buckets."""

import pytest

from pointsman.domain.decision import Exclusion, ScoreNote, Scores
from pointsman.domain.score_policy import ScoreSignal
from pointsman.observability.decision_log import DecisionNote, DecisionRecord
from pointsman.observability.metrics import Metrics
from pointsman.observability.score_counts import bucket
from pointsman.testing import builders

NOTE = ScoreNote(
    (ScoreSignal.COST, ScoreSignal.COMPLEXITY),
    40,
    "standard",
    "medium",
    "large",
    "few",
    ("fast",),
    (Exclusion.THRESHOLD,),
)
TERMS = {"latency_score": (1.0, 0.31), "fast": (0.9, None), "fast: latency_score": (1.0, 0.31), "score": (0.95, 0.6)}


def record(note: DecisionNote) -> DecisionRecord:
    facts = builders.facts()
    return DecisionRecord("", "r", 1, "alice", "chat", "x", facts, (note,), (), 200, "ok", 0.1, None, None)


def counted(picked: str | None) -> Metrics:
    metrics = Metrics()
    mode = None if picked is None else "score"
    note = DecisionNote(mode, picked, 1.0, ("a/m", "b/m"), (1.0, 0.0), {}, scores=Scores((), TERMS, note=NOTE))
    metrics.count([record(note)])
    return metrics


def found(metrics: Metrics, name: str) -> list[dict[str, str]]:
    families = [family for family in metrics.registry.collect() if family.name == f"pointsman_{name}"]
    return [{k: v for k, v in each.labels.items() if k != "group"} for family in families for each in family.samples]


@pytest.mark.req("D-076")
def test_signals_shapes_scores_and_rules_are_counted_in_buckets() -> None:
    metrics = counted("b/m")

    assert found(metrics, "score_requests") == [
        {"complexity": "standard", "input": "medium", "output": "large", "tools": "few"}
    ]
    assert found(metrics, "score_signals") == [{"signal": "cost"}, {"signal": "complexity"}]
    assert found(metrics, "score_rules_dropped") == [{"rule": "threshold"}]
    assert found(metrics, "score_values") == [
        {"name": "latency_score", "bucket": "0.3"},
        {"name": "fast", "bucket": "none"},
        {"name": "score", "bucket": "0.6"},
    ]


@pytest.mark.req("D-076")
@pytest.mark.parametrize(
    "rule", [Exclusion.THRESHOLD, Exclusion.TERM_TAGS, Exclusion.IGNORES_MAX_TOKENS, Exclusion.MAX_RPS]
)
def test_filters_caps_and_limits_are_counted_by_rule(rule: Exclusion) -> None:
    metrics = Metrics()
    note = DecisionNote("score", "a/m", 1.0, ("a/m",), (1.0,), {"b/m": rule})

    metrics.count([record(note)])

    assert found(metrics, "routing_exclusions") == [{"target": "b/m", "rule": rule.value}]


def test_nobody_has_no_score() -> None:
    assert found(counted(None), "score_values") == []


@pytest.mark.parametrize(
    ("value", "name"),
    [(0.0, "0"), (0.0999, "0"), (0.1, "0.1"), (0.95, "0.9"), (1.0, "0.9"), (7.0, "0.9"), (-1.0, "0"), (None, "none")],
)
def test_tenths_are_named_by_their_lower_end(value: float | None, name: str) -> None:
    assert bucket(value) == name
