"""A decision in words and rows."""

import msgspec
import pytest
from msgspec import structs

from pointsman.domain.decision import EXCLUSION_TEXT, Decision, Exclusion
from pointsman.domain.view import GroupView, PauseCause, TargetView
from pointsman.routing import explanation
from pointsman.routing.router import panic
from pointsman.testing import builders
from tests.unit.routing.asking import HALF_OPEN, LIMITED, NOW, OPEN, PROBING, decided, paused_for, view_of

GROUP = builders.group("chat", ("a/m", 70), ("b/m", 30), ("c/m", 0))


class Forecast(msgspec.Struct):
    """Numbers of a strategy to come."""

    cost_usd: float | None
    input_tokens: int


class Parts(msgspec.Struct):
    """Parts of a score, by their names."""

    terms: dict[str, tuple[float, ...]]
    reason: str | None = None


class PricedDecision(Decision, frozen=True):
    """A decision that compares more."""

    latencies_s: tuple[float, ...] = ()
    forecasts: tuple[Forecast, ...] = ()
    parts: Parts | None = None


class KnowingView(GroupView, frozen=True):
    """A view that knows more about each target of the group."""

    forecasts: tuple[Forecast, ...] = ()


class FastView(TargetView, frozen=True):
    """A view that knows more."""

    latency_s: float | None = None
    capped_until: float = 0.0


def priced() -> Decision:
    usual = decided(GROUP)
    fields = {name: getattr(usual, name) for name in usual.__struct_fields__}
    return PricedDecision(**fields, latencies_s=(0.25, 1.5), forecasts=(Forecast(0.00123456, 29), Forecast(None, 31)))


# --- the line


def test_line_tells_the_chosen_one_then_those_who_lost_then_those_who_were_out() -> None:
    line = explanation.line(decided(GROUP, draw=0.9))

    assert line == "b/m chosen by weighted: share 30% | a/m share 70% | c/m out: its weight is 0"


def test_line_tells_how_long_a_pause_lasts_and_its_cause() -> None:
    views = {"a/m": paused_for(14.2, PauseCause.RATE_LIMIT)}

    line = explanation.line(decided(GROUP, views), view_of(GROUP, views), NOW)

    assert line == (
        "b/m chosen by weighted: share 100% | c/m out: its weight is 0 | "
        "a/m out: it is paused, 14 s left (cause: rate_limit)"
    )


def test_line_without_a_view_tells_the_rule_only() -> None:
    line = explanation.line(decided(GROUP, {"a/m": OPEN}))

    assert line.endswith("a/m out: it is paused")


def test_pause_that_came_after_the_decision_is_no_reason_of_it() -> None:
    decision = decided(GROUP, tried=["a/m"])

    line = explanation.line(decision, view_of(GROUP, {"a/m": OPEN}), NOW)

    assert line.endswith("a/m out: it was already tried for this request")


def test_line_names_the_limit_and_when_it_lets_something_through_again() -> None:
    line = explanation.line(decided(GROUP, {"a/m": LIMITED}), view_of(GROUP, {"a/m": LIMITED}), NOW)

    assert line.endswith("a/m out: it was sent as many requests as `max_rps` allows, 0.5 s left")


def test_line_tells_the_gates_of_candidates_and_of_those_that_were_held_back() -> None:
    views = {"a/m": builders.view(gate=0.25)}

    lines = [explanation.line(decided(GROUP, views, draw=draw)) for draw in (0.2, 0.3)]

    assert lines[0].startswith("a/m chosen by weighted: share 70%, gate 0.25 | ")
    assert lines[1].endswith("a/m out: its gate did not admit it to this decision, 25% get through")


def test_line_of_a_decision_for_nobody_tells_every_reason() -> None:
    line = explanation.line(decided(GROUP, {"a/m": OPEN, "b/m": PROBING}))

    assert line == (
        "chat: nobody can be chosen | c/m out: its weight is 0 | a/m out: it is paused | "
        "b/m out: it is recovering and its one probe is on its way"
    )


def test_probe_is_told_as_one() -> None:
    assert explanation.line(decided(GROUP, {"a/m": HALF_OPEN})).startswith("a/m chosen by probe: share 100%")


def test_target_of_a_panic_is_told_once_although_it_is_excluded() -> None:
    views = {"a/m": OPEN, "b/m": OPEN}
    decision, _ = panic(decided(GROUP, views), 0)

    line = explanation.line(decision)

    assert line.startswith("a/m chosen by panic: share 100% | c/m out")
    assert line.count("a/m") == 1


def test_number_of_a_new_strategy_is_told_by_its_name_and_unit() -> None:
    line = explanation.line(priced())

    assert line.startswith(
        "a/m chosen by weighted: share 70%, latencies 0.25 s, cost 0.001235 USD, input 29 tokens | "
        "b/m share 30%, latencies 1.5 s, cost unknown, input 31 tokens | "
    )


def test_parts_of_a_score_are_told_by_their_names() -> None:
    decision = structs.replace(priced(), latencies_s=(), forecasts=(), parts=Parts({"load": (0.5, 0.25)}, "warming"))

    assert explanation.line(decision).startswith(
        "a/m chosen by weighted: share 70%, load 0.5 | b/m share 30%, load 0.25 | "
    )


def test_line_of_a_thousand_targets_is_bounded_and_says_how_many_are_missing() -> None:
    group = builders.group("chat", *(f"provider-{number}/model" for number in range(1_000)))

    line = explanation.line(decided(group))

    assert len(line) <= explanation.MAX_LINE_CHARS
    told = line.count("share")
    assert line.endswith(f" | {1_000 - told} more")


def test_line_is_visible_ascii_so_that_it_can_be_a_header() -> None:
    texts = [*EXCLUSION_TEXT.values(), explanation.line(priced())]

    assert all(text.isascii() and text.isprintable() for text in texts)


# --- units


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("share", 0.7, "70%"),
        ("error_ratio", 0.0125, "1.2%"),
        ("cost_usd", 0.000012345, "1.234e-05 USD"),
        ("price_usd_per_mtok", 2.5, "2.5 USD/Mtok"),
        ("output_tps", 81.25, "81.25 tokens/s"),
        ("input_tokens", 123456, "123456 tokens"),
        ("ttft_s", 0.2149, "0.215 s"),
        ("in_flight", 3, "3"),
        ("breaker", "open", "open"),
        ("is_probing", True, "True"),
        ("cost_usd", None, "unknown"),
    ],
)
def test_number_is_shown_with_the_unit_that_its_name_ends_in(name: str, value: explanation.Number, shown: str) -> None:
    assert explanation.shown(name, value) == shown


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("share", "share"),
        ("cost_usd", "cost"),
        ("price_usd_per_mtok", "price"),
        ("paused_for_s", "paused for"),
        ("in_flight", "in flight"),
    ],
)
def test_title_is_the_name_without_its_unit(name: str, title: str) -> None:
    assert explanation.title(name) == title


# --- rows


def test_every_target_has_a_row_in_the_order_of_the_group() -> None:
    views = {"b/m": paused_for(14.0)}

    a, b, c = explanation.rows(decided(GROUP, views), view_of(GROUP, views), (3, 0, 0), NOW)

    assert (a.target, a.weight, a.is_picked, a.excluded_by, a.because) == ("a/m", 70, True, None, None)
    assert (a.numbers, a.state["breaker"], a.state["in_flight"]) == ({"share": 1.0}, "closed", 3)
    assert (b.is_picked, b.excluded_by, b.because) == (False, Exclusion.PAUSED, "it is paused")
    assert (b.numbers, b.state["breaker"], b.state["paused_for_s"]) == ({}, "open", 14.0)
    assert (c.target, c.excluded_by, c.numbers) == ("c/m", Exclusion.WEIGHT_ZERO, {})


def test_row_of_the_target_of_a_panic_is_a_candidate() -> None:
    views = {"a/m": OPEN, "b/m": OPEN}
    decision, _ = panic(decided(GROUP, views), 0)

    first, second, _ = explanation.rows(decision, view_of(GROUP, views), (0, 0, 0), NOW)

    assert (first.is_picked, first.excluded_by, first.numbers) == (True, None, {"share": 1.0})
    assert (second.is_picked, second.excluded_by) == (False, Exclusion.PAUSED)


def test_numbers_to_come_are_in_the_rows_by_their_names() -> None:
    first, second, _ = explanation.rows(priced(), view_of(GROUP), (0, 0, 0), NOW)

    assert first.numbers == {"share": 0.7, "latencies_s": 0.25, "cost_usd": 0.00123456, "input_tokens": 29}
    assert second.numbers["cost_usd"] is None


def test_numbers_to_come_of_a_view_are_in_the_state_and_instants_are_counted_from_now() -> None:
    state = explanation.state_of(FastView(latency_s=0.2, capped_until=NOW + 5), 1, NOW)

    assert (state["latency_s"], state["capped_for_s"], state["in_flight"]) == (0.2, 5.0, 1)
    assert not any(name.endswith("_until") for name in state)


def test_numbers_to_come_of_a_group_are_in_the_state_of_each_target() -> None:
    usual = view_of(GROUP, turn_credits=(1.5, -1.5, 0.0))
    forecasts = (Forecast(0.1, 1), Forecast(0.2, 2), Forecast(0.3, 3))
    view = KnowingView(usual.is_calm, usual.targets, usual.turn_credits, forecasts)

    first, second, _ = explanation.rows(decided(GROUP), view, (0, 0, 0), NOW)

    assert (first.state["turn_credit"], first.state["cost_usd"], first.state["breaker"]) == (1.5, 0.1, "closed")
    assert (second.state["turn_credit"], second.state["cost_usd"]) == (-1.5, 0.2)


def test_state_has_every_field_of_a_view() -> None:
    state = explanation.state_of(builders.view(), 0, NOW)

    names = {name.replace("_until", "_for_s") for name in TargetView.__struct_fields__}
    assert set(state) == {*names, "in_flight"}


def test_pause_that_is_over_has_no_negative_rest() -> None:
    assert explanation.state_of(structs.replace(OPEN, paused_until=NOW - 5), 0, NOW)["paused_for_s"] == 0.0
