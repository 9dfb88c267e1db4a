"""What would become of a request."""

import re
from collections.abc import Mapping

import pytest

from pointsman.domain.ask import Ask
from pointsman.domain.decision import DecisionMode
from pointsman.domain.target import ModelGroup, Target
from pointsman.domain.view import PauseCause, TargetView
from pointsman.routing.exchange import Exchange, Finish, Send, Wait
from pointsman.routing.explain import Explained, Refusal, explain
from pointsman.routing.strategies import STRATEGIES
from pointsman.testing import builders
from tests.unit.routing.asking import HALF_OPEN, NOW, OPEN, Draws, HandBoard, paused_for

GROUP = builders.group("chat", ("a/m", 70), ("b/m", 30))
CREDENTIAL = paused_for(600, PauseCause.CREDENTIAL)


class Board(HandBoard):
    """One that also knows what is in flight."""

    def in_flight(self, target: Target) -> int:
        return 2 if target.id == "a/m" else 0


def ask_for(group: ModelGroup, model: str = "chat") -> Ask:
    return builders.ask(config=builders.snapshot([group], config_version=3), model=model)


def explained(
    group: ModelGroup = GROUP, views: Mapping[str, TargetView] | None = None, *, draw: float = 0.0
) -> Explained:
    return explain(ask_for(group), Board(views), Draws(draw), NOW)


def test_choice_is_told_with_its_reasons() -> None:
    found = explained(draw=0.8)

    assert (found.action, found.picked, found.mode, found.propensity) == ("send", "b/m", DecisionMode.WEIGHTED, 0.3)
    assert (found.group, found.strategy, found.strategy_reason) == ("chat", "weighted", "configured")
    assert found.facts == builders.facts()
    assert found.line == "b/m chosen by weighted: share 30% | a/m share 70%"
    assert [(row.target, row.is_picked, row.state["in_flight"]) for row in found.targets] == [
        ("a/m", False, 2),
        ("b/m", True, 0),
    ]


def test_strategy_that_compares_prices_tells_them() -> None:
    prices = {"a/m": builders.price(3.0, 6.0), "b/m": builders.price(1.0, 2.0)}

    found = explained(builders.group("chat", "a/m", "b/m", "c/m", strategy="cost", prices=prices))

    first, second, third = found.targets
    assert (found.picked, found.mode) == ("b/m", DecisionMode.COST)
    assert first.numbers["cost_usd"] == pytest.approx(3 * second.numbers["cost_usd"])
    assert third.numbers["cost_usd"] is None
    assert re.match(
        r"b/m chosen by cost: share 100%, input \d+ tokens, output \d+ tokens, cost \S+ USD, cached 0 tokens \| a/m",
        found.line,
    )
    assert "c/m share 0%" in found.line
    assert found.line.endswith("cost unknown, cached 0 tokens")


def test_probe_is_explained_without_taking_the_permit() -> None:
    board = Board({"a/m": HALF_OPEN})

    found = [explain(ask_for(GROUP), board, Draws(), NOW) for _ in range(2)]

    assert [(each.picked, each.mode) for each in found] == [("a/m", DecisionMode.PROBE)] * 2


def test_nothing_is_written_to_the_board() -> None:
    board = Board()

    explain(ask_for(builders.group("chat", "a/m", "b/m", strategy="round_robin")), board, Draws(), NOW)

    assert (board.applied, board.requests, board.spent) == ([], 0, 0)


def test_wait_is_explained_with_its_length_and_every_reason() -> None:
    found = explained(views={"a/m": paused_for(4), "b/m": paused_for(9)})

    assert (found.action, found.wait_s, found.picked, found.mode) == ("wait", 4.0, None, None)
    assert found.line.startswith("chat: nobody can be chosen | a/m out")
    assert [row.excluded_by for row in found.targets] == ["paused", "paused"]


def test_panic_is_explained_as_the_attempt_it_would_be() -> None:
    found = explained(views={"a/m": paused_for(40), "b/m": paused_for(30)})

    assert (found.action, found.picked, found.mode) == ("send", "b/m", DecisionMode.PANIC)


def test_refusal_is_explained_with_the_error_the_caller_would_get() -> None:
    found = explained(views={"a/m": CREDENTIAL, "b/m": CREDENTIAL})

    assert found.action == "refuse"
    assert found.refusal is not None
    assert (found.refusal.status, found.refusal.code) == (502, "upstream_misconfigured")
    assert len(found.targets) == 2


def test_group_without_an_eligible_target_is_explained() -> None:
    found = explained(builders.group("chat", ("a/m", 0)))

    assert found.refusal is not None
    assert (found.action, found.refusal.code) == ("refuse", "no_eligible_target")
    assert found.line == "chat: nobody can be chosen | a/m out: its weight is 0"


def test_unknown_model_is_a_refusal_and_not_an_error_of_the_question() -> None:
    found = explain(ask_for(GROUP, model="chta"), Board(), Draws(), NOW)

    text = "There is no model 'chta'. Did you mean 'chat'?"
    assert found.refusal == Refusal(404, "model_not_found", text)
    assert (found.action, found.group, found.targets, found.line) == ("refuse", None, (), text)
    assert found.facts is not None


@pytest.mark.parametrize("views", [{}, {"a/m": OPEN}, {"a/m": HALF_OPEN}, {"a/m": paused_for(4), "b/m": paused_for(9)}])
@pytest.mark.parametrize("draw", [0.0, 0.69, 0.71, 0.99])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_explanation_is_what_an_exchange_would_do(strategy: str, draw: float, views: Mapping[str, TargetView]) -> None:
    group = builders.group("chat", ("a/m", 70), ("b/m", 30), strategy=strategy)
    exchange = Exchange(ask_for(group), group, Board(views), Draws(draw), began_at=NOW, deadline=NOW + 600)

    found, command = explained(group, views, draw=draw), exchange.start(NOW)

    match command:
        case Send(target=target):
            assert (found.action, found.picked) == ("send", target.id)
        case Wait(until=until):
            assert (found.action, found.wait_s) == ("wait", round(until - NOW, 3))
        case Finish():
            pytest.fail("none of these views leads to an end")
