"""What would become of a request: the decision it would get now, by the code that decides, with no effect at all."""

import math
from typing import Protocol

from pointsman.domain.ask import Ask
from pointsman.domain.conversation import Session
from pointsman.domain.decision import Decision, DecisionMode, Effects
from pointsman.domain.errors import GatewayError
from pointsman.domain.opinion import FallbackReason
from pointsman.domain.outcome import Usage
from pointsman.domain.ports import Rng
from pointsman.domain.request import RequestFacts
from pointsman.domain.target import ModelGroup, Target
from pointsman.domain.value import Value
from pointsman.domain.view import GroupView, LengthView
from pointsman.routing import explanation, resolve
from pointsman.routing.exchange import Consult, Exchange, Finish, Send, Wait
from pointsman.routing.router import decide


class Refusal(Value):
    """The error that the caller would get."""

    status: int
    code: str | None
    message: str


class Explained(Value, kw_only=True):
    """The first thing that would happen to a request, and why."""

    action: str  # send | wait | refuse
    line: str  # for humans
    facts: RequestFacts | None = None  # None: the body cannot be read
    group: str | None = None  # None: there is none of that name, or the caller may not use it
    strategy: str | None = None
    strategy_reason: str | None = None
    mode: DecisionMode | None = None  # None: nobody is picked
    picked: str | None = None
    propensity: float | None = None  # probability of this pick, given the candidates
    wait_s: float | None = None  # until it looks again; None: it does not wait
    refusal: Refusal | None = None
    targets: tuple[explanation.TargetRow, ...] = ()


class Board(Protocol):
    """What is read of a signal board."""

    def view(self, group: ModelGroup, now: float) -> GroupView: ...
    def in_flight(self, target: Target) -> int: ...
    def expected(self, group: ModelGroup, ask: Ask, now: float) -> LengthView: ...
    def home(self, group: ModelGroup, caller: str, session: Session, now: float) -> int | None: ...


class _Still:
    """A board as an exchange sees it: reads go through, and nothing is written."""

    def __init__(self, board: Board, now: float) -> None:
        self._board, self._now = board, now
        self.expected, self.home = board.expected, board.home

    def view(self, group: ModelGroup, now: float) -> GroupView:
        return self._board.view(group, self._now)

    def retries_left(self, group: ModelGroup, now: float) -> float:
        return math.inf  # a first attempt is not charged

    def request_began(self, group: ModelGroup, now: float) -> None: ...
    def apply(self, group: ModelGroup, effects: Effects) -> None: ...
    def served(self, group: ModelGroup) -> None: ...
    def spend_retry(self, group: ModelGroup, now: float) -> None: ...
    def learn(self, group: ModelGroup, target: Target, ask: Ask, usage: Usage, now: float) -> None: ...
    def settle(self, group: ModelGroup, caller: str, session: Session, target: Target, now: float) -> None: ...


def explain(ask: Ask, board: Board, rng: Rng, now: float) -> Explained:
    """What a gateway with this board would do first. Changes nothing but `rng`."""
    try:
        group = resolve.group_for(ask)
    except GatewayError as error:
        return refused(error, ask.facts)
    timeouts = ask.snapshot.timeouts
    deadline = now + (timeouts.total_stream_s if ask.facts.stream else timeouts.total_s)
    exchange = Exchange(ask, group, _Still(board, now), rng, began_at=now, deadline=deadline)
    command = exchange.start(now)
    if isinstance(command, Consult):
        command = exchange.told(FallbackReason.NOT_ASKED, now)
    # a wait leaves no decision: nobody can be picked, whatever is drawn
    decision = exchange.decisions[-1] if exchange.decisions else _nobody(ask, exchange, board, rng, now)
    view = board.view(decision.group, now)
    pick, failure = decision.pick, command.error if isinstance(command, Finish) else None
    in_flight = tuple(board.in_flight(member.target) for member in decision.group.members)
    return Explained(
        action=_ACTIONS[type(command)],
        line=explanation.line(decision, view, now),
        facts=ask.facts,
        group=group.name,
        strategy=group.policy.strategy,
        strategy_reason=group.policy.strategy_reason,
        mode=None if pick is None else pick.mode,
        picked=None if pick is None else pick.target.id,
        propensity=None if pick is None else pick.propensity,
        wait_s=round(command.until - now, 3) if isinstance(command, Wait) else None,
        refusal=None if failure is None else _refusal(failure),
        targets=explanation.rows(decision, view, in_flight, now),
    )


def _nobody(ask: Ask, exchange: Exchange, board: Board, rng: Rng, now: float) -> Decision:
    """Why a request waits."""
    group, lengths = exchange.current, board.expected(exchange.current, ask, now)
    return decide(ask, group, board.view(group, now), rng=rng, lengths=lengths)


_ACTIONS = {Send: "send", Wait: "wait", Finish: "refuse"}


def refused(error: GatewayError, facts: RequestFacts | None = None) -> Explained:
    """A request that comes to no decision."""
    return Explained(action="refuse", line=error.message, facts=facts, refusal=_refusal(error))


def _refusal(error: GatewayError) -> Refusal:
    return Refusal(error.status, error.code, error.message)
