"""The best by one measured number."""

import pytest

from pointsman.domain.decision import DecisionMode
from pointsman.domain.target import ModelGroup
from pointsman.domain.view import Measured
from pointsman.routing.router import decide
from pointsman.testing import builders
from tests.unit.routing.asking import NOBODY, Draws
from tests.unit.routing.scorers.contests import verdict


def by_latency(*times_s: float | None, stream: bool = True, weights: tuple[float, ...] | None = None) -> list[float]:
    name = "ttft_s" if stream else "unary_s"
    measured = [builders.measured(**{name: time_s}) for time_s in times_s]
    return list(verdict("latency", measured, stream=stream, weights=weights).weights)


def writer(ttft_s: float | None, decode_tps: float | None) -> Measured:
    return builders.measured(ttft_s=ttft_s, decode_tps=decode_tps)


@pytest.mark.parametrize("stream", [True, False])
def test_fastest_target_gets_the_request(stream: bool) -> None:
    assert by_latency(0.9, 0.3, 0.5, stream=stream) == [0.0, 1.0, 0.0]


def test_nearly_equal_targets_share_by_weight() -> None:
    assert by_latency(0.300, 0.315, 0.33, weights=(1.0, 3.0, 1.0)) == [1.0, 3.0, 0.0]


def test_target_that_was_never_measured_is_one_of_the_middle() -> None:
    assert by_latency(None, 0.3) == [1.0, 1.0]
    assert by_latency(None, 0.3, 0.5, 0.9) == [0.0, 1.0, 0.0, 0.0]
    assert by_latency(None, None) == [1.0, 1.0]


@pytest.mark.req("O-024")
def test_throughput_is_that_of_the_whole_answer_so_the_time_to_the_first_token_counts() -> None:
    found = verdict("throughput", [writer(0.5, 100.0), writer(4.0, 150.0), writer(0.2, 40.0)])

    assert found.terms["output_tps"] == pytest.approx((200 / 2.5, 200 / (4 + 200 / 150), 200 / 5.2))
    assert found.weights == (1.0, 0.0, 0.0)
    assert set(found.modes) == {DecisionMode.THROUGHPUT}


def test_speed_that_nobody_knows_is_one_of_the_middle() -> None:
    assert verdict("throughput", [writer(None, None), writer(0.5, 100.0)]).weights == (1.0, 1.0)


def test_after_a_failure_the_next_best_is_tried() -> None:
    group: ModelGroup = builders.group("chat", "a/m", "b/m", "c/m", strategy="latency")
    measured = tuple(builders.measured(ttft_s=time_s) for time_s in (0.9, 0.3, 0.5))
    view = builders.group_view(*[builders.view()] * 3, measured=measured)

    order, tried = [], NOBODY
    for _ in group.members:
        decision = decide(builders.ask(stream=True), group, view, rng=Draws(), tried=tried)
        assert decision.pick is not None
        order.append(decision.pick.target.id)
        tried |= {order[-1]}

    assert order == ["b/m", "c/m", "a/m"]
