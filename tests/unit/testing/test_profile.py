"""A simulated provider's character: the same seed gives the same answers, and it may change as it runs."""

import statistics

import pytest

from pointsman.testing import Answer, Chat, FakeClock, Received, SimulatedProfile, Status

REQUEST = Received("POST", "/v1/chat/completions", [], b"{}", connection=1, number=1, received_at=0.0)


def profile(seed: int = 0, *, name: str = "swift", error_ratio: float = 0.2, **others: object) -> SimulatedProfile:
    return SimulatedProfile(name, 0.1, 50.0, error_ratio, seed=seed, **others)


def answers(of: SimulatedProfile, count: int = 300) -> list[Answer]:
    return [of.answer(REQUEST) for _ in range(count)]


def error_ratio(found: list[Answer]) -> float:
    return sum(isinstance(answer, Status) for answer in found) / len(found)


def test_equal_seeds_give_equal_answers() -> None:
    assert answers(profile(7)) == answers(profile(7))


@pytest.mark.parametrize("other", [profile(8), profile(7, name="steady")], ids=["seed", "name"])
def test_another_seed_or_name_gives_other_answers(other: SimulatedProfile) -> None:
    assert answers(profile(7)) != answers(other)


def test_two_profiles_do_not_disturb_each_other() -> None:
    alone = answers(profile(1), 20)
    first, second = profile(1), profile(2)

    interleaved = [(first.answer(REQUEST), second.answer(REQUEST))[0] for _ in range(20)]

    assert interleaved == alone


def test_speed_lies_around_its_medians() -> None:
    chats = [answer for answer in answers(profile(error_ratio=0.0), 1_000) if isinstance(answer, Chat)]

    assert statistics.median(chat.delay_s for chat in chats) == pytest.approx(0.1, rel=0.05)
    assert statistics.median(chat.gap_s for chat in chats) == pytest.approx(1 / 50, rel=0.05)
    assert statistics.median(len(chat.text.split()) for chat in chats) == pytest.approx(24, rel=0.1)


def test_errors_come_in_their_ratio_and_with_server_statuses() -> None:
    found = answers(profile(), 2_000)

    assert error_ratio(found) == pytest.approx(0.2, abs=0.03)
    assert {answer.code for answer in found if isinstance(answer, Status)} == {500, 503}


@pytest.mark.parametrize(("ratio", "expected"), [(0.0, 0.0), (1.0, 1.0)])
def test_ratio_zero_is_never_and_ratio_one_is_always(ratio: float, expected: float) -> None:
    assert error_ratio(answers(profile(error_ratio=ratio))) == expected


def test_slowed_down_provider_takes_its_factor_longer() -> None:
    usual, slow = profile(error_ratio=0.0), profile(error_ratio=0.0)
    slow.slow_down(3)

    before, after = usual.answer(REQUEST), slow.answer(REQUEST)

    assert after.delay_s == pytest.approx(3 * before.delay_s)
    assert after.gap_s == pytest.approx(3 * before.gap_s)


def test_broken_down_provider_answers_with_errors_until_it_recovers() -> None:
    provider = profile(error_ratio=0.0)

    provider.break_down()
    broken = error_ratio(answers(provider, 50))
    provider.recover()
    recovered = error_ratio(answers(provider, 50))

    assert (broken, recovered) == (1.0, 0.0)


def test_recovery_brings_everything_back() -> None:
    provider = profile(rate_limit_per_s=5)
    provider.slow_down(2)
    provider.break_down(0.5)
    provider.rate_limit_per_s = None

    provider.recover()

    assert (provider.ttft_s, provider.tokens_per_s, provider.error_ratio, provider.rate_limit_per_s) == (
        0.1,
        50,
        0.2,
        5,
    )


def test_request_limit_is_by_the_given_clock_and_told() -> None:
    clock = FakeClock()
    provider = profile(error_ratio=0.0, rate_limit_per_s=2, clock=clock)

    at_once = [type(answer) for answer in answers(provider, 3)]
    clock.advance(0.5)
    later = provider.answer(REQUEST)

    assert at_once == [Chat, Chat, Status]
    assert isinstance(later, Chat)
    assert ("x-ratelimit-limit-requests", "2") in later.headers


def test_request_limit_may_change_as_it_runs() -> None:
    provider = profile(error_ratio=0.0, rate_limit_per_s=1, clock=FakeClock())

    found = []
    for limit_per_s in (1, 3, None):
        provider.rate_limit_per_s = limit_per_s
        found.append(sum(isinstance(answer, Chat) for answer in answers(provider, 5)))

    assert found == [1, 3, 5]


def test_words_can_be_given() -> None:
    answer = profile(error_ratio=0.0, words=["only"]).answer(REQUEST)

    assert isinstance(answer, Chat)
    assert set(answer.text.split()) == {"only"}
