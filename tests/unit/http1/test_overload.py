"""Requests that are turned away, in virtual time."""

import pytest

from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.http1.overload import CALM_S, MIN_RATIO, STANDING_S, Cause, MemoryStep, Overload, QueueGate

LIMIT_S = 0.1
LOOK_S = 0.1
MIB = 1 << 20
LIMIT_BYTES = 1_000 * MIB
SHORT, LONG = 0.01, 0.5

pytestmark = pytest.mark.case("T73")


def looked_at(gate: QueueGate, *waits_s: float, now: float = 0.0) -> float:
    """The time after so many looks."""
    for waited_s in waits_s:
        now += LOOK_S
        gate.observe(waited_s, now)
    return now


def shedding() -> tuple[QueueGate, float]:
    """A gate with a queue that stands, and the time."""
    gate = QueueGate(LIMIT_S)
    return gate, looked_at(gate, *[LONG] * 5)


@pytest.mark.parametrize("waits_s", [[SHORT] * 50, [LONG, SHORT] * 50, [60.0], [LIMIT_S] * 50])
def test_burst_sheds_nothing(waits_s: list[float]) -> None:
    gate = QueueGate(LIMIT_S)

    looked_at(gate, *waits_s)

    assert (gate.is_shedding, gate.ratio) == (False, 1.0)


def test_queue_that_stands_sheds_a_part() -> None:
    gate = QueueGate(LIMIT_S)
    before = looked_at(gate, LONG)
    gate.observe(LONG, before + STANDING_S - 0.01)
    assert not gate.is_shedding

    gate.observe(LONG, before + STANDING_S + 0.01)

    assert gate.is_shedding
    assert MIN_RATIO < gate.ratio < 1.0


def test_longer_queue_sheds_more_but_never_all() -> None:
    ratios = []
    for waited_s in (1.5 * LIMIT_S, 2.5 * LIMIT_S, 100 * LIMIT_S):
        gate = QueueGate(LIMIT_S)
        looked_at(gate, *[waited_s] * 6)
        ratios.append(gate.ratio)
        looked_at(gate, *[waited_s] * 1_000, now=1.0)
        assert gate.ratio == MIN_RATIO

    assert ratios == sorted(ratios, reverse=True)
    assert len(set(ratios)) == 3


def test_part_that_is_admitted_grows_back_while_there_is_no_queue() -> None:
    gate, now = shedding()
    before = gate.ratio

    looked_at(gate, *[SHORT] * 5, now=now)

    assert before < gate.ratio < 1.0
    assert gate.is_shedding


def test_overload_is_over_only_after_some_calm() -> None:
    gate, now = shedding()
    gate.ratio = 0.9
    now = looked_at(gate, *[SHORT] * int((CALM_S - LOOK_S) / LOOK_S), now=now)
    assert (gate.ratio, gate.is_shedding) == (1.0, True)

    looked_at(gate, SHORT, SHORT, now=now)

    assert not gate.is_shedding


def test_next_queue_must_stand_anew() -> None:
    gate, now = shedding()
    now = looked_at(gate, *[SHORT] * 100, now=now)

    looked_at(gate, LONG, LONG, now=now)

    assert not gate.is_shedding


@pytest.mark.parametrize("ratio", [0.05, 0.25, 0.5, 0.9, 1.0])
def test_exactly_that_part_is_admitted_and_spread_evenly(ratio: float) -> None:
    gate = QueueGate(LIMIT_S)
    gate.ratio = ratio

    admitted = [gate.admits() for _ in range(2_000)]

    assert sum(admitted) == pytest.approx(2_000 * ratio, abs=1)
    for start in range(0, 2_000, 100):
        assert sum(admitted[start : start + 100]) == pytest.approx(100 * ratio, abs=1)


# --- memory


def with_memory(*used: float) -> Overload:
    """After looks at these parts of the limit."""
    overload = Overload(LIMIT_S, LIMIT_BYTES)
    for share in used:
        overload.observe(0.0, int(share * LIMIT_BYTES), 0.0)
    return overload


@pytest.mark.case("T72")
@pytest.mark.parametrize(
    ("used", "step"),
    [
        (0.5, MemoryStep.PLENTY), (0.849, MemoryStep.PLENTY), (0.85, MemoryStep.NO_BODIES),
        (0.919, MemoryStep.NO_BODIES), (0.92, MemoryStep.NO_REQUESTS), (0.949, MemoryStep.NO_REQUESTS),
        (0.95, MemoryStep.NO_CONNECTIONS), (1.5, MemoryStep.NO_CONNECTIONS),
    ],
)  # fmt: skip
def test_each_step_begins_at_its_part_of_the_limit(used: float, step: MemoryStep) -> None:
    assert with_memory(used).memory.step is step


@pytest.mark.case("T72")
def test_step_is_left_with_a_margin_only() -> None:
    assert with_memory(0.96, 0.93).memory.step is MemoryStep.NO_CONNECTIONS
    assert with_memory(0.96, 0.91).memory.step is MemoryStep.NO_REQUESTS
    assert with_memory(0.96, 0.84).memory.step is MemoryStep.NO_BODIES
    assert with_memory(0.96, 0.81).memory.step is MemoryStep.PLENTY
    assert with_memory(0.86, 0.93, 0.86).memory.step is MemoryStep.NO_BODIES


@pytest.mark.case("T72")
def test_without_a_limit_nothing_is_ever_given_up() -> None:
    overload = Overload(LIMIT_S, None)

    overload.observe(0.0, 1 << 50, 0.0)
    overload.admit_body(1 << 50, 1 << 50)

    assert (overload.memory.step, overload.is_shedding) == (MemoryStep.PLENTY, False)


@pytest.mark.case("T72")
def test_limit_that_is_taken_away_ends_what_it_brought() -> None:
    overload = with_memory(0.96)
    overload.memory.limit_bytes = None

    overload.observe(0.0, LIMIT_BYTES, 0.0)

    assert not overload.is_shedding


@pytest.mark.case("T72")
@pytest.mark.parametrize(("expected_mib", "is_refused"), [(99, False), (100, True), (400, True)])
def test_bodies_are_refused_that_would_not_fit_with_their_copies(expected_mib: int, is_refused: bool) -> None:
    overload = with_memory(0.55)

    refused = is_shed(lambda: overload.admit_body(550 * MIB, expected_mib * MIB))

    assert refused is is_refused


@pytest.mark.case("T72")
def test_first_step_refuses_bodies_only_and_the_second_everything() -> None:
    first, second = with_memory(0.86), with_memory(0.93)

    assert is_shed(lambda: first.admit_body(0, 0))
    assert not first.is_shedding
    assert second.is_shedding
    assert is_shed(second.admit)


# --- both


def is_shed(ask: object) -> bool:
    assert callable(ask)
    try:
        ask()
    except GatewayError as error:
        return error.kind is ErrorKind.OVERLOADED
    return False


def test_everything_is_admitted_in_quiet_times() -> None:
    overload = with_memory(0.5)

    overload.observe(SHORT, 0, 1.0)

    assert not overload.is_shedding


@pytest.mark.bug("B-04", "B-14")
def test_who_is_refused_is_told_to_wait_the_longer_the_fewer_are_admitted() -> None:
    waits = []
    for ratio in (0.5, 0.1):
        overload = Overload(LIMIT_S, None)
        overload.queue.ratio, overload.queue.is_shedding = ratio, True
        with pytest.raises(GatewayError) as caught:
            overload.admit()
        waits.append(caught.value.retry_after_header)

    assert waits == [2, 10]
    assert caught.value.should_retry


def test_what_is_refused_is_counted_by_its_cause() -> None:
    overload = with_memory(0.93)
    is_shed(overload.admit)
    is_shed(lambda: overload.admit_body(0, 0))
    overload.observe(0.0, 0, 1.0)
    overload.queue.ratio, overload.queue.is_shedding = 0.25, True

    refused = [is_shed(overload.admit) for _ in range(4)]

    assert refused == [True, True, True, False]
    assert overload.shed == {Cause.QUEUE: 3, Cause.MEMORY: 2}
