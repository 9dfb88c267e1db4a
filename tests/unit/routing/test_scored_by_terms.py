"""`decide` and requests with the strategy `dynamic_score`: order of the steps, pins, thresholds, what is recorded."""

from random import Random
from typing import Any

import pytest
from msgspec import structs

from pointsman.domain.ask import Ask
from pointsman.domain.decision import AffinityOutcome, Decision, DecisionMode, Exclusion, FallbackReason
from pointsman.domain.outcome import Usage
from pointsman.domain.policy import Contract
from pointsman.domain.score_policy import DynamicScore, OnEmpty, ScoreTerm, Thresholds
from pointsman.domain.target import ModelGroup
from pointsman.routing.exchange import OK, Exchange, Finish, Send
from pointsman.routing.explain import explain
from pointsman.routing.router import decide
from pointsman.signals.board import SignalBoard
from pointsman.testing import builders

FAST = ScoreTerm("fast", "0.9 * latency_score + 0.1 * reliability_score")
PRICES = {"a/m": builders.price(1.0, 1.0), "b/m": builders.price(2.0, 2.0)}


def group(*, weights: tuple[float, float] = (60.0, 40.0), **policy: Any) -> ModelGroup:
    own = structs.replace(DynamicScore(terms=(FAST,), min_observations=5, exploration_ratio=0.0), **policy)
    members = zip(("a/m", "b/m"), weights, strict=True)
    return builders.group("chat", *members, strategy="dynamic_score", prices=PRICES, dynamic_score=own)


class Node:
    """A board and a clock: requests that take as long as their target is slow."""

    def __init__(self, found: ModelGroup, **slow_s: float) -> None:
        self.group, self.now, self.rng = found, 1_000.0, Random(1)
        self.board = SignalBoard(Random(1))
        self.board.keep([found])
        self.slow_s = {"a/m": 1.0, "b/m": 1.0, **{f"{name}/m": value for name, value in slow_s.items()}}
        self.failing: set[str] = set()

    def ask(self, **facts: Any) -> Ask:
        return builders.ask(config=builders.snapshot([self.group]), features=(), has_images=False, **facts)

    def exchange(self, **facts: Any) -> Exchange:
        return Exchange(
            self.ask(**facts), self.group, self.board, self.rng, began_at=self.now, deadline=self.now + 600.0
        )

    def serve(self, **facts: Any) -> list[Decision]:
        """One request, to its end."""
        exchange = self.exchange(**facts)
        command = exchange.start(self.now)
        while isinstance(command, Send):
            target = command.target
            lease = self.board.started(target, "alice", self.now, is_probe=command.is_probe, facts=exchange.ask.facts)
            self.now += self.slow_s[target.id]
            fails = target.id in self.failing
            outcome = builders.outcome(
                "upstream_fault" if fails else "ok",
                detail="status_500" if fails else "",
                duration_s=self.slow_s[target.id],
                usage=None if fails else Usage(1_000, 100),
            )
            self.board.record(lease, outcome, self.now, self.group)
            command = exchange.finished(outcome, self.now)
        assert command is OK
        return exchange.decisions


def picked(decision: Decision) -> tuple[str, str]:
    assert decision.pick is not None
    return decision.pick.target.id, decision.pick.mode.value


@pytest.mark.req("D-001", "D-005", "D-037", "D-070")
def test_declared_mix_serves_until_enough_was_seen_and_then_the_scores() -> None:
    node = Node(group(exploration_ratio=0.5), a=9.0, b=1.0)

    served = [picked(node.serve()[0]) for _ in range(5)]
    later = {picked(node.serve()[0]) for _ in range(40)}

    assert served == [("a/m", "fallback")] * 5
    assert {mode for _, mode in later} == {"score", "exploration"}
    assert ("b/m", "score") in later


@pytest.mark.req("D-003")
def test_nobody_outside_of_the_group_is_scored() -> None:
    own, other = group(), builders.group("other", "z/m")
    board = SignalBoard(Random(1))
    board.keep([own, other])

    decision = decide(
        builders.ask(config=builders.snapshot([own, other])), own, board.view(own, 1.0),
        rng=Random(1), lengths=builders.lengths(own),
    )  # fmt: skip

    assert decision.candidates == ("a/m", "b/m")


@pytest.mark.req("D-004")
def test_contract_comes_before_thresholds_and_thresholds_before_scores() -> None:
    found = group(thresholds=Thresholds(max_p95_s=5.0, min_samples=1), min_observations=0)
    measured = (builders.measured(observed=9, p95_s=1.0), builders.measured(observed=9, p95_s=9.0))
    view = builders.group_view(builders.view(), builders.view(), measured=measured)
    strict = structs.replace(found, policy=structs.replace(found.policy, contract=Contract(min_quality_score=0.9)))

    by_threshold = decide(builders.ask(), found, view, rng=Random(1), lengths=builders.lengths(found))
    by_contract = decide(builders.ask(), strict, view, rng=Random(1), lengths=builders.lengths(found))

    assert [each.rule for each in by_threshold.excluded] == [Exclusion.THRESHOLD]
    assert by_threshold.candidates == ("a/m",)
    assert {each.rule for each in by_contract.excluded} == {Exclusion.CONTRACT}


@pytest.mark.req("D-054", "D-072", "D-073")
def test_failures_count_against_who_failed_and_not_against_the_rescuer() -> None:
    node = Node(group())
    node.failing = {"a/m"}

    decisions = node.serve()

    assert [picked(decision)[0] for decision in decisions] == ["a/m", "b/m"]
    failed, rescuer = node.board.view(node.group, node.now).measured
    assert (failed.error_ratio, failed.rescued_ratio) == (1.0, 1.0)
    assert (rescuer.error_ratio, rescuer.rescued_ratio) == (0.0, 0.0)
    assert rescuer.output_tps == 100.0


@pytest.mark.req("D-050", "D-055")
def test_session_stays_until_its_target_breaks_a_threshold_and_then_moves() -> None:
    node = Node(group(thresholds=Thresholds(max_p95_s=5.0, min_samples=3)), a=1.0, b=1.0)
    session = builders.session("s1")

    before = node.serve(session=session)[0]
    node.slow_s["a/m"] = 30.0
    for _ in range(8):
        node.serve()
    after = node.serve(session=session)[0]
    later = node.serve(session=session)[0]

    assert picked(before)[0] == "a/m"
    assert picked(after)[0] == "b/m"
    assert after.pin is not None
    assert (after.pin.outcome, after.pin.reason) == (AffinityOutcome.RELEASED, Exclusion.THRESHOLD)
    assert picked(later) == ("b/m", "pinned")


@pytest.mark.req("D-017")
@pytest.mark.parametrize("on_empty", OnEmpty)
def test_when_everybody_breaks_a_threshold_it_is_dropped_or_the_request_refused(on_empty: OnEmpty) -> None:
    node = Node(group(thresholds=Thresholds(max_p95_s=0.5, min_samples=1), on_empty=on_empty, min_observations=2))
    for target in (member.target for member in node.group.members):
        lease = node.board.started(target, "alice", node.now, is_probe=False, facts=builders.facts())
        node.board.record(lease, builders.outcome(duration_s=9.0), node.now, node.group)

    exchange = node.exchange()
    command = exchange.start(node.now)

    if on_empty is OnEmpty.IGNORE:
        assert isinstance(command, Send)
        scores = exchange.decisions[0].scores
        assert scores is not None
        assert scores.note is not None
        assert scores.note.dropped == (Exclusion.THRESHOLD,)
    else:
        assert isinstance(command, Finish)
        assert command.error is not None
        assert command.error.status == 503
        assert "`on_empty` is fail" in command.error.message
        assert {each.rule for each in exchange.decisions[0].excluded} == {Exclusion.THRESHOLD}


@pytest.mark.req("D-074", "D-075")
def test_decision_tells_what_it_went_by_in_scalars() -> None:
    node = Node(group())
    for _ in range(6):
        node.serve()

    (decision,) = node.serve(tool_count=3, reasoning=True)

    assert decision.pick is not None
    assert decision.pick.mode is DecisionMode.SCORE
    scores = decision.scores
    assert scores is not None
    assert scores.fallback is None
    assert scores.note is not None
    assert scores.note.observations == 6
    assert scores.note.applied == ("fast",)
    assert scores.note.tools_bucket == "few"
    assert set(scores.terms) == {
        "latency_score", "reliability_score", "fast", "fast: 0.9 * latency_score", "fast: 0.1 * reliability_score",
        "weight_score", "score",
    }  # fmt: skip


@pytest.mark.req("D-074")
def test_cold_start_is_told_as_the_reason() -> None:
    (decision,) = Node(group()).serve()

    assert decision.scores is not None
    assert decision.scores.fallback is FallbackReason.WARMING


@pytest.mark.req("D-077")
def test_without_terms_and_thresholds_weights_decide() -> None:
    node = Node(group(terms=(), min_observations=0), a=9.0)

    assert {picked(node.serve()[0]) for _ in range(30)} == {("a/m", "fallback")}


def test_explanation_has_each_addend_beside_its_target() -> None:
    node = Node(group())
    for _ in range(6):
        node.serve()

    found = explain(node.ask(), node.board, Random(1), node.now)

    assert found.targets[0].numbers["fast: 0.1 * reliability_score"] == pytest.approx(0.1)
    assert found.targets[0].numbers["observed"] == 6
    assert "fast 0.9" in found.line or "fast 1" in found.line


@pytest.mark.req("X-12")
def test_once_slow_target_is_found_again_within_a_window_without_traffic() -> None:
    policy = {"window_s": 60.0, "max_adjustment_ratio": 1.0, "exploration_ratio": 0.2, "min_observations": 2}
    node = Node(group(weights=(1.0, 1.0), **policy), a=20.0)
    for _ in range(40):
        node.serve()
    slow = {picked(node.serve()[0]) for _ in range(20)}

    node.now += 61.0
    node.slow_s["a/m"] = 1.0
    first = picked(node.serve()[0])
    later = [picked(node.serve()[0]) for _ in range(30)]

    assert ("b/m", "score") in slow
    assert ("a/m", "score") not in slow
    assert first == ("a/m", "fallback")
    assert later[-10:].count(("a/m", "score")) >= 5


def test_window_of_another_configuration_is_closed() -> None:
    node = Node(group(window_s=60.0))
    node.serve()
    changed = group(window_s=120.0)

    node.board.keep([changed])

    assert node.board.view(changed, node.now).measured[0].observed == 0
