"""Step 5: who is kept, who is released, and what is written down."""

from typing import Any

import pytest
from msgspec import structs

from pointsman.domain.conversation import Session
from pointsman.domain.decision import AffinityOutcome, DecisionMode, PinUse
from pointsman.domain.policy import Affinity, AffinityMode, PinRecord
from pointsman.domain.price import Price
from pointsman.domain.target import ModelGroup
from pointsman.domain.view import MarketView, PauseCause, ProbeView, TargetView
from pointsman.routing.affinity import stays, use_of
from pointsman.routing.router import decide
from pointsman.testing import builders
from tests.unit.routing.asking import (
    HALF_OPEN,
    LIMITED,
    OPEN,
    PROBING,
    Draws,
    Request,
    decided,
    paused_for,
    picked,
    rules,
)
from tests.unit.routing.commands import target_of

FIRM = [AffinityMode.STRICT, AffinityMode.PREFIX]
OVERDUE = structs.replace(HALF_OPEN, is_probe_overdue=True)
S1 = builders.session("s1")
NEW_AUTO, BEGUN_AUTO = builders.session("a1", auto=True), builders.session("a1", auto=True, has_begun=True)


def group(
    mode: AffinityMode = AffinityMode.STRICT,
    *,
    strategy: str = "failover",
    prices: dict[str, Price] | None = None,
    **affinity: Any,
) -> ModelGroup:
    policy = Affinity(mode, **affinity)
    return builders.group("chat", "a/m", "b/m", "c/m", strategy=strategy, prices=prices or {}, affinity=policy)


def request(
    of: ModelGroup, *, home: str | None = None, views: dict[str, TargetView] | None = None, session: Session = S1
) -> Request:
    asked = Request(group=of, views=views, session=session)
    if home is not None:
        asked.board.homes[session.key] = home
    return asked


def pins(asked: Request) -> list[tuple[str, str | None]]:
    """What became of the pin in each decision."""
    found = [decision.pin for decision in asked.exchange.decisions]
    return [(pin.outcome, pin.reason) for pin in found if pin is not None]


# --- keep


@pytest.mark.req("G-080", "G-082")
@pytest.mark.parametrize("mode", FIRM)
@pytest.mark.parametrize("strategy", ["weighted", "round_robin", "failover", "cost", "least_busy", "p2c", "blend"])
def test_pinned_target_is_kept_whatever_the_strategy_would_say(mode: AffinityMode, strategy: str) -> None:
    decision = decided(group(mode, strategy=strategy), home=2, draw=0.0)

    assert (picked(decision), decision.pick and decision.pick.mode) == ("c/m", DecisionMode.PINNED)
    assert (decision.candidates, decision.shares) == (("a/m", "b/m", "c/m"), (0.0, 0.0, 1.0))
    assert decision.pick is not None
    assert decision.pick.effects.turn_credits is None


def test_group_without_affinity_does_not_keep() -> None:
    assert picked(decided(group(AffinityMode.OFF), home=2)) == "a/m"


@pytest.mark.req("G-081")
def test_one_eligible_target_needs_no_pin() -> None:
    alone = builders.group("chat", ("a/m", 1.0), ("b/m", 0.0), affinity=Affinity(AffinityMode.STRICT))

    decision = decided(alone, home=0)

    assert decision.pick is not None
    assert decision.pick.mode is DecisionMode.SINGLE


@pytest.mark.bug("D-01")
@pytest.mark.req("G-083", "D-055")
@pytest.mark.parametrize("mode", FIRM)
@pytest.mark.parametrize("state", [OPEN, PROBING])
def test_paused_target_is_skipped_and_never_empties_the_candidates(mode: AffinityMode, state: TargetView) -> None:
    decision = decided(group(mode), {"c/m": state}, home=2)

    assert picked(decision) == "a/m"


def test_tried_target_is_skipped() -> None:
    assert picked(decided(group(), home=0, tried=["a/m"])) == "b/m"


def test_target_of_weight_0_is_not_kept() -> None:
    of = builders.group("chat", ("a/m", 0.0), "b/m", "c/m", strategy="failover", affinity=Affinity(AffinityMode.STRICT))

    asked = request(of, home="a/m")

    assert target_of(asked.start()) == "b/m"
    assert pins(asked) == [("released", "weight_zero")]


# --- economic


@pytest.mark.parametrize(
    ("prices", "home", "is_worth_it"),
    [
        ((1.0, 1.1), 1, True),
        ((1.0, 1.11), 1, False),
        ((0.0, 0.0), 1, True),
        ((0.0, 0.1), 1, False),
        ((None, None), 1, True),
        ((), 1, True),
        ((1.0, None), 1, False),
        ((None, 5.0), 1, True),
    ],
)
def test_session_stays_for_less_than_a_tenth(prices: tuple[float | None, ...], home: int, is_worth_it: bool) -> None:
    assert stays(prices, home) is is_worth_it


@pytest.mark.parametrize(
    ("usd", "target", "mode", "use"),
    [
        (1.05, "c/m", DecisionMode.PINNED, ("honored", None)),
        (1.5, "a/m", DecisionMode.COST, ("released", "dearer")),
    ],
)
def test_economic_session_moves_only_for_money(
    usd: float, target: str, mode: DecisionMode, use: tuple[str, str | None]
) -> None:
    charged = {"a/m": builders.price(1, 1), "b/m": builders.price(9, 9), "c/m": builders.price(usd, usd)}
    asked = request(group(AffinityMode.ECONOMIC, strategy="cost", prices=charged), home="c/m")

    command = asked.start()

    assert (target_of(command), asked.exchange.last_mode) == (target, mode)
    assert pins(asked) == [use]
    assert len(asked.exchange.decisions[0].estimates) == 3


# --- probes


@pytest.mark.case("I30")
@pytest.mark.parametrize("mode", [*FIRM, AffinityMode.ECONOMIC])
def test_pinned_request_leaves_the_probe_to_others(mode: AffinityMode) -> None:
    decision = decided(group(mode, strategy="cost"), {"a/m": HALF_OPEN}, home=2)

    assert (picked(decision), decision.pick and decision.pick.mode) == ("c/m", DecisionMode.PINNED)


@pytest.mark.parametrize("mode", FIRM)
def test_pinned_request_probes_if_no_other_has_come_and_its_pin_stays(mode: AffinityMode) -> None:
    asked = request(group(mode), home="c/m", views={"a/m": HALF_OPEN, "b/m": OVERDUE})

    command = asked.start()
    asked.ends("ok")

    assert (target_of(command), asked.exchange.last_mode) == ("b/m", DecisionMode.PROBE)
    assert pins(asked) == [("skipped", None)]
    assert asked.board.homes == {"s1": "c/m"}


def test_session_of_a_request_that_explores_keeps_its_target() -> None:
    prices = {"a/m": builders.price(1, 1), "b/m": builders.price(9, 9), "c/m": builders.price(9, 9)}
    of = group(AffinityMode.ECONOMIC, strategy="market", prices=prices)
    probes = ProbeView(due=(1,), open_to_all=frozenset({1}), requests=1_000, best_usd=1.0)
    view = builders.group_view(*[builders.view()] * 3, market=MarketView(), probes=probes)

    decision = decide(builders.ask(session=S1), of, view, rng=Draws(), lengths=builders.lengths(of), home=0)

    assert (picked(decision), decision.pick and decision.pick.mode) == ("b/m", DecisionMode.EXPLORATION)
    assert use_of(S1, decision, view, 0, is_first=True).outcome is AffinityOutcome.SKIPPED


@pytest.mark.parametrize("home", [None, 0])
def test_request_that_nothing_holds_elsewhere_probes_at_once(home: int | None) -> None:
    decision = decided(group(), {"a/m": HALF_OPEN}, home=home)

    assert (picked(decision), decision.pick and decision.pick.mode) == ("a/m", DecisionMode.PROBE)


def test_warm_cache_alone_does_not_keep_a_request_from_probing() -> None:
    decision = decided(group(AffinityMode.OFF), {"a/m": HALF_OPEN}, home=2)

    assert picked(decision) == "a/m"


# --- write


def test_target_that_served_gets_the_session() -> None:
    asked = request(group())
    asked.start()

    assert asked.board.settled == []

    asked.ends("ok")

    assert asked.board.homes == {"s1": "a/m"}
    assert pins(asked) == [("created", None)]


@pytest.mark.req("C-11")
def test_target_that_rescues_a_new_session_gets_it() -> None:
    asked = request(group())
    asked.start()
    asked.ends("upstream_fault", status=500)
    asked.ends("ok")

    assert asked.board.homes == {"s1": "b/m"}


@pytest.mark.req("D-054")
def test_selected_target_gets_the_session_before_it_has_answered_and_keeps_it() -> None:
    asked = request(group(AffinityMode.PREFIX, record=PinRecord.SELECTED))
    asked.start()

    assert asked.board.homes == {"s1": "a/m"}

    asked.ends("upstream_fault", status=500)
    asked.ends("ok")

    assert asked.board.settled == ["a/m"]


@pytest.mark.parametrize(("mode", "times"), [(AffinityMode.STRICT, 1), (AffinityMode.PREFIX, 0)])
@pytest.mark.req("D-053", "G-089")
def test_answer_makes_a_pin_last_longer_unless_its_time_is_fixed(mode: AffinityMode, times: int) -> None:
    asked = request(group(mode), home="b/m")
    asked.start()
    asked.ends("ok")

    assert asked.board.settled == ["b/m"] * times
    assert pins(asked) == [("honored", None)]


@pytest.mark.req("G-082", "G-083")
def test_single_failure_does_not_move_a_session() -> None:
    asked = request(group(), home="b/m")
    asked.start()
    asked.ends("upstream_fault", status=500)
    asked.ends("ok")

    assert asked.board.homes == {"s1": "b/m"}
    assert pins(asked) == [("honored", None), ("skipped", None)]


@pytest.mark.bug("D-01", "D-02")
@pytest.mark.req("G-083")
def test_session_of_a_target_that_this_request_has_paused_moves_to_the_one_that_serves() -> None:
    asked = request(group(), home="b/m")
    asked.start()
    asked.board.views["b/m"] = OPEN
    asked.ends("rate_limited", status=429)
    asked.ends("ok")

    assert asked.board.homes == {"s1": "a/m"}
    assert pins(asked) == [("honored", None), ("released", "paused")]


@pytest.mark.req("D-055")
def test_selected_pin_to_a_paused_target_is_replaced() -> None:
    asked = request(group(AffinityMode.PREFIX, record=PinRecord.SELECTED), home="b/m", views={"b/m": OPEN})
    asked.start()

    assert asked.board.homes == {"s1": "a/m"}


@pytest.mark.bug("D-07")
@pytest.mark.parametrize("end", ["caller_fault", "caller_gone", "broken_stream"])
def test_answer_that_did_not_come_pins_nothing(end: str) -> None:
    asked = request(group())
    asked.start()
    asked.ends(end, committed=True)

    assert asked.board.settled == []


@pytest.mark.parametrize(("session", "home"), [(NEW_AUTO, {}), (BEGUN_AUTO, {"a1": "a/m"}), (S1, {"s1": "a/m"})])
def test_conversation_that_nobody_names_is_kept_from_its_second_turn_on(session: Session, home: dict[str, str]) -> None:
    asked = request(group(), session=session)
    asked.start()
    asked.ends("ok")

    assert asked.board.homes == home


@pytest.mark.req("G-089")
@pytest.mark.parametrize(("home", "outcome"), [(None, "none"), ("b/m", "skipped")])
def test_target_that_was_tried_in_despair_gets_no_session(home: str | None, outcome: str) -> None:
    asked = request(group(), home=home, views=dict.fromkeys(("a/m", "b/m", "c/m"), OPEN))
    asked.start()

    asked.ends("ok")

    assert asked.exchange.last_mode is DecisionMode.PANIC
    assert asked.board.settled == []
    assert pins(asked) == [(outcome, None)]


def test_warm_cache_is_remembered_without_affinity() -> None:
    asked = request(group(AffinityMode.OFF), home="b/m")
    asked.start()
    asked.ends("ok")

    assert asked.board.homes == {"s1": "a/m"}
    assert asked.exchange.decisions[0].pin == PinUse("none", None, binds=True)  # type: ignore[arg-type]


def test_request_without_a_session_says_nothing_of_pins() -> None:
    asked = Request(group=group())
    asked.start()
    asked.ends("ok")

    assert asked.exchange.decisions[0].pin is None
    assert asked.board.settled == []


def test_session_keeps_its_pin_while_nobody_can_be_picked() -> None:
    paused = dict.fromkeys(("a/m", "b/m", "c/m"), paused_for(300.0, PauseCause.RATE_LIMIT))
    asked = request(group(), home="b/m", views=paused)
    asked.start()

    assert pins(asked) == [("skipped", None)]
    assert asked.board.settled == []


# --- gates and limits


@pytest.mark.req("G-080")
@pytest.mark.parametrize("mode", FIRM)
def test_session_stays_with_a_target_whatever_its_gate(mode: AffinityMode) -> None:
    decision = decided(group(mode), {"b/m": builders.view(gate=0.02)}, home=1, draw=0.9)

    assert picked(decision) == "b/m"


@pytest.mark.parametrize(
    ("mode", "view"), [(AffinityMode.STRICT, LIMITED), (AffinityMode.ECONOMIC, builders.view(gate=0.02))]
)
def test_what_keeps_a_target_out_of_one_request_moves_no_session(mode: AffinityMode, view: TargetView) -> None:
    prices = {name: builders.price() for name in ("a/m", "b/m", "c/m")}
    asked = request(group(mode, strategy="cost", prices=prices), home="a/m", views={"a/m": view})

    asked.start()
    asked.ends("ok")

    assert pins(asked) == [("skipped", None)]
    assert asked.board.homes[S1.key] == "a/m"


def test_decision_to_keep_tells_who_was_left_out() -> None:
    decision = decided(group(), views={"a/m": OPEN}, home=2)

    assert (picked(decision), rules(decision)) == ("c/m", {"a/m": "paused"})
