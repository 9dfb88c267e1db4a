"""Common random numbers."""

from statistics import mean, stdev

from pointsman.simulator.luck import Luck, Purpose, stream


def test_luck_of_an_attempt_is_the_same_whoever_asks_and_whenever() -> None:
    first, second = Luck(1, "r", "a", 0), Luck(1, "r", "a", 0)

    assert [first.uniform(purpose) for purpose in Purpose] == [second.uniform(purpose) for purpose in Purpose]


def test_seed_request_endpoint_attempt_and_purpose_all_make_another_draw() -> None:
    others = [Luck(2, "r", "a", 0), Luck(1, "s", "a", 0), Luck(1, "r", "b", 0), Luck(1, "r", "a", 1)]

    drawn = {luck.uniform(Purpose.TTFT) for luck in (Luck(1, "r", "a", 0), *others)}
    drawn |= {Luck(1, "r", "a", 0).uniform(purpose) for purpose in Purpose}

    assert len(drawn) == len(others) + len(Purpose)


def test_draws_are_uniform_and_normal() -> None:
    lucks = [Luck(1, str(number), "a", 0) for number in range(4_000)]

    uniforms = [luck.uniform(Purpose.FAILS) for luck in lucks]
    normals = [luck.normal(Purpose.TTFT) for luck in lucks]

    assert abs(mean(uniforms) - 0.5) < 0.02
    assert 0.0 < min(uniforms) < 0.01
    assert 0.99 < max(uniforms) < 1.0
    assert abs(mean(normals)) < 0.05
    assert abs(stdev(normals) - 1.0) < 0.05


def test_streams_of_two_purposes_are_apart() -> None:
    assert stream("picks", 1).random() == stream("picks", 1).random() != stream("signals", 1).random()
