"""The signal board: state by identity, effects, leases, forgetting."""

import pytest
from msgspec import structs

from pointsman.domain.decision import Effects
from pointsman.domain.outcome import Usage
from pointsman.domain.policy import MARKET, Cooldown
from pointsman.domain.target import Limits, ModelGroup
from pointsman.domain.view import Breaker, Learned, Limit, PauseCause, Signal
from pointsman.signals.board import SignalBoard
from pointsman.testing import builders
from tests.unit.signals.pausing import Draws

NOW = 1_000.0
ANY = builders.group("any", "any/m")  # whose policy is the usual one


def board() -> SignalBoard:
    return SignalBoard(Draws())


def pause(signals: SignalBoard, target_id: str, now: float = NOW) -> None:
    """One rate limit: 30 s."""
    lease = signals.started(builders.target(target_id), "alice", now, is_probe=False)
    signals.record(lease, builders.outcome("rate_limited"), now, ANY)


def end(signals: SignalBoard, target_id: str, kind: str, now: float, of: ModelGroup = ANY, **details: object) -> None:
    """An attempt that took no time."""
    lease = signals.started(builders.target(target_id), "alice", now, is_probe=False)
    signals.record(lease, builders.outcome(kind, **details), now, of)


def breakers(signals: SignalBoard, group: ModelGroup, now: float = NOW) -> dict[str, Breaker]:
    views = signals.view(group, now).targets
    return {member.target.id: view.breaker for member, view in zip(group.members, views, strict=True)}


def test_unknown_targets_are_closed_and_the_group_is_calm() -> None:
    view = board().view(builders.group("chat", "a/m", "b/m"), NOW)

    assert view.is_calm
    assert [seen.breaker for seen in view.targets] == [Breaker.CLOSED, Breaker.CLOSED]
    assert view.turn_credits == (0.0, 0.0)


def test_calm_group_with_traffic_has_the_same_view() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m")
    before = signals.view(group, NOW)

    signals.request_began(group, NOW)

    assert signals.view(group, NOW) == before


def test_group_with_a_paused_target_is_not_calm() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m")
    pause(signals, "b/m")

    view = signals.view(group, NOW)

    assert not view.is_calm
    assert breakers(signals, group) == {"a/m": Breaker.CLOSED, "b/m": Breaker.OPEN}


def test_group_is_calm_while_another_groups_target_is_paused() -> None:
    signals = board()
    pause(signals, "z/m")

    assert signals.view(builders.group("chat", "a/m"), NOW).is_calm


@pytest.mark.trap("17")
def test_pause_of_a_target_holds_in_every_group_that_uses_it() -> None:
    signals = board()
    pause(signals, "b/m")

    seen = [breakers(signals, builders.group(name, "a/m", "b/m"))["b/m"] for name in ("chat", "code")]

    assert seen == [Breaker.OPEN, Breaker.OPEN]


@pytest.mark.req("X-09")
@pytest.mark.bug("A-23", "P-6")
def test_reordered_targets_keep_their_own_pauses() -> None:
    signals = board()
    pause(signals, "b/m")

    reordered = builders.group("chat", "c/m", "b/m", "a/m")

    assert breakers(signals, reordered) == {"c/m": Breaker.CLOSED, "b/m": Breaker.OPEN, "a/m": Breaker.CLOSED}


@pytest.mark.req("R-034", "X-09")
@pytest.mark.bug("P-6")
def test_reordered_targets_keep_their_own_turns() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m", "c/m", strategy="round_robin")
    signals.apply(group, Effects(turn_credits=(-2.0, 1.5, 0.5)))
    reordered = builders.group("chat", "c/m", "a/m", "b/m", strategy="round_robin")

    signals.keep([reordered])

    assert signals.view(reordered, NOW).turn_credits == (0.5, -2.0, 1.5)


@pytest.mark.req("R-034")
@pytest.mark.bug("P-6")
def test_group_whose_policy_alone_changes_keeps_its_turns() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m", strategy="round_robin")
    signals.apply(group, Effects(turn_credits=(-1.0, 1.0)))
    renewed = builders.group("chat", "a/m", "b/m", strategy="round_robin", cooldown=Cooldown(base_s=1.0))

    signals.keep([renewed])

    assert signals.view(renewed, NOW).turn_credits == (-1.0, 1.0)


@pytest.mark.parametrize(
    "members",
    [(("a/m", 1.0), ("b/m", 1.0)), (("a/m", 1000.0), ("c/m", 1000.0)), (("a/m", 1000.0),)],
    ids=["other weights", "another target", "a target less"],
)
def test_turns_begin_anew_when_what_they_are_counted_in_changes(members: tuple[tuple[str, float], ...]) -> None:
    signals = board()
    group = builders.group("chat", ("a/m", 1000.0), ("b/m", 1000.0), strategy="round_robin")
    signals.apply(group, Effects(turn_credits=(-1000.0, 1000.0)))
    renewed = builders.group("chat", *members, strategy="round_robin")

    signals.keep([renewed])

    assert signals.view(renewed, NOW).turn_credits == (0.0,) * len(members)


@pytest.mark.case("I16")
def test_request_of_an_earlier_configuration_takes_no_turn_of_this_one() -> None:
    signals, old = board(), builders.group("chat", "a/m", "b/m", strategy="round_robin")
    new = builders.group("chat", "a/m", "c/m", strategy="round_robin")
    signals.request_began(old, NOW)
    signals.keep([new])
    signals.apply(new, Effects(turn_credits=(-1.0, 1.0)))

    signals.apply(old, Effects(turn_credits=(1.0, -1.0)))

    assert signals.view(new, NOW).turn_credits == (-1.0, 1.0)


@pytest.mark.req("R-034")
def test_group_that_is_defined_anew_keeps_its_retry_budget() -> None:
    signals, group = board(), builders.group("chat", "a/m")
    signals.spend_retry(group, NOW)
    renewed = builders.group("chat", "a/m", "b/m")

    signals.keep([renewed])

    assert signals.retries_left(renewed, NOW) == 29


def test_request_of_an_earlier_configuration_spends_the_same_budget() -> None:
    signals, old, new = board(), builders.group("chat", "a/m"), builders.group("chat", "b/m")
    signals.request_began(old, NOW)
    signals.keep([new])

    signals.spend_retry(old, NOW)

    assert signals.retries_left(new, NOW) == pytest.approx(29.2)


def test_group_that_is_defined_anew_is_calm_at_once() -> None:
    signals, new = board(), builders.group("chat", "a/m", "b/m")
    signals.request_began(builders.group("chat", "a/m"), NOW)

    signals.keep([new])

    assert signals.view(new, NOW) is signals.view(new, NOW)
    assert len(signals.view(new, NOW).targets) == 2


@pytest.mark.req("R-034")
@pytest.mark.bug("P-6")
def test_unchanged_target_keeps_its_pause_and_what_is_in_flight() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m")
    pause(signals, "a/m")
    lease = signals.started(group.members[1].target, "alice", NOW, is_probe=False)
    renewed = builders.group("chat", "b/m", "new/m", "a/m")

    signals.keep([renewed])
    during = signals.in_flight(renewed.members[0].target)
    signals.record(lease, builders.outcome(), NOW, ANY)

    assert breakers(signals, renewed) == {"b/m": Breaker.CLOSED, "new/m": Breaker.CLOSED, "a/m": Breaker.OPEN}
    assert (during, signals.in_flight(renewed.members[0].target)) == (1, 0)


@pytest.mark.req("R-034")
def test_faults_in_a_row_are_counted_on_over_a_reload() -> None:
    signals, target = board(), builders.target("a/m")
    for fault in range(3):
        signals.keep([builders.group("chat", "a/m", f"extra-{fault}/m")])
        lease = signals.started(target, "alice", NOW, is_probe=False)
        signals.record(lease, builders.outcome("upstream_fault"), NOW, ANY)

    assert signals.target_view(target, NOW).breaker is Breaker.OPEN


@pytest.mark.req("X-09")
def test_other_groups_keep_what_they_learned_when_one_is_defined_anew() -> None:
    signals, code = board(), builders.group("code", "a/m", "b/m", strategy="round_robin")
    signals.apply(code, Effects(turn_credits=(-1.0, 1.0)))

    signals.request_began(builders.group("chat", "z/m"), NOW)

    assert signals.view(code, NOW).turn_credits == (-1.0, 1.0)


@pytest.mark.bug("J-09")
def test_target_with_another_credential_is_another_target() -> None:
    signals = board()
    pause(signals, "a/m")
    group = builders.group("chat", "a/m")
    member = group.members[0]
    rotated = structs.replace(member, target=structs.replace(member.target, state_key="a/m#new-key"))

    renewed = structs.replace(group, members=(rotated,))

    assert breakers(signals, renewed) == {"a/m": Breaker.CLOSED}


def test_each_group_has_its_own_retry_budget() -> None:
    signals = board()

    signals.spend_retry(builders.group("chat", "a/m"), NOW)

    assert signals.retries_left(builders.group("code", "a/m"), NOW) == 30


def test_requests_add_to_the_retry_budget() -> None:
    signals, group = board(), builders.group("chat", "a/m")

    for _ in range(10):
        signals.request_began(group, NOW)

    assert signals.retries_left(group, NOW) == 32


def test_effects_without_turns_change_nothing() -> None:
    signals, group = board(), builders.group("chat", "a/m")

    signals.apply(group, Effects(claim_probe=True))

    assert signals.view(group, NOW).turn_credits == (0.0,)


@pytest.mark.req("X-07")
@pytest.mark.case("I30")
def test_probe_permit_is_taken_from_start_to_end() -> None:
    signals, group = board(), builders.group("chat", "a/m")
    pause(signals, "a/m")
    target = group.members[0].target

    lease = signals.started(target, "alice", NOW + 30, is_probe=True)
    during = signals.view(group, NOW + 30).targets[0]
    signals.record(lease, builders.outcome("caller_gone"), NOW + 31, ANY)
    after = signals.view(group, NOW + 31).targets[0]

    assert during.is_probing
    assert (after.breaker, after.is_probing) == (Breaker.HALF_OPEN, False)


def test_recovered_target_makes_the_group_calm_again_after_its_slow_start() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m")
    signals.request_began(group, NOW)
    for _ in range(3):
        end(signals, "a/m", "upstream_fault", NOW)

    end(signals, "a/m", "ok", NOW + 30)
    at_once = signals.view(group, NOW + 30)
    end(signals, "a/m", "ok", NOW + 50)

    assert at_once.targets[0].gate == pytest.approx(0.1)
    assert not at_once.is_calm
    assert signals.view(group, NOW + 50) is signals.view(group, NOW + 51)


@pytest.mark.case("I3")
def test_in_flight_counts_attempts_that_have_not_ended() -> None:
    signals, target = board(), builders.target("a/m")
    before = signals.in_flight(target)

    leases = [signals.started(target, "alice", NOW, is_probe=False) for _ in range(3)]
    signals.record(leases[0], builders.outcome(), NOW, ANY)

    assert (before, signals.in_flight(target)) == (0, 2)


@pytest.mark.bug("A-02")
def test_attempt_is_recorded_exactly_once() -> None:
    signals = board()
    lease = signals.started(builders.target("a/m"), "alice", NOW, is_probe=False)
    signals.record(lease, builders.outcome(), NOW, ANY)

    with pytest.raises(KeyError):
        signals.record(lease, builders.outcome(), NOW, ANY)


@pytest.mark.case("I26")
def test_targets_that_nobody_names_any_more_are_forgotten() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m")
    pause(signals, "a/m")
    pause(signals, "b/m")

    signals.keep([builders.group("chat", "b/m")])

    assert breakers(signals, group) == {"a/m": Breaker.CLOSED, "b/m": Breaker.OPEN}


@pytest.mark.bug("C-02")
def test_target_in_use_is_not_forgotten() -> None:
    signals, target = board(), builders.target("a/m")
    lease = signals.started(target, "alice", NOW, is_probe=False)

    signals.keep([])
    during = signals.in_flight(target)
    signals.record(lease, builders.outcome(), NOW, ANY)

    assert (during, signals.in_flight(target)) == (1, 0)


@pytest.mark.case("I26")
@pytest.mark.bug("L-03")
def test_a_thousand_configurations_leave_the_state_of_the_last() -> None:
    signals = board()
    for number in range(1000):
        group = builders.group(f"chat-{number}", f"a/m-{number}", "b/m")
        signals.keep([group])
        signals.request_began(group, NOW)
        for member in group.members:
            lease = signals.started(member.target, "alice", NOW, is_probe=False)
            signals.record(lease, builders.outcome("rate_limited"), NOW, ANY)

    assert (len(signals._targets), len(signals._groups), len(signals._unsettled)) == (2, 1, 2)


@pytest.mark.case("I26")
def test_gone_target_is_forgotten_once_nothing_is_in_flight_on_it() -> None:
    signals = board()
    lease = signals.started(builders.target("a/m"), "alice", NOW, is_probe=False)
    signals.keep([])
    signals.record(lease, builders.outcome("rate_limited"), NOW, ANY)

    signals.keep([])

    assert (signals._targets, signals._unsettled) == ({}, set())


@pytest.mark.case("I26")
def test_groups_that_are_gone_are_forgotten_and_the_others_kept() -> None:
    signals, chat, code = board(), builders.group("chat", "a/m"), builders.group("code", "a/m")
    for group in (chat, code):
        signals.spend_retry(group, NOW)

    signals.keep([code, code])  # by name and by alias

    assert (signals.retries_left(chat, NOW), signals.retries_left(code, NOW)) == (30, 29)


def test_reading_changes_no_state() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m")
    pause(signals, "a/m")
    before = signals.view(group, NOW + 40)

    for second in range(100):
        signals.view(group, NOW + second * 100)

    assert signals.view(group, NOW + 40) == before


# --- what strategies compare

STREAM = builders.facts(stream=True)


def serve(signals: SignalBoard, target_id: str, ttft_s: float = 0.4, now: float = NOW) -> None:
    """One stream that took so long to begin."""
    lease = signals.started(builders.target(target_id), "alice", now, is_probe=False, facts=STREAM)
    lease.answered()
    served = builders.outcome(status=200, ttfb_s=ttft_s, ttft_s=ttft_s, duration_s=1.0)
    signals.record(lease, served, now, ANY)


def test_groups_that_read_no_signal_are_measured_at_no_cost() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m")
    signals.request_began(group, NOW)

    serve(signals, "a/m")

    assert signals.view(group, NOW).measured == ()
    assert signals._targets["a/m"].tracks is None
    assert not signals._targets["a/m"].waiting


def test_group_that_reads_signals_is_measured_from_its_first_request_on() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m", strategy="blend")
    signals.request_began(group, NOW)

    serve(signals, "a/m")

    seen = signals.view(group, NOW).measured
    assert [each.samples for each in seen] == [1, 0]


def test_paused_targets_are_measured_too() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m", strategy="p2c")
    signals.request_began(group, NOW)
    pause(signals, "b/m")
    serve(signals, "a/m")

    view = signals.view(group, NOW)

    assert (view.is_calm, [each.samples for each in view.measured]) == (False, [1, 0])


def test_attempts_of_any_group_tell_about_a_target() -> None:
    signals = board()
    reading = builders.group("chat", "a/m", "b/m", strategy="blend")
    signals.request_began(reading, NOW)
    signals.request_began(builders.group("other", "a/m"), NOW)

    serve(signals, "a/m")

    assert signals.view(reading, NOW).measured[0].samples == 1


@pytest.mark.req("R-034")
@pytest.mark.bug("P-6")
def test_reordered_targets_keep_their_own_numbers_and_the_group_its_warm_up() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m", strategy="blend")
    signals.request_began(group, NOW)
    serve(signals, "a/m")
    signals.served(group)
    reordered = builders.group("chat", "c/m", "b/m", "a/m", strategy="blend")

    signals.keep([reordered])

    view = signals.view(reordered, NOW)
    assert ([each.samples for each in view.measured], view.served) == ([0, 0, 1], 1)


def test_strategy_that_a_reload_names_is_measured_from_then_on() -> None:
    signals = board()
    signals.request_began(builders.group("chat", "a/m"), NOW)
    reloaded = builders.group("chat", "a/m", strategy="p2c")

    signals.keep([reloaded])
    serve(signals, "a/m")

    assert signals.view(reloaded, NOW).measured[0].ttfb_s == 0.4


@pytest.mark.req("X-10")
@pytest.mark.case("I3")
@pytest.mark.bug("C-02")
def test_open_stream_is_in_flight_until_it_ends_however_long_it_takes() -> None:
    signals, group = board(), builders.group("chat", "a/m", strategy="least_busy")
    signals.request_began(group, NOW)
    lease = signals.started(group.members[0].target, "alice", NOW, is_probe=False, facts=STREAM)
    lease.answered()

    before = signals.view(group, NOW + 86_400.0).measured
    signals.record(lease, builders.outcome(status=200), NOW + 86_400.0, ANY)

    assert (before[0].in_flight, signals.view(group, NOW + 86_400.0).measured[0].in_flight) == (1, 0)


# --- sessions


def settled(signals: SignalBoard, group: ModelGroup, target_id: str) -> None:
    signals.settle(group, "alice", builders.session(), builders.target(target_id), NOW)


def home(signals: SignalBoard, group: ModelGroup) -> int | None:
    return signals.home(group, "alice", builders.session(), NOW)


def test_session_is_at_home_where_it_was_settled() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m")
    assert home(signals, group) is None

    settled(signals, group, "b/m")

    assert home(signals, group) == 1
    assert home(signals, builders.group("other", "a/m", "b/m")) is None


@pytest.mark.req("X-09")
@pytest.mark.bug("A-23")
@pytest.mark.req("R-034")
def test_home_is_a_target_and_not_a_place_in_a_list() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m")
    settled(signals, group, "b/m")

    reordered = builders.group("chat", "b/m", "c/m", "a/m")
    signals.keep([reordered])

    assert home(signals, reordered) == 0


def test_home_that_the_group_has_lost_is_none_until_it_is_back() -> None:
    signals, group, without = board(), builders.group("chat", "a/m", "b/m"), builders.group("chat", "a/m")
    settled(signals, group, "b/m")

    signals.keep([without])

    assert home(signals, without) is None


def test_other_credential_is_another_target() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m")
    settled(signals, group, "b/m")
    other = structs.replace(group.members[1].target, state_key="b/m#other")

    renewed = structs.replace(group, members=(group.members[0], structs.replace(group.members[1], target=other)))

    assert home(signals, renewed) is None


# --- calm groups


@pytest.mark.trap("17")
def test_limit_of_one_target_leaves_the_groups_without_it_calm() -> None:
    signals, group = board(), builders.group("chat", "a/m")
    signals.request_began(group, NOW)

    end(signals, "z/m", "rate_limited", NOW)

    assert signals.view(group, NOW) is signals.view(group, NOW + 1)


@pytest.mark.req("O-041")
def test_flagged_target_is_calm_and_says_so() -> None:
    signals, usual = board(), builders.group("chat", "a/m", "b/m")
    flagged = structs.replace(usual.members[1].target, flagged=True)
    group = structs.replace(usual, members=(usual.members[0], structs.replace(usual.members[1], target=flagged)))

    view = signals.view(group, NOW)

    assert view.is_calm
    assert [seen.flagged for seen in view.targets] == [False, True]


# --- limits of the configuration


def limited(limits: Limits | None) -> ModelGroup:
    """Two targets, the first of which has limits."""
    usual = builders.group("chat", "a/m", "b/m")
    first = structs.replace(usual.members[0], target=structs.replace(usual.members[0].target, limits=limits))
    return structs.replace(usual, members=(first, usual.members[1]))


def test_target_takes_no_more_than_it_may_have_at_once() -> None:
    signals, group = board(), limited(Limits(max_concurrent=2))
    leases = [signals.started(group.members[0].target, "alice", NOW, is_probe=False) for _ in range(2)]
    full = signals.view(group, NOW).targets[0]

    signals.record(leases[0], builders.outcome(), NOW, group)

    assert (full.gate, full.limit) == (0.0, Limit.MAX_CONCURRENT)
    assert signals.view(group, NOW).targets[0].limit is None


def test_limits_come_change_and_go_with_the_configuration() -> None:
    signals, seen = board(), []
    for limits in (None, Limits(max_concurrent=1), Limits(max_concurrent=2), None):
        group = limited(limits)
        signals.keep([group])
        signals.request_began(group, NOW)
        lease = signals.started(group.members[0].target, "alice", NOW, is_probe=False)
        seen.append(signals.view(group, NOW).targets[0].limit)
        signals.record(lease, builders.outcome(), NOW, group)

    assert seen == [None, Limit.MAX_CONCURRENT, None, None]


# --- peers


MARKET_OF_FIVE = builders.group(
    "chat", *[f"{name}/m" for name in "abcde"], strategy="p2c", cooldown=MARKET,
    reads=frozenset((Signal.FAILURES, Signal.RATE_LIMITS)),
)  # fmt: skip


def market(*served: str) -> SignalBoard:
    """Each of these has just served ten requests."""
    signals = board()
    signals.keep([MARKET_OF_FIVE])
    for name in served:
        for _ in range(10):
            measured(signals, name, "ok", NOW)
    return signals


def measured(signals: SignalBoard, name: str, kind: str, now: float, **details: object) -> None:
    """An attempt that ratios are learned from."""
    target = builders.target(f"{name}/m")
    lease = signals.started(target, "alice", now, is_probe=False, facts=builders.facts())
    signals.record(lease, builders.outcome(kind, status=200 if kind == "ok" else 500, **details), now, MARKET_OF_FIVE)


@pytest.mark.req("O-010")
@pytest.mark.parametrize("kind", ["upstream_fault", "rate_limited"])
def test_target_that_does_far_worse_than_its_peers_is_paused(kind: str) -> None:
    signals = market(*"bcde")

    for _ in range(20):
        measured(signals, "a", kind, NOW)
        measured(signals, "a", "ok", NOW) if kind == "upstream_fault" else None

    seen = signals.view(MARKET_OF_FIVE, NOW).targets[0]
    assert (seen.breaker, seen.pause_cause) == (Breaker.OPEN, PauseCause.OUTLIER)


@pytest.mark.req("O-011")
@pytest.mark.trap("22")
def test_targets_that_are_all_equally_bad_are_not_paused() -> None:
    signals = market(*"abcde")

    for _ in range(30):
        for name in "abcde":
            measured(signals, name, "upstream_fault", NOW)
            measured(signals, name, "ok", NOW)

    assert {seen.breaker for seen in signals.view(MARKET_OF_FIVE, NOW).targets} == {Breaker.CLOSED}


@pytest.mark.req("O-011")
def test_first_pause_needs_another_target_that_has_served_within_a_minute() -> None:
    signals = market(*"abcde")

    for now in (NOW + 61, NOW + 62):
        for _ in range(5):
            measured(signals, "a", "upstream_fault", now)
        paused = signals.view(MARKET_OF_FIVE, now).targets[0].breaker is Breaker.OPEN
        assert paused == (now == NOW + 62)
        measured(signals, "b", "ok", now)


def test_pauses_take_away_no_more_than_half_of_the_traffic() -> None:
    signals = market(*"abcde")

    for name in "abcde":
        for _ in range(5):
            measured(signals, name, "upstream_fault", NOW)

    open_ = [seen.breaker is Breaker.OPEN for seen in signals.view(MARKET_OF_FIVE, NOW).targets]
    assert open_ == [True, True, False, False, False]


@pytest.mark.req("R-034")
def test_reload_does_not_forget_how_much_is_paused_already() -> None:
    signals = market(*"abcde")
    for name in "ab":
        for _ in range(5):
            measured(signals, name, "upstream_fault", NOW)

    signals.keep([structs.replace(MARKET_OF_FIVE, aliases=("again",))])
    for _ in range(5):
        measured(signals, "c", "upstream_fault", NOW)

    assert signals.view(MARKET_OF_FIVE, NOW).targets[2].breaker is Breaker.CLOSED


def test_paused_targets_are_readmitted_when_the_others_cannot_carry_the_load() -> None:
    signals = market(*"abcde")

    for name in "abcde":
        for _ in range(5):
            measured(signals, name, "upstream_fault", NOW)

    seen = signals.view(MARKET_OF_FIVE, NOW).targets  # nobody else is left that has not failed five times in a row
    assert [(each.is_readmitted, each.gate) for each in seen] == [(True, 0.5)] * 2 + [(False, 1.0)] * 3


def test_target_that_its_provider_holds_back_is_not_readmitted() -> None:
    signals = market("a")

    measured(signals, "a", "rate_limited", NOW, retry_after_s=60.0)
    for name in "bcde":
        for _ in range(5):
            measured(signals, name, "upstream_fault", NOW)

    held = signals.view(MARKET_OF_FIVE, NOW).targets[0]
    assert (held.breaker, held.is_readmitted) == (Breaker.OPEN, False)


# --- pauses over time and reloads


@pytest.mark.bug("A-03", "A-05")
def test_pause_holds_at_every_moment_until_its_deadline_and_not_longer_however_often_the_file_is_read() -> None:
    signals = board()
    signals.keep([group := builders.group("chat", "a/m", "b/m")])
    pause(signals, "a/m")
    seen = []
    for tenth in range(350):
        now = NOW + tenth / 10
        if tenth % 50 == 49:
            signals.keep([group := builders.group("chat", "b/m", "a/m")])
        seen.append((now, breakers(signals, group, now)["a/m"]))

    assert {breaker for at, breaker in seen if at < NOW + 30.0} == {Breaker.OPEN}
    assert {breaker for at, breaker in seen if at >= NOW + 30.0} == {Breaker.HALF_OPEN}


@pytest.mark.bug("A-12")
def test_failures_that_lower_a_score_pause_nothing_by_themselves() -> None:
    """Half of all attempts fail, but never three in a row: that is a worse score, and no pause."""
    signals, group = board(), builders.group("chat", "a/m", "b/m", strategy="p2c")
    signals.keep([group])
    for second in range(100):
        target, now = group.members[0].target, NOW + second
        lease = signals.started(target, "alice", now, is_probe=False, facts=builders.facts())
        kind = "upstream_fault" if second % 2 else "ok"
        signals.record(lease, builders.outcome(kind, status=500 if second % 2 else 200), now, group)
        assert breakers(signals, group, now)["a/m"] is Breaker.CLOSED

    assert signals.view(group, NOW + 100.0).measured[0].failure_ratio == pytest.approx(0.5, abs=0.1)


@pytest.mark.bug("A-20")
@pytest.mark.parametrize("kind", ["rate_limited", "credential_fault"])
def test_fault_of_one_credential_pauses_the_target_of_that_credential_only(kind: str) -> None:
    """Two accounts of one provider are two targets: the identity of what is learned has the credential in it."""
    signals, group = board(), builders.group("chat", "first/m", "second/m")

    end(signals, "first/m", kind, NOW, confirmed=True)

    assert breakers(signals, group) == {"first/m": Breaker.OPEN, "second/m": Breaker.CLOSED}


# --- load


def overrun(signals: SignalBoard, group: ModelGroup, target_id: str = "a/m") -> float:
    """More and more in flight, and slower and slower, until a limit is learned; the time at the end."""
    now, target = NOW, builders.target(target_id)
    for in_flight in (1, 2, 4, 8, 16, 32, 48) * 3:
        leases = [
            signals.started(target, "alice", now, is_probe=False, facts=builders.facts(stream=True))
            for _ in range(in_flight)
        ]
        took_s = 0.3 * in_flight
        now += took_s
        for lease in leases:
            signals.record(lease, builders.outcome(status=200, ttft_s=took_s, duration_s=took_s), now, group)
    return now


@pytest.mark.parametrize("strategy", ["blend", "p2c", "market"])
def test_load_that_slows_a_target_down_narrows_its_gate(strategy: str) -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m", strategy=strategy)
    signals.keep([group])

    now = overrun(signals, group)

    limit = signals.learned(group.members[0].target, now).in_flight_limit
    assert limit is not None
    for _ in range(round(2 * limit)):
        signals.started(group.members[0].target, "alice", now, is_probe=False)
    view = signals.view(group, now)
    assert not view.is_calm
    assert view.targets[0].gate == pytest.approx(0.02)
    assert view.targets[1].gate == 1.0


@pytest.mark.parametrize("strategy", ["weighted", "round_robin", "failover", "cost", "least_busy"])
def test_strategies_that_read_no_latency_learn_nothing_of_load(strategy: str) -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m", strategy=strategy)
    signals.keep([group])

    now = overrun(signals, group)

    assert signals.learned(group.members[0].target, now) == Learned()
    assert signals.view(group, now).is_calm


def test_group_is_calm_again_once_the_limit_of_its_target_is_forgotten() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m", strategy="p2c")
    signals.keep([group])
    later = overrun(signals, group) + 3_600.0

    lease = signals.started(group.members[0].target, "alice", later, is_probe=False, facts=builders.facts(stream=True))
    signals.record(lease, builders.outcome(status=200, ttft_s=0.3, duration_s=0.3), later + 0.3, group)

    assert signals.view(group, later + 1.0).is_calm
    assert signals.learned(group.members[0].target, later).in_flight_limit is None


def test_attempts_that_began_before_load_was_counted_end_without_harm() -> None:
    signals = board()
    lease = signals.started(builders.target("a/m"), "alice", NOW, is_probe=False, facts=builders.facts(stream=True))
    signals.keep([builders.group("chat", "a/m", "b/m", strategy="p2c")])

    signals.record(lease, builders.outcome(status=200, ttft_s=0.3, duration_s=0.3), NOW + 0.3, ANY)

    assert signals.in_flight(builders.target("a/m")) == 0


# --- what is really charged

PRICES = {"a/m": builders.price(1, 5), "b/m": builders.price(1, 5)}


def charge(signals: SignalBoard, group: ModelGroup, times: float, answers: int = 200) -> None:
    """The first member answers, for so many times its list price."""
    target, usage = group.members[0].target, Usage(1_000, 200, charged_usd=times * 0.002)
    for _ in range(answers):
        signals.learn(group, target, builders.ask(), usage, NOW)


@pytest.mark.req("O-022")
@pytest.mark.parametrize("strategy", ["cost", "inverse_square", "blend", "p2c", "market"])
def test_every_strategy_that_compares_prices_is_told_what_is_really_charged(strategy: str) -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m", strategy=strategy, prices=PRICES)
    charge(signals, group, 3.0)

    factors = signals.expected(group, builders.ask(), NOW).price_factors
    seen = [each.price_factor for each in signals.view(group, NOW).measured]

    assert factors == (pytest.approx(3.0, abs=0.06), 1.0)
    assert seen == ([] if strategy in ("cost", "inverse_square") else list(factors))
    assert signals.learned(group.members[0].target, NOW).is_price_off is True


def test_nothing_is_told_where_nobody_says_what_it_charges() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m", strategy="cost", prices=PRICES)
    signals.learn(group, group.members[0].target, builders.ask(), Usage(1_000, 200), NOW)

    assert signals.expected(group, builders.ask(), NOW).price_factors == ()
    assert signals.learned(group.members[0].target, NOW).price_factor is None


def test_what_is_charged_survives_a_reload_but_not_another_list_price() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m", strategy="cost", prices=PRICES)
    charge(signals, group, 3.0)
    dearer = builders.group("chat", "a/m", strategy="cost", prices={"a/m": builders.price(3, 15)})

    signals.keep([same := builders.group("chat", "a/m", "b/m", strategy="cost", prices=PRICES)])
    kept = signals.expected(same, builders.ask(), NOW).price_factors
    signals.keep([dearer])

    assert kept == (pytest.approx(3.0, abs=0.06), 1.0)
    assert signals.expected(dearer, builders.ask(), NOW).price_factors == (1.0,)
    assert signals.learned(dearer.members[0].target, NOW).is_price_off is None


def test_what_a_forgotten_target_charged_is_forgotten() -> None:
    signals, group = board(), builders.group("chat", "a/m", "b/m", strategy="cost", prices=PRICES)
    charge(signals, group, 3.0)

    signals.keep([])

    assert signals.expected(group, builders.ask(), NOW).price_factors == ()
