"""One replica of a gateway, as the world drives it: the production classes, or a literal rebuild of another rule."""

import random
from collections.abc import Callable
from typing import Protocol

from pointsman.domain.ask import Ask, epoch_at
from pointsman.domain.outcome import Outcome
from pointsman.domain.policy import Detail
from pointsman.domain.request import Caller, Dialect, RequestFacts, Scope
from pointsman.domain.snapshot import Snapshot
from pointsman.routing.exchange import Command, Exchange, Send
from pointsman.signals.board import SignalBoard
from pointsman.signals.target_state import Lease
from pointsman.simulator.endpoint import Answer
from pointsman.simulator.request import BYTES_PER_TOKEN, Request

GROUP = "chat"

Foresee = Callable[[Request, str, int], Answer]  # request, endpoint, attempt: what it would meet now


class Ticket(Protocol):
    """One attempt on its way."""

    def answered(self) -> None:
        """The first content has come."""
        ...


class Course(Protocol):
    """One request on its way; `Exchange` is the production one."""

    def start(self, now: float) -> Command: ...
    def resume(self, now: float) -> Command: ...


class Node(Protocol):
    """Decides and learns. Replicas share nothing."""

    def course(self, request: Request, now: float) -> Course: ...
    def sent(self, course: Course, command: Send, now: float) -> Ticket: ...
    def ended(self, course: Course, ticket: Ticket, outcome: Outcome, now: float) -> Command: ...
    def reloaded(self, snapshot: Snapshot) -> None:
        """Another configuration from now on."""
        ...


class Gateway:
    """The production exchange and signal board, as `proxy/driver.py` drives them."""

    def __init__(self, snapshot: Snapshot, chance: random.Random, board_chance: random.Random) -> None:
        self._chance, self._board = chance, SignalBoard(board_chance)
        self.reloaded(snapshot)

    def reloaded(self, snapshot: Snapshot) -> None:
        self._snapshot, self._group = snapshot, snapshot.groups[GROUP]
        self._board.keep(snapshot.groups.values())

    def course(self, request: Request, now: float) -> Exchange:
        ask, total_s = self._ask(request, now), self._snapshot.timeouts.total_stream_s
        return Exchange(ask, self._group, self._board, self._chance, began_at=now, deadline=now + total_s)

    def sent(self, course: Course, command: Send, now: float) -> Lease:
        ask = _exchange(course).ask
        return self._board.started(command.target, ask.caller.name, now, is_probe=command.is_probe, facts=ask.facts)

    def ended(self, course: Course, ticket: Ticket, outcome: Outcome, now: float) -> Command:
        exchange, lease = _exchange(course), ticket
        if not isinstance(lease, Lease):
            raise TypeError("a gateway holds leases")
        self._board.record(lease, outcome, now, exchange.current)
        return exchange.finished(outcome, now)

    def _ask(self, request: Request, now: float) -> Ask:
        """What the dialects would have found out for this group."""
        details, session = self._group.policy.details, request.session
        text_chars = request.input_tokens * BYTES_PER_TOKEN
        facts = RequestFacts(
            dialect=Dialect.OPENAI_CHAT,
            model=GROUP,
            stream=True,
            body_bytes=text_chars,
            text_chars=text_chars if Detail.TEXT_SIZE in details else None,
            session=session if Detail.SESSION in details else None,
        )
        return Ask(
            request.id,
            Caller(request.caller, frozenset((Scope.CHAT,))),
            facts,
            self._snapshot,
            prefix=request.prefix if Detail.PREFIX in details else None,
            epoch=0 if session is None else epoch_at(now, session),
        )


def _exchange(course: Course) -> Exchange:
    if not isinstance(course, Exchange):
        raise TypeError("a gateway drives exchanges")
    return course
