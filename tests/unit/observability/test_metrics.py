"""The exposition, as Prometheus reads it."""

from collections.abc import Iterator

import pytest
from msgspec import structs
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from pointsman.domain.decision import AttemptRecord, DecisionMode
from pointsman.domain.outcome import Usage
from pointsman.domain.view import Breaker
from pointsman.observability.decision_log import DecisionNote, DecisionRecord
from pointsman.observability.metrics import BREAKER_VALUE, DURATION_BUCKETS_S, Metrics
from pointsman.testing import builders

PICKED = DecisionNote("weighted", "a/m", 0.5, ("a/m", "b/m"), (0.5, 0.5), {})
NOBODY = DecisionNote(None, None, 0.0, (), (), {"a/m": "paused"})


def attempt(*, ttft_s: float | None = 0.3) -> AttemptRecord:
    return AttemptRecord("a/m", DecisionMode.WEIGHTED, 0.5, "ok", "", 200, True, 0.0, 0.1, ttft_s, 1.0)


def record(
    *attempts: AttemptRecord,
    group: str | None = "chat",
    decisions: tuple[DecisionNote, ...] = (),
    reason: str = "ok",
    duration_s: float = 0.1,
    usage: Usage | None = None,
) -> DecisionRecord:
    facts = None if group is None else builders.facts()
    return DecisionRecord(
        "2026-11-30T12:00:00.000Z", "r", 1, "alice", group, "weighted", facts, decisions, attempts, 200, reason,
        duration_s, usage, None,
    )  # fmt: skip


def families(metrics: Metrics) -> dict[str, Metric]:
    return {family.name: family for family in text_string_to_metric_families(metrics.exposition().decode())}


@pytest.fixture
def busy() -> Metrics:
    """Metrics of a gateway that has done everything once."""
    metrics = Metrics()
    usage = Usage(input_tokens=100, output_tokens=20, cached_tokens=30)
    both = attempt(ttft_s=None), attempt()
    served = record(*both, decisions=(PICKED, NOBODY), duration_s=0.7, usage=usage)
    metrics.count([served, record(group=None, reason="model_not_found", duration_s=0.001)])
    metrics.live_gauge("breaker", "State.", ("target",), lambda: [(("a/m",), BREAKER_VALUE[Breaker.HALF_OPEN])])
    return metrics


def samples(metrics: Metrics) -> Iterator[tuple[str, str, dict[str, str], float]]:
    """Kind of the family, name, labels and value of each of our samples."""
    for name, family in families(metrics).items():
        if name.startswith("pointsman_"):
            yield from ((family.type, sample.name, sample.labels, sample.value) for sample in family.samples)


def test_counters_end_in_total_and_nothing_else_does(busy: Metrics) -> None:
    for kind, name, _, _ in samples(busy):
        assert name.endswith("_total") is (kind == "counter")


def test_every_metric_has_a_known_prefix_and_a_text(busy: Metrics) -> None:
    for name, family in families(busy).items():
        assert name.startswith(("pointsman_", "python_", "process_"))
        assert family.documentation


def test_buckets_of_a_histogram_are_cumulative_and_end_with_the_count(busy: Metrics) -> None:
    busy.count([record(duration_s=duration_s) for duration_s in (0.01, 0.05, 0.2, 3, 1_000)])

    family = families(busy)["pointsman_request_duration_seconds"]

    rows = [sample for sample in family.samples if sample.labels["group"] == "chat"]
    buckets = [(sample.labels["le"], sample.value) for sample in rows if "le" in sample.labels]
    totals = {sample.name.rpartition("_")[2]: sample.value for sample in rows if "le" not in sample.labels}
    counts = [count for _, count in buckets]
    assert counts == sorted(counts)
    assert [float(bound) for bound, _ in buckets] == [*DURATION_BUCKETS_S, float("inf")]
    assert counts[-1] == totals["count"] == 6
    assert totals["sum"] == pytest.approx(0.7 + 0.01 + 0.05 + 0.2 + 3 + 1_000)


def test_value_on_a_bound_belongs_to_its_bucket() -> None:
    metrics = Metrics()

    metrics.count([record(duration_s=0.05)])

    labels = {"group": "chat", "le": "0.05"}
    assert metrics.registry.get_sample_value("pointsman_request_duration_seconds_bucket", labels) == 1


def test_decision_without_a_pick_counts_as_none(busy: Metrics) -> None:
    modes = {labels["mode"] for _, name, labels, _ in samples(busy) if name == "pointsman_decisions_total"}

    assert modes == {"weighted", "none"}


def test_only_attempts_after_the_first_are_failovers(busy: Metrics) -> None:
    assert busy.registry.get_sample_value("pointsman_failovers_total", {"group": "chat"}) == 1


def test_attempt_without_content_adds_nothing_to_the_time_to_it(busy: Metrics) -> None:
    assert busy.registry.get_sample_value("pointsman_ttft_seconds_count", {"target": "a/m"}) == 1


@pytest.mark.parametrize(
    ("usage", "kinds"),
    [
        (Usage(100, 20, 30), {"input_uncached": 70, "input_cached": 30, "output": 20}),
        (
            Usage(100, 20, 30, None, 50),
            {"input_uncached": 20, "input_cached": 30, "input_cache_write": 50, "output": 20},
        ),
        (Usage(100, 20), {"input_uncached": 100, "output": 20}),
        (
            Usage(100, 20, 30, None, 50, 5),
            {"input_uncached": 20, "input_cached": 30, "input_cache_write": 50, "output": 20},
        ),
        (Usage(10, None, 30), {"input_uncached": 0, "input_cached": 30}),
        (Usage(), {}),
    ],
)
def test_tokens_are_counted_in_disjoint_kinds(usage: Usage, kinds: dict[str, float]) -> None:
    metrics = Metrics()

    metrics.count([record(attempt(), usage=usage)])

    found = {labels["kind"]: value for _, name, labels, value in samples(metrics) if name == "pointsman_tokens_total"}
    assert found == kinds


def test_live_gauge_is_read_at_each_scrape() -> None:
    metrics, values = Metrics(), [0.0]
    metrics.live_gauge("in_flight", "Now.", ("target",), lambda: [(("a/m",), values[-1])])

    before = metrics.registry.get_sample_value("pointsman_in_flight", {"target": "a/m"})
    values.append(1.0)
    after = metrics.registry.get_sample_value("pointsman_in_flight", {"target": "a/m"})

    assert (before, after) == (0, 1)


def test_label_values_are_escaped() -> None:
    metrics = Metrics()

    metrics.count([record(group='a"b\\c\nd')])

    groups = {labels["group"] for _, name, labels, _ in samples(metrics) if name == "pointsman_requests_total"}
    assert groups == {'a"b\\c\nd'}


def test_attempts_can_be_read_by_target(busy: Metrics) -> None:
    assert busy.attempts() == {"a/m": {"ok": 2}}
    assert Metrics().attempts() == {}


@pytest.mark.req("R-024", "R-061")
@pytest.mark.parametrize(("outcome", "count"), [("ok", 1.0), ("upstream_fault", None)])
def test_exploration_counts_only_if_the_explored_target_served(outcome: str, count: float | None) -> None:
    metrics = Metrics()
    explored = structs.replace(attempt(), mode=DecisionMode.EXPLORATION, outcome_class=outcome)

    metrics.count([record(explored, attempt())])

    labels = {"group": "chat", "mode": "exploration"}
    assert metrics.registry.get_sample_value("pointsman_adaptive_routing_decisions_total", labels) == count


def test_modes_that_score_nothing_are_not_counted_among_those_that_do(busy: Metrics) -> None:
    assert "pointsman_adaptive_routing_decisions_total" not in {name for _, name, _, _ in samples(busy)}


def sample(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"pointsman_{name}", labels)


@pytest.mark.req("G-086")
def test_decisions_are_counted_by_who_was_picked_and_who_was_left_out(busy: Metrics) -> None:
    assert sample(busy, "routing_selections_total", group="chat", target="a/m") == 1
    assert sample(busy, "routing_exclusions_total", group="chat", target="a/m", rule="paused") == 1


@pytest.mark.req("G-086")
def test_decision_of_a_fallback_counts_for_the_group_that_decided() -> None:
    metrics = Metrics()

    metrics.count([record(attempt(), decisions=(NOBODY, structs.replace(PICKED, fallback="spare")))])

    assert sample(metrics, "routing_selections_total", group="spare", target="a/m") == 1
    assert sample(metrics, "routing_selections_total", group="chat", target="a/m") is None


def test_live_counter_is_read_at_each_scrape() -> None:
    metrics, values = Metrics(), [1.0]
    metrics.live_counter("pauses", "So far.", ("target",), lambda: [(("a/m",), values[-1])])

    before = sample(metrics, "pauses_total", target="a/m")
    values.append(2.0)

    assert (before, sample(metrics, "pauses_total", target="a/m")) == (1, 2)
