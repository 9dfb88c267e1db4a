"""The strategy `market`, from views to decisions."""

import functools
import operator
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from msgspec import structs

from pointsman.domain.conversation import AUTO, Session
from pointsman.domain.decision import Decision, DecisionMode, FallbackReason
from pointsman.domain.policy import Market
from pointsman.domain.price import Price, Rates
from pointsman.domain.view import GroupView, Measured, ProbeView, TargetView
from pointsman.routing.market.adjusted import PARTS
from pointsman.routing.router import decide, standing
from pointsman.testing import builders
from tests.unit.routing.asking import OPEN, Draws, picked

USUAL = builders.measured(
    samples=100,
    ttft_s=0.5,
    decode_tps=50.0,
    failure_ratio=0.002,
    rate_limited_ratio=0.002,
    fault_s=1.0,
    rejection_s=0.2,
)
CLOSED = builders.view()
CHEAP, DEAR = builders.price(1, 2), builders.price(4, 8)
DISCOUNTED = Price(Rates(1.0, 2.0, 0.1, 1.0), source="a test")
COUNT = 1_000


def changed(**changes: object) -> Measured:
    return builders.measured(**{**{name: getattr(USUAL, name) for name in USUAL.__struct_fields__}, **changes})


class Bourse:
    """Decisions of a group about the given targets, by request."""

    def __init__(
        self,
        *measured: Measured,
        prices: Sequence[Price | None] = (),
        views: Sequence[TargetView] = (),
        probes: ProbeView = builders.NO_PROBES,
        **policy: object,
    ) -> None:
        ids = [f"{number}/m" for number in range(len(measured))]
        charged: Mapping[str, Price] = {
            name: price for name, price in zip(ids, prices or [CHEAP] * len(ids), strict=True) if price is not None
        }
        self.group = builders.group("chat", *ids, strategy="market", prices=charged, market=Market(**policy))
        self.view: GroupView = builders.group_view(*(views or [CLOSED] * len(ids)), measured=measured, probes=probes)

    def decided(
        self,
        number: int = 0,
        *,
        tried: frozenset[str] = frozenset(),
        input_tokens: int = 1_000,
        cached_tokens: tuple[int, ...] = (),
        session: Session | None = None,
        home: int | None = None,
    ) -> Decision:
        ask = builders.ask(request_id=f"req-{number}", stream=True, session=session)
        lengths = structs.replace(builders.lengths(self.group, input_tokens), cached_tokens=cached_tokens)
        return decide(ask, self.group, self.view, rng=Draws(), tried=tried, lengths=lengths, home=home)

    def shares(self) -> list[float]:
        counts = Counter(picked(self.decided(number)) for number in range(COUNT))
        return [counts[member.target.id] / COUNT for member in self.group.members]


def terms(decision: Decision) -> Mapping[str, tuple[float, ...]]:
    assert decision.scores is not None
    return decision.scores.terms


@pytest.mark.req("O-002", "O-003", "O-070")
def test_parts_add_up_to_the_adjusted_price_exactly() -> None:
    found = terms(Bourse(USUAL, changed(ttft_s=0.7, failure_ratio=0.1), prices=[CHEAP, DEAR]).decided())

    for index in range(2):
        parts = [found[name][index] for name in PARTS[:-1]]
        assert functools.reduce(operator.add, parts) == found["adjusted_usd"][index]
        assert all(part > 0 for part in parts)


@pytest.mark.req("O-023")
def test_price_of_the_request_at_hand_is_its_first_part() -> None:
    found = terms(Bourse(USUAL, USUAL).decided(input_tokens=10_000))

    assert found["tokens_usd"][0] == pytest.approx((10_000 * 1 + 200 * 2) / 1e6)


@pytest.mark.req("O-024", "O-025")
def test_time_counts_until_the_first_token_and_from_there_on() -> None:
    found = terms(Bourse(USUAL, changed(ttft_s=1.0, decode_tps=25.0)).decided())

    assert found["ttft_usd"][1] == pytest.approx(2 * found["ttft_usd"][0])
    assert found["speed_usd"][1] == pytest.approx(2 * found["speed_usd"][0])
    assert found["ttft_usd"][0] == pytest.approx(0.5 * 0.0014 * 0.5)  # half a usual request each second
    assert found["speed_usd"][0] == pytest.approx(0.05 * 0.0014 * 4.0)


@pytest.mark.req("O-005")
def test_equal_targets_share_equally() -> None:
    market = Bourse(*[USUAL] * 4)

    assert market.shares() == pytest.approx([0.25] * 4, abs=0.05)
    assert market.decided().shares == pytest.approx((0.25,) * 4, abs=0.02)


@pytest.mark.req("X-04")
def test_price_moves_the_choice_and_a_hundredth_of_latency_does_not_outweigh_it() -> None:
    assert Bourse(changed(ttft_s=0.495), USUAL, prices=[DEAR, CHEAP]).shares()[1] > 0.99


@pytest.mark.req("O-004")
@pytest.mark.parametrize(("preset", "fast"), [("batch", 0.0), ("realtime", 1.0)])
def test_preset_says_whether_a_faster_target_may_cost_more(preset: str, fast: float) -> None:
    market = Bourse(changed(ttft_s=0.3), changed(ttft_s=2.0), prices=[builders.price(2, 4), CHEAP], preset=preset)

    assert market.shares()[0] == pytest.approx(fast, abs=0.01)


def test_free_target_is_compared_by_time_and_risk() -> None:
    free = builders.price(0, 0)

    assert Bourse(changed(ttft_s=2.0), USUAL, prices=[free, free]).shares()[1] > 0.99
    assert terms(Bourse(USUAL, USUAL, prices=[free, free]).decided())["tokens_usd"] == (0.0, 0.0)


@pytest.mark.trap("15")
def test_unknown_price_counts_as_the_highest() -> None:
    decision = Bourse(USUAL, USUAL, USUAL, prices=[CHEAP, DEAR, None]).decided()

    found = terms(decision)
    assert found["tokens_usd"][2] == found["tokens_usd"][1]
    assert decision.estimates[2].cost_usd is None


def test_without_any_price_tokens_cost_nothing_and_time_decides() -> None:
    market = Bourse(USUAL, changed(ttft_s=2.0), prices=[None, None])

    assert terms(market.decided())["tokens_usd"] == (0.0, 0.0)
    assert market.shares()[0] > 0.99


@pytest.mark.req("O-032")
def test_unreliable_target_is_dearer_by_what_its_failures_cost() -> None:
    assert Bourse(changed(failure_ratio=0.3), USUAL).shares()[0] < 0.01


@pytest.mark.req("O-050")
def test_refusals_cost_little() -> None:
    found = terms(Bourse(changed(rate_limited_ratio=0.1), changed(failure_ratio=0.1)).decided())

    assert found["rejections_usd"][0] < 0.4 * found["faults_usd"][1]


@pytest.mark.req("O-041")
def test_flagged_target_gets_exploration_only() -> None:
    assert Bourse(USUAL, USUAL, views=[builders.view(flagged=True), CLOSED]).shares()[0] == 0.0


@pytest.mark.req("O-021")
def test_doubt_gives_trials_to_what_may_be_better() -> None:
    sure = Bourse(USUAL, changed(ttft_s=0.9)).shares()[1]
    doubtful = Bourse(USUAL, changed(ttft_s=0.9, ttft_error=0.5)).shares()[1]

    assert doubtful > sure + 0.03


# --- gates


@pytest.mark.req("O-012")
@pytest.mark.parametrize("gate", [0.02, 0.3, 0.8])
def test_limited_target_gets_no_more_than_its_gate(gate: float) -> None:
    market = Bourse(USUAL, USUAL, prices=[CHEAP, builders.price(1.1, 2.2)], views=[builders.view(gate=gate), CLOSED])

    assert market.shares()[0] < gate + 0.05
    assert market.decided().shares[0] < gate + 0.12


@pytest.mark.req("O-012")
def test_gate_is_a_price_so_that_a_target_over_its_limit_beats_a_dead_one() -> None:
    market = Bourse(USUAL, changed(failure_ratio=1.0, fault_s=20.0), views=[builders.view(gate=0.02), CLOSED])

    assert market.shares()[0] > 0.95


# --- what follows a failure


@pytest.mark.req("O-008", "X-05")
def test_retry_goes_by_the_same_draw_among_those_left() -> None:
    market = Bourse(*[USUAL] * 3)

    for number in range(50):
        first = picked(market.decided(number))
        retry = market.decided(number, tried=frozenset({str(first)}))
        assert picked(retry) != first
        assert sum(retry.shares) == pytest.approx(1.0)
    second = Counter(picked(market.decided(number, tried=frozenset({"0/m"}))) for number in range(COUNT))
    assert second["1/m"] / COUNT == pytest.approx(0.5, abs=0.05)


@pytest.mark.req("O-010")
def test_paused_target_is_no_candidate() -> None:
    assert Bourse(*[USUAL] * 3, views=[OPEN, CLOSED, CLOSED]).decided().candidates == ("1/m", "2/m")


# --- exploration

PROBES = ProbeView(due=(1,), requests=1_000, best_usd=1.0)


@pytest.mark.req("O-007")
def test_target_that_was_not_asked_for_long_gets_a_request() -> None:
    decision = Bourse(USUAL, USUAL, prices=[CHEAP, DEAR], probes=PROBES).decided()

    assert decision.pick is not None
    assert (decision.pick.target.id, decision.pick.mode) == ("1/m", DecisionMode.EXPLORATION)
    spent = decision.pick.effects.spent
    assert spent is not None
    assert spent.probed == 1
    assert spent.extra_usd == pytest.approx(terms(decision)["adjusted_usd"][1] - terms(decision)["adjusted_usd"][0])


@pytest.mark.req("O-007")
@pytest.mark.parametrize(
    ("probes", "why_not"),
    [
        (ProbeView(due=(1,), requests=100, probes=5, best_usd=1.0), "5 % of the requests"),
        (ProbeView(due=(1,), requests=1_000, best_usd=1.0, extra_usd=0.1), "1 % of the money"),
        (ProbeView(due=(), requests=1_000, best_usd=1.0), "nobody is due"),
    ],
)
def test_exploration_stays_within_its_budget(probes: ProbeView, why_not: str) -> None:
    assert picked(Bourse(USUAL, USUAL, prices=[CHEAP, DEAR], probes=probes).decided()) == "0/m", why_not


@pytest.mark.req("O-007")
def test_overdue_target_is_asked_whatever_it_costs() -> None:
    probes = ProbeView(due=(1,), overdue=frozenset({1}), requests=10, probes=10, extra_usd=9.0)

    assert picked(Bourse(USUAL, USUAL, prices=[CHEAP, DEAR], probes=probes).decided()) == "1/m"


def test_long_request_is_no_probe() -> None:
    market = Bourse(USUAL, USUAL, prices=[CHEAP, DEAR], probes=PROBES)

    assert picked(market.decided(input_tokens=1_001)) == "0/m"


def test_retry_is_no_probe_and_books_nothing() -> None:
    market = Bourse(USUAL, USUAL, USUAL, prices=[CHEAP, DEAR, CHEAP], probes=PROBES)

    decision = market.decided(tried=frozenset({"0/m"}))

    assert decision.pick is not None
    assert (decision.pick.target.id, decision.pick.effects.spent) == ("2/m", None)


@pytest.mark.req("R-024")
def test_paused_target_is_no_probe() -> None:
    market = Bourse(USUAL, USUAL, USUAL, views=[CLOSED, OPEN, CLOSED], probes=PROBES)

    assert picked(market.decided()) != "1/m"


def test_every_first_attempt_is_booked_at_the_price_of_the_best() -> None:
    decision = Bourse(USUAL, USUAL, prices=[CHEAP, DEAR]).decided()

    assert decision.pick is not None
    assert decision.pick.effects.spent is not None
    assert decision.pick.effects.spent.best_usd == min(terms(decision)["adjusted_usd"])


FIRST_TURN, LATER_TURN = Session("ab" * 16, "x-session-id", False), Session("ab" * 16, "x-session-id", True)


@pytest.mark.req("O-007")
@pytest.mark.parametrize(
    ("session", "home", "cached_tokens", "is_asked"),
    [
        (None, None, (), True),
        (FIRST_TURN, None, (900, 0), True),
        (LATER_TURN, None, (0, 0), True),
        (LATER_TURN, None, (900, 0), False),
        (LATER_TURN, 0, (0, 0), False),
    ],
)
def test_only_a_request_that_is_at_home_nowhere_is_a_probe(
    session: Session | None, home: int | None, cached_tokens: tuple[int, ...], is_asked: bool
) -> None:
    market = Bourse(USUAL, USUAL, prices=[CHEAP, DEAR], probes=PROBES)

    decision = market.decided(session=session, home=home, cached_tokens=cached_tokens)

    assert (picked(decision) == "1/m") is is_asked


@pytest.mark.req("O-007")
def test_session_is_served_elsewhere_once_if_nobody_else_probes() -> None:
    probes = structs.replace(PROBES, open_to_all=frozenset({1}))

    decision = Bourse(USUAL, USUAL, prices=[CHEAP, DEAR], probes=probes).decided(session=LATER_TURN, home=0)

    assert decision.pick is not None
    assert (decision.pick.target.id, decision.pick.mode) == ("1/m", DecisionMode.EXPLORATION)


# --- sessions and caches


def test_what_is_cached_is_cheaper_and_comes_sooner() -> None:
    cold, warm = (
        terms(Bourse(USUAL, USUAL, prices=[DISCOUNTED, None]).decided(cached_tokens=cached, input_tokens=8_000))
        for cached in ((0, 0), (6_000, 6_000))
    )

    for index in range(2):  # who charges nobody knows counts as the dearest: so does its discount
        assert cold["tokens_usd"][index] - warm["tokens_usd"][index] == pytest.approx(6_000 * 0.9e-6)
        assert warm["ttft_usd"][index] < cold["ttft_usd"][index]


@pytest.mark.parametrize(
    ("ttft_s", "target_id", "mode"), [(0.55, "0/m", DecisionMode.PINNED), (3.0, "1/m", DecisionMode.MARKET)]
)
def test_session_leaves_for_a_lower_adjusted_price_only(ttft_s: float, target_id: str, mode: DecisionMode) -> None:
    decision = Bourse(changed(ttft_s=ttft_s), USUAL).decided(session=LATER_TURN, home=0)

    assert decision.pick is not None
    assert (decision.pick.target.id, decision.pick.mode) == (target_id, mode)


def test_request_that_stays_tells_its_price_and_is_booked() -> None:
    decision = Bourse(USUAL, USUAL).decided(session=LATER_TURN, home=0)

    assert decision.pick is not None
    assert decision.pick.effects.spent is not None
    assert decision.pick.effects.spent.best_usd == min(terms(decision)["adjusted_usd"])


@pytest.mark.parametrize("ttft_s", [0.5, 20.0])  # the second one so slow that a refusal costs less than a tenth
def test_session_is_kept_for_those_requests_only_that_its_target_admits(ttft_s: float) -> None:
    market = Bourse(changed(ttft_s=ttft_s), changed(ttft_s=ttft_s), views=[builders.view(gate=0.3), CLOSED])

    picks = [market.decided(number, session=LATER_TURN, home=0).pick for number in range(COUNT)]
    kept = sum(pick is not None and pick.mode is DecisionMode.PINNED for pick in picks)

    assert kept / COUNT == pytest.approx(0.3, abs=0.04)


def test_session_draws_alike_whatever_the_request() -> None:
    market = Bourse(USUAL, USUAL, USUAL)

    sessions = [Session(f"{number:032x}", "x-session-id", False) for number in range(50)]
    picks = [{picked(market.decided(number, session=each)) for number in range(5)} for each in sessions]

    assert all(len(found) == 1 for found in picks)
    assert set.union(*picks) == {"0/m", "1/m", "2/m"}


def test_conversations_that_merely_begin_alike_draw_apart() -> None:
    once = Session("ab" * 16, AUTO, False)

    assert {picked(Bourse(USUAL, USUAL).decided(number, session=once)) for number in range(50)} == {"0/m", "1/m"}


# --- draws and switches


@pytest.mark.req("X-13")
def test_same_request_is_decided_alike_whatever_the_generator_says() -> None:
    market = Bourse(*[USUAL] * 4)
    ask = builders.ask(stream=True)
    found = {
        picked(decide(ask, market.group, market.view, rng=Draws(draw), lengths=builders.lengths(market.group)))
        for draw in (0.0, 0.3, 0.99)
    }

    assert len(found) == 1


def test_propensity_is_that_of_the_long_run() -> None:
    market = Bourse(USUAL, changed(ttft_s=0.6))
    decisions = [market.decided(number) for number in range(COUNT)]

    measured = sum(picked(decision) == "0/m" for decision in decisions) / COUNT
    promised = decisions[0].shares[0]
    assert promised == pytest.approx(measured, abs=0.05)
    assert all(decision.pick and decision.pick.propensity > 0 for decision in decisions)


@pytest.mark.req("X-14")
def test_kill_switch_shares_by_weight() -> None:
    market = Bourse(USUAL, changed(ttft_s=9.0), enabled=False)

    decision = market.decided()

    assert market.shares() == pytest.approx([0.5, 0.5], abs=0.05)
    assert decision.scores is not None
    assert decision.scores.fallback is FallbackReason.DISABLED


def test_standing_is_the_lowest_adjusted_price_beside_each_one() -> None:
    market = Bourse(USUAL, USUAL, prices=[CHEAP, DEAR])

    found = standing(market.group, market.view)

    assert found is not None
    usd = found[1].terms["adjusted_usd"]
    assert found[1].terms["score"] == (1.0, usd[0] / usd[1])


def test_group_without_numbers_of_a_tick_is_a_mistake_of_the_program() -> None:
    market = Bourse(USUAL, USUAL)
    view = GroupView(is_calm=True, targets=(CLOSED,) * 2, turn_credits=(0.0, 0.0), measured=(USUAL,) * 2)

    with pytest.raises(ValueError, match="tick"):
        decide(builders.ask(), market.group, view, rng=Draws(), lengths=builders.lengths(market.group))
