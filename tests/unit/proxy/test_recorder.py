"""What requests leave behind."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pointsman.domain.outcome import Outcome, ProviderError, Usage
from pointsman.domain.target import ModelGroup
from pointsman.observability.decision_log import DecisionLog
from pointsman.observability.metrics import Metrics
from pointsman.proxy.recorder import Ended, Recorder
from pointsman.routing.exchange import Exchange
from pointsman.testing import builders
from tests.unit.routing.asking import NOW, Draws, HandBoard

GROUP = builders.group("chat", "a/m", "b/m", ("c/m", 0), strategy="failover")
USAGE = Usage(input_tokens=10, output_tokens=5, cached_tokens=4)
Digest = Callable[..., tuple[list[dict[str, Any]], Metrics]]


def exchange_of(*outcomes: Outcome, group: ModelGroup = GROUP) -> Exchange:
    exchange = Exchange(builders.ask(), group, HandBoard(), Draws(), began_at=NOW, deadline=NOW + 60)
    exchange.start(NOW)
    for outcome in outcomes:
        exchange.finished(outcome, NOW + 1)
    return exchange


def ended(exchange: Exchange | None = None, **changes: Any) -> Ended:
    usual: dict[str, Any] = {
        "utc_s": 1_796_040_000.1239, "request_id": "req-1", "config_version": 7, "caller": builders.caller("alice"),
        "facts": builders.facts(), "exchange": exchange, "status": 200, "reason": "ok", "duration_s": 0.123456789,
    }  # fmt: skip
    return Ended(**(usual | changes))


@pytest.fixture
def digest(tmp_path: Path) -> Digest:
    """Let requests end, and read their records and counts."""

    def run(*ends: Ended, logs_requests: bool = False, digests: int = 1) -> tuple[list[dict[str, Any]], Metrics]:
        path, metrics = tmp_path / "decisions.jsonl", Metrics()
        decisions = DecisionLog(path, 1 << 20)
        decisions.start()
        recorder = Recorder(decisions, metrics, logs_requests=logs_requests)
        for end in ends:
            recorder.note(end)
        for _ in range(digests):
            recorder.check(0.0)
        decisions.close()
        return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()], metrics

    return run


@pytest.mark.case("I4")
def test_each_request_leaves_exactly_one_record(digest: Digest) -> None:
    records, _ = digest(ended(request_id="1"), ended(request_id="2"), ended(request_id="3"))

    assert [record["request_id"] for record in records] == ["1", "2", "3"]


def test_request_is_digested_once(digest: Digest) -> None:
    records, metrics = digest(ended(), digests=3)

    labels = {"group": "", "dialect": "openai_chat", "outcome": "ok"}
    assert len(records) == 1
    assert metrics.registry.get_sample_value("pointsman_requests_total", labels) == 1


@pytest.mark.req("X-13")
def test_record_shows_every_decision_with_its_candidates_and_reasons(digest: Digest) -> None:
    exchange = exchange_of(builders.outcome("upstream_fault", status=500), builders.outcome())

    records, _ = digest(ended(exchange))

    assert records[0]["decisions"] == [
        {
            "mode": "failover", "picked": "a/m", "propensity": 1.0, "candidates": ["a/m", "b/m"],
            "shares": [1.0, 0.0], "excluded": {"c/m": "weight_zero"}, "estimates": [], "scores": None,
            "pin": None, "fallback": None, "gates": {},
        },
        {
            "mode": "failover", "picked": "b/m", "propensity": 1.0, "candidates": ["b/m"],
            "shares": [1.0], "excluded": {"c/m": "weight_zero", "a/m": "tried"}, "estimates": [], "scores": None,
            "pin": None, "fallback": None, "gates": {},
        },
    ]  # fmt: skip


def test_record_shows_every_attempt(digest: Digest) -> None:
    exchange = exchange_of(builders.outcome("upstream_fault", detail="status_500", status=500), builders.outcome())

    records, _ = digest(ended(exchange))

    attempts = [(row["target_id"], row["outcome_class"], row["detail"]) for row in records[0]["attempts"]]
    assert attempts == [("a/m", "upstream_fault", "status_500"), ("b/m", "ok", "")]


def test_record_names_group_strategy_caller_and_version(digest: Digest) -> None:
    records, _ = digest(ended(exchange_of(builders.outcome(usage=USAGE))))

    record = records[0]
    assert (record["group"], record["strategy"], record["caller"]) == ("chat", "failover", "alice")
    assert (record["config_version"], record["status"], record["reason"]) == (7, 200, "ok")
    assert (record["time"], record["duration_s"]) == ("2026-11-30T12:00:00.123Z", 0.123456789)
    assert record["usage"]["input_tokens"] == 10
    assert record["cost_usd"] is None


PRICED = builders.group(
    "chat", "a/m", "b/m", strategy="failover", prices={"a/m": builders.price(10, 10), "b/m": builders.price(1, 2)}
)


def costs_of(record: dict[str, Any]) -> tuple[float | None, str | None, float]:
    return record["cost_usd"], record["cost_unknown"], record["wasted_usd"]


def test_cost_is_that_of_the_attempt_that_answered(digest: Digest) -> None:
    records, _ = digest(ended(exchange_of(builders.outcome(usage=USAGE), group=PRICED)))

    assert costs_of(records[0]) == (pytest.approx(0.00015), None, 0.0)  # 10 x 10 + 5 x 10


@pytest.mark.req("D-072")
@pytest.mark.case("T37")
@pytest.mark.bug("H-06")
def test_each_attempt_is_charged_at_its_own_target_and_the_failed_one_apart(digest: Digest) -> None:
    failed = builders.outcome("bad_payload", usage=Usage(1_000, 0))
    exchange = exchange_of(failed, builders.outcome(usage=USAGE), group=PRICED)

    records, metrics = digest(ended(exchange))

    assert costs_of(records[0]) == (pytest.approx(0.00002), None, pytest.approx(0.01))
    assert [attempt["cost_usd"] for attempt in records[0]["attempts"]] == [
        pytest.approx(0.01),
        pytest.approx(0.00002),
    ]
    bills = {
        target: metrics.registry.get_sample_value("pointsman_cost_usd_total", {"target": target})
        for target in ("a/m", "b/m")
    }
    assert bills == {"a/m": pytest.approx(0.01), "b/m": pytest.approx(0.00002)}


@pytest.mark.bug("C-10", "E-09")
@pytest.mark.parametrize(
    ("group", "usage", "why"), [(GROUP, USAGE, "no_price"), (PRICED, None, "no_usage"), (GROUP, None, "no_price")]
)
def test_cost_that_is_not_known_is_null_with_its_reason_and_in_no_metric(
    digest: Digest, group: ModelGroup, usage: Usage | None, why: str
) -> None:
    records, metrics = digest(ended(exchange_of(builders.outcome(usage=usage), group=group)))

    assert costs_of(records[0]) == (None, why, 0.0)
    assert b"pointsman_cost_usd_total{" not in metrics.exposition()


@pytest.mark.bug("C-10")
def test_what_is_free_costs_0(digest: Digest) -> None:
    free = builders.group("chat", "a/m", "b/m", strategy="failover", prices={"a/m": builders.price(0, 0)})

    records, metrics = digest(ended(exchange_of(builders.outcome(usage=USAGE), group=free)))

    assert costs_of(records[0]) == (0.0, None, 0.0)
    assert metrics.registry.get_sample_value("pointsman_cost_usd_total", {"target": "a/m"}) == 0.0


def test_request_that_was_sent_nowhere_has_no_cost_and_no_reason(digest: Digest) -> None:
    records, _ = digest(ended(None), ended(exchange_of(group=PRICED)))

    assert [costs_of(record) for record in records] == [(None, None, 0.0)] * 2


def test_record_shows_what_each_candidate_was_expected_to_charge(digest: Digest) -> None:
    group = builders.group("chat", "a/m", "b/m", strategy="cost", prices={"a/m": builders.price(1, 2)})

    records, _ = digest(ended(exchange_of(group=group)))

    assert records[0]["decisions"][0]["estimates"] == [
        {"input_tokens": 1_000, "output_tokens": 200, "cost_usd": pytest.approx(0.0014), "cached_tokens": 0},
        {"input_tokens": 1_000, "output_tokens": 200, "cost_usd": None, "cached_tokens": 0},
    ]


def test_request_that_was_never_routed_has_a_record_too(digest: Digest) -> None:
    records, _ = digest(ended(None, facts=None, status=400, reason="invalid_request"))

    record = records[0]
    assert (record["group"], record["facts"], record["decisions"], record["attempts"]) == (None, None, [], [])


@pytest.mark.req("D-075")
@pytest.mark.case("I15")
def test_record_never_has_the_words_of_a_provider(digest: Digest, tmp_path: Path) -> None:
    said = ProviderError("the prompt was: my secret", "t", "c", "p")

    digest(ended(exchange_of(builders.outcome("blocked", error=said))))

    assert b"my secret" not in (tmp_path / "decisions.jsonl").read_bytes()


def test_metrics_count_request_attempts_failovers_and_tokens(digest: Digest) -> None:
    exchange = exchange_of(builders.outcome("upstream_fault", status=500), builders.outcome(usage=USAGE))

    _, metrics = digest(ended(exchange))

    def value(name: str, **labels: str) -> float | None:
        return metrics.registry.get_sample_value(f"pointsman_{name}_total", labels)

    assert value("requests", group="chat", dialect="openai_chat", outcome="ok") == 1
    assert value("attempts", target="a/m", outcome="upstream_fault") == 1
    assert value("attempts", target="b/m", outcome="ok") == 1
    assert value("failovers", group="chat") == 1
    assert value("decisions", group="chat", mode="failover") == 2
    assert value("tokens", target="b/m", kind="input_uncached") == 6
    assert value("tokens", target="b/m", kind="input_cached") == 4
    assert value("tokens", target="b/m", kind="output") == 5


@pytest.mark.case("T76")
def test_names_that_callers_invent_never_become_labels(digest: Digest) -> None:
    ends = [ended(None, facts=builders.facts(model=f"invented-{number}")) for number in range(100)]

    _, metrics = digest(*ends)

    assert b"invented" not in metrics.exposition()


def test_requests_are_logged_if_wanted(digest: Digest, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    digest(ended(exchange_of(builders.outcome())), logs_requests=True)

    fields: dict[str, Any] = caplog.records[0].__dict__["fields"]
    assert fields == {
        "request_id": "req-1", "group": "chat", "target": "a/m", "attempts": 1,
        "status": 200, "reason": "ok", "duration_ms": 123.5,
    }  # fmt: skip


def test_requests_are_not_logged_unless_wanted(digest: Digest, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    digest(ended())

    assert not caplog.records


@pytest.mark.req("X-13", "D-074")
def test_record_shows_the_numbers_and_terms_of_a_strategy_that_compares(digest: Digest) -> None:
    group = builders.group("chat", "a/m", "b/m", strategy="least_busy")
    exchange = Exchange(builders.ask(), group, HandBoard(), Draws(), began_at=NOW, deadline=NOW + 60)
    exchange.start(NOW)

    records, _ = digest(ended(exchange))

    assert records[0]["decisions"][0]["scores"] == {
        "measured": [{"in_flight": 0}, {"in_flight": 0}],
        "terms": {"load": [1.0, 1.0]},
    }


def test_record_of_a_strategy_that_compares_nothing_has_no_scores(digest: Digest) -> None:
    records, _ = digest(ended(exchange_of(builders.outcome())))

    assert records[0]["decisions"][0]["scores"] is None
