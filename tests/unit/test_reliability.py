"""What an answer of a provider means for its reliability: from the status on the wire to the learned ratio."""

import pytest

from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.policy import MARKET
from pointsman.domain.view import Signal
from pointsman.routing.outcomes import verdict
from pointsman.signals.board import SignalBoard
from pointsman.testing import builders
from pointsman.upstream.faults import CLASS_BY_FAULT
from tests.unit.signals.pausing import Draws

NOW = 1_000.0
READS = frozenset((Signal.FAILURES, Signal.RATE_LIMITS))
GROUP = builders.group("chat", "a/m", "b/m", strategy="p2c", cooldown=MARKET, reads=READS)
TARGET = GROUP.members[0].target
COUNTED = (401, 402, 404, 405, 408, 410, 421, 423, 424, 426, 498, 500, 501, 502, 503, 504, 520, 522, 524, 530)
NOT_COUNTED = (400, 413, 422, 403, 451, 429, 529)


def ratios_after(*classes: OutcomeClass) -> tuple[float, float]:
    """Shares of attempts that fail, and that a rate limit refuses, after attempts with these ends."""
    board = SignalBoard(Draws())
    board.keep([GROUP])
    for kind in classes:
        lease = board.started(TARGET, "alice", NOW, is_probe=False, facts=builders.facts())
        board.record(lease, builders.outcome(kind, duration_s=0.2), NOW, GROUP)
    seen = board.view(GROUP, NOW).measured[0]
    assert seen.failure_ratio is not None
    assert seen.rate_limited_ratio is not None
    return seen.failure_ratio, seen.rate_limited_ratio


@pytest.mark.req("O-030", "D-073")
@pytest.mark.parametrize("status", COUNTED)
def test_status_that_is_the_providers_fault_counts_against_it(status: int) -> None:
    failed, _ = ratios_after(verdict(status, None).outcome_class)

    assert failed > 2 * ratios_after()[0]


@pytest.mark.req("O-030", "D-073")
@pytest.mark.parametrize("kind", [*CLASS_BY_FAULT.values(), OutcomeClass.BROKEN_STREAM, OutcomeClass.BAD_PAYLOAD])
def test_no_answer_and_a_broken_one_count_against_it(kind: OutcomeClass) -> None:
    assert ratios_after(kind)[0] > 2 * ratios_after()[0]


@pytest.mark.req("O-031")
@pytest.mark.parametrize("status", NOT_COUNTED)
def test_status_that_is_about_the_request_or_a_limit_does_not(status: int) -> None:
    assert ratios_after(verdict(status, None).outcome_class)[0] == ratios_after()[0]


@pytest.mark.req("O-031", "D-073", "X-08")
def test_caller_who_leaves_says_nothing_of_failures_and_limits() -> None:
    assert ratios_after(*[OutcomeClass.CALLER_GONE] * 200) == ratios_after()


@pytest.mark.req("O-031", "D-073")
@pytest.mark.parametrize("status", [429, 529])
def test_rate_limit_counts_as_one_and_as_no_failure(status: int) -> None:
    before, after = ratios_after(), ratios_after(verdict(status, None).outcome_class)

    assert after[0] == before[0]
    assert after[1] > 2 * before[1]
