"""The attempts that all baselines get."""

from msgspec import structs

from pointsman.domain.decision import FinishReason
from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.target import Target
from pointsman.routing.exchange import Finish, Send
from pointsman.simulator.baselines.course import LiteralCourse
from tests.unit.simulator.baselines.playing import FAULT, OK
from tests.unit.simulator.simulated import request, target

BROKEN = structs.replace(OK, outcome_class=OutcomeClass.BROKEN_STREAM)
POOL = [target("a"), target("b"), target("c"), target("d")]


def course(pool: list[Target] = POOL, max_attempts: int = 3) -> LiteralCourse:
    """The next one in the list that was not tried."""
    return LiteralCourse(
        request(), lambda _, tried, __: next((each for each in pool if each not in tried), None), max_attempts
    )


def test_failed_attempt_goes_on_at_another_target_up_to_three_times() -> None:
    found = course()

    commands = [found.start(0.0), *[found.finished(FAULT, 1.0) for _ in range(3)]]

    assert [command.target.provider for command in commands if isinstance(command, Send)] == ["a", "b", "c"]
    last = commands[-1]
    assert isinstance(last, Finish)
    assert last.reason is FinishReason.ATTEMPTS_EXHAUSTED


def test_nothing_is_sent_again_after_the_first_content() -> None:
    found = course()
    found.start(0.0)

    assert found.finished(BROKEN, 1.0) == Finish(FinishReason.RESPONSE_STARTED)


def test_answer_is_the_end() -> None:
    found = course()
    found.start(0.0)

    assert found.finished(OK, 1.0) == Finish(FinishReason.OK)


def test_without_another_target_there_is_no_other_attempt() -> None:
    found = course(POOL[:1])
    found.start(0.0)

    last = found.finished(FAULT, 1.0)

    assert isinstance(last, Finish)
    assert last.reason is FinishReason.TARGETS_EXHAUSTED
