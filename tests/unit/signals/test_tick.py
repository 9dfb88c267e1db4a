"""What is worked out ten times a second."""

import math

import pytest
from msgspec import structs

from pointsman.domain.decision import Effects, Spent
from pointsman.domain.outcome import Usage
from pointsman.signals.board import SignalBoard
from pointsman.signals.tick import TICK_S
from pointsman.testing import builders
from tests.unit.routing.asking import Draws

NOW = 1_000.0
GROUP = builders.group("chat", "a/m", "b/m", strategy="market")
ASK = builders.ask(stream=True)


def used() -> SignalBoard:
    board = SignalBoard(Draws())
    board.request_began(GROUP, NOW)
    return board


def answered(board: SignalBoard, ttft_s: float, now: float) -> None:
    target = GROUP.members[0].target
    lease = board.started(target, "alice", now - 3.0, is_probe=False, facts=ASK.facts)
    usage = Usage(input_tokens=1_000, output_tokens=200)
    ended = builders.outcome(status=200, ttfb_s=ttft_s, ttft_s=ttft_s, duration_s=3.0, usage=usage)
    board.record(lease, ended, now, GROUP.policy.cooldown)


def test_numbers_are_those_of_the_latest_tick() -> None:
    board = used()
    first = board.view(GROUP, NOW)
    answered(board, 2.0, NOW)

    soon = board.view(GROUP, NOW + 0.9 * TICK_S)
    board.request_began(GROUP, NOW + 1.1 * TICK_S)
    later = board.view(GROUP, NOW + 1.2 * TICK_S)

    assert (soon.measured, soon.market) == (first.measured, first.market)
    assert later.measured[0].samples == 1
    assert later.market is not first.market
    assert board.view(GROUP, NOW + 1.2 * TICK_S).market is later.market


def test_looking_without_a_request_sees_the_present_and_keeps_nothing() -> None:
    board = used()
    answered(board, 2.0, NOW)

    first, second = board.view(GROUP, NOW + 5.0), board.view(GROUP, NOW + 5.0)

    assert first.measured[0].samples == 1
    assert first.market is not second.market


def test_clock_that_steps_back_is_a_new_tick() -> None:
    board = used()
    first = board.view(GROUP, NOW)

    assert board.view(GROUP, NOW - 5.0).market is not first.market


def test_group_without_requests_is_seen_without_being_remembered() -> None:
    board = SignalBoard(Draws())

    view = board.view(GROUP, NOW)

    assert len(view.measured) == 2
    assert board._groups == {}


def test_all_numbers_that_adjusted_prices_need_are_there_from_the_start() -> None:
    for seen in used().view(GROUP, NOW).measured:
        numbers = (seen.ttft_s, seen.decode_tps, seen.fault_s, seen.rejection_s, seen.failure_ratio)
        assert all(number is not None and math.isfinite(number) and number > 0 for number in numbers)
        assert min(seen.ttft_error, seen.decode_error, seen.failure_error, seen.rate_limited_error) > 0


@pytest.mark.trap("4")
def test_target_that_is_new_counts_as_one_of_the_middle() -> None:
    board = used()
    for _ in range(50):
        answered(board, 2.0, NOW)

    known, new = board.view(GROUP, NOW + 1.0).measured

    assert new.ttft_s == known.ttft_s
    assert new.ttft_error > known.ttft_error


def test_lengths_of_answers_become_the_mix_of_the_group() -> None:
    board = used()
    for _ in range(50):
        board.learn(GROUP, GROUP.members[0].target, ASK, Usage(input_tokens=50, output_tokens=9), NOW)

    market = board.view(GROUP, NOW + 1.0).market

    assert market is not None
    assert market.median_input_tokens == 50
    assert market.output_tokens < 50


@pytest.mark.req("O-061")
def test_group_whose_first_request_wants_another_order_has_its_ticks_and_learns_of_it() -> None:
    board, sorted_by_price = SignalBoard(Draws()), structs.replace(GROUP, policy=builders.policy("cost"))
    board.keep([GROUP])

    board.request_began(sorted_by_price, NOW)
    board.learn(sorted_by_price, GROUP.members[0].target, ASK, Usage(input_tokens=50, output_tokens=9), NOW)
    board.request_began(GROUP, NOW)
    view = board.view(GROUP, NOW)

    assert view.market is board.view(GROUP, NOW + TICK_S / 2).market
    assert view.market is not None
    assert view.market.median_input_tokens == 50


def test_other_configuration_of_a_group_keeps_what_was_booked_and_works_out_the_rest() -> None:
    board = used()
    before = board.view(GROUP, NOW)
    board.apply(GROUP, Effects(spent=Spent(best_usd=1.0)))
    renamed = builders.group("chat", "b/m", "c/m", "a/m", strategy="market")

    board.keep([renamed])
    board.request_began(renamed, NOW)
    after = board.view(renamed, NOW)

    assert (len(before.measured), len(after.measured)) == (2, 3)
    assert after.probes.requests == 1


def test_request_of_an_earlier_configuration_sees_its_own_members() -> None:
    board = used()
    board.keep([builders.group("chat", "c/m", strategy="market")])

    assert len(board.view(GROUP, NOW).measured) == 2


def test_whole_answers_tell_the_time_to_the_first_token_once_the_speed_is_known() -> None:
    board = used()
    for _ in range(20):
        answered(board, 1.0, NOW)
    target, usage = GROUP.members[0].target, Usage(input_tokens=1_000, output_tokens=200)
    before = board.view(GROUP, NOW).measured[0]

    lease = board.started(target, "alice", NOW, is_probe=False, facts=builders.facts())
    ended = builders.outcome(status=200, ttft_s=9.0, duration_s=9.0, usage=usage)
    board.record(lease, ended, NOW, GROUP.policy.cooldown)

    after = board.view(GROUP, NOW + 1.0).measured[0]
    assert before.ttft_s is not None
    assert after.ttft_s is not None
    assert after.ttft_s > before.ttft_s
