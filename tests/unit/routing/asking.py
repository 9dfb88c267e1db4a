"""Requests, draws and a signal board made by hand, for tests of decisions."""

from collections.abc import Iterable, Mapping
from typing import Any

from pointsman.domain.ask import Ask
from pointsman.domain.conversation import Session
from pointsman.domain.decision import Decision, Effects, Exclusion
from pointsman.domain.outcome import OutcomeClass, Usage
from pointsman.domain.ports import Rng
from pointsman.domain.target import ModelGroup, Target
from pointsman.domain.view import Breaker, GroupView, LengthView, Limit, PauseCause, TargetView
from pointsman.routing.exchange import Command, Exchange, Finish, Send
from pointsman.routing.router import NOBODY, decide
from pointsman.testing import builders

NOW = 1_000.0
OPEN = builders.view(breaker=Breaker.OPEN, pause_cause=PauseCause.FAULTS, paused_until=NOW + 30)
HALF_OPEN = builders.view(breaker=Breaker.HALF_OPEN, pause_cause=PauseCause.FAULTS, paused_until=NOW - 1)
PROBING = builders.view(breaker=Breaker.HALF_OPEN, pause_cause=PauseCause.FAULTS, paused_until=NOW - 1, is_probing=True)
LIMITED = builders.view(gate=0.0, limit=Limit.MAX_RPS, limited_until=NOW + 0.5)
READMITTED = builders.view(
    breaker=Breaker.OPEN, pause_cause=PauseCause.FAULTS, paused_until=NOW + 30, is_readmitted=True, gate=0.4
)


def paused_for(duration_s: float, cause: PauseCause = PauseCause.FAULTS) -> TargetView:
    return builders.view(breaker=Breaker.OPEN, pause_cause=cause, paused_until=NOW + duration_s)


class Draws:
    """An rng that gives the listed draws, and the last one for ever."""

    def __init__(self, *values: float) -> None:
        self._values = list(values) or [0.0]

    def random(self) -> float:
        return self._values.pop(0) if len(self._values) > 1 else self._values[0]


def view_of(
    group: ModelGroup,
    views: Mapping[str, TargetView] | None = None,
    *,
    turn_credits: tuple[float, ...] | None = None,
) -> GroupView:
    """The group's view: closed, but for the targets that `views` names."""
    seen = [(views or {}).get(member.target.id, builders.view()) for member in group.members]
    return builders.group_view(*seen, turn_credits=turn_credits)


def decided(
    group: ModelGroup,
    views: Mapping[str, TargetView] | None = None,
    *,
    draw: float = 0.0,
    tried: Iterable[str] = NOBODY,
    turn_credits: tuple[float, ...] | None = None,
    lengths: LengthView | None = None,
    home: int | None = None,
    rng: Rng | None = None,
    body_bytes: int = 64,
) -> Decision:
    """What `decide` says."""
    view, known = view_of(group, views, turn_credits=turn_credits), lengths or builders.lengths(group)
    ask, chance = builders.ask(body_bytes=body_bytes), rng or Draws(draw)
    return decide(ask, group, view, rng=chance, tried=frozenset(tried), lengths=known, home=home)


def picked(decision: Decision) -> str | None:
    return decision.pick.target.id if decision.pick else None


def rules(decision: Decision) -> dict[str, Exclusion]:
    return {excluded.target_id: excluded.rule for excluded in decision.excluded}


class HandBoard:
    """Signals that a test sets by hand and reads back."""

    def __init__(self, views: Mapping[str, TargetView] | None = None, *, retries_left: float = 30.0) -> None:
        self.views, self.budget = dict(views or {}), retries_left
        self.requests, self.spent, self.answered = 0, 0, 0
        self.applied: list[Effects] = []
        self.learned: list[tuple[str, Usage]] = []  # target id, usage
        self.homes: dict[str, str] = {}  # session key -> target id
        self.settled: list[str] = []  # target ids, as sessions were given to them

    def view(self, group: ModelGroup, now: float) -> GroupView:
        return view_of(group, self.views)

    def retries_left(self, group: ModelGroup, now: float) -> float:
        return self.budget - self.spent

    def request_began(self, group: ModelGroup, now: float) -> None:
        self.requests += 1

    def apply(self, group: ModelGroup, effects: Effects) -> None:
        self.applied.append(effects)

    def expected(self, group: ModelGroup, ask: Ask, now: float) -> LengthView:
        return builders.lengths(group)

    def learn(self, group: ModelGroup, target: Target, ask: Ask, usage: Usage, now: float) -> None:
        self.learned.append((target.id, usage))

    def home(self, group: ModelGroup, caller: str, session: Session, now: float) -> int | None:
        ids = [member.target.id for member in group.members]
        return ids.index(self.homes[session.key]) if session.key in self.homes else None

    def settle(self, group: ModelGroup, caller: str, session: Session, target: Target, now: float) -> None:
        self.homes[session.key] = target.id
        self.settled.append(target.id)

    def served(self, group: ModelGroup) -> None:
        self.answered += 1

    def spend_retry(self, group: ModelGroup, now: float) -> None:
        self.spent += 1


class Request:
    """One exchange, step by step, in failover order unless the group says otherwise."""

    def __init__(
        self,
        *targets: str,
        views: Mapping[str, TargetView] | None = None,
        group: ModelGroup | None = None,
        total_s: float = 600.0,
        retries_left: float = 30.0,
        draw: float = 0.5,
        session: Session | None = None,
        **policy: Any,
    ) -> None:
        self.group = group or builders.group("chat", *targets, strategy="failover", **policy)
        self.board, self.now = HandBoard(views, retries_left=retries_left), NOW
        self.exchange = Exchange(
            builders.ask(session=session), self.group, self.board, Draws(draw), began_at=NOW, deadline=NOW + total_s
        )

    def start(self) -> Command:
        return self.exchange.start(self.now)

    def ends(self, outcome_class: OutcomeClass | str, **details: object) -> Command:
        """The attempt that was sent ends."""
        return self.exchange.finished(builders.outcome(outcome_class, **details), self.now)

    def resumes(self, after_s: float) -> Command:
        self.now += after_s
        return self.exchange.resume(self.now)

    def fails_to_the_end(self) -> Finish:
        """Every attempt ends with 503, and waits take no time."""
        command = self.start()
        while not isinstance(command, Finish):
            command = self.ends("upstream_fault", status=503) if isinstance(command, Send) else self.resumes(0)
        return command

    @property
    def calls(self) -> list[str]:
        """The targets of all attempts that ended."""
        return [attempt.target_id for attempt in self.exchange.attempts]
