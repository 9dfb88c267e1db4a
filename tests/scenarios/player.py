"""Plays a story: requests in virtual time against real signals."""

from msgspec import UNSET

from pointsman.domain.outcome import Outcome
from pointsman.routing.exchange import Command, Exchange, Finish, Send, Wait
from pointsman.signals.board import SignalBoard
from pointsman.signals.target_state import Lease
from pointsman.testing import builders
from tests.scenarios.scenario import BEGIN_S, Scenario, Step


class FixedDraw:
    """Every draw is the scenario's."""

    def __init__(self, value: float) -> None:
        self._value = value

    def random(self) -> float:
        return self._value


class Player:
    """Holds the state of the story between its lines."""

    def __init__(self, scenario: Scenario) -> None:
        self.group, self._rng = scenario.group.build(), FixedDraw(scenario.draw)
        self._board, self._now = SignalBoard(self._rng), BEGIN_S
        self._command: Command | None = None
        self._exchange: Exchange | None = None
        self._caller = ""
        self._lease: Lease | None = None

    def play(self, step: Step) -> None:
        """One line; an AssertionError tells what really happened."""
        if step.request is not UNSET:
            self._begin(step.request, step.session)
        elif step.sends is not UNSET:
            self._sends(step.sends, step)
        elif step.waits_s is not UNSET:
            self._waits(step.waits_s)
        elif step.ends is not UNSET:
            self._ends(
                builders.outcome(
                    step.ends,
                    status=step.status,
                    retry_after_s=step.retry_after_s,
                    confirmed=step.confirmed,
                    committed=step.committed,
                )
            )
        elif step.finishes is not UNSET:
            self._finishes(step.finishes, step.error)
        else:
            assert step.later_s is not UNSET, "nothing happens in this line"
            self._now += step.later_s
        self._check_breakers(step)

    def _begin(self, caller: str, session: str | None) -> None:
        self._caller, now = caller, self._now
        ask = builders.ask(caller, session=None if session is None else builders.session(session))
        self._exchange = Exchange(ask, self.group, self._board, self._rng, began_at=now, deadline=now + 600)
        self._command = self._exchange.start(now)

    def _sends(self, target_id: str, step: Step) -> None:
        command = self._command
        assert isinstance(command, Send), command
        assert command.target.id == target_id
        assert self._exchange is not None
        assert step.mode in {UNSET, self._exchange.last_mode}
        self._lease = self._board.started(command.target, self._caller, self._now, is_probe=command.is_probe)

    def _ends(self, outcome: Outcome) -> None:
        assert self._exchange is not None
        assert self._lease is not None, "nothing was sent"
        self._board.record(self._lease, outcome, self._now, self.group)
        self._lease = None
        self._command = self._exchange.finished(outcome, self._now)

    def _waits(self, duration_s: float) -> None:
        command = self._command
        assert isinstance(command, Wait), command
        assert abs(command.until - self._now - duration_s) < 1e-6, command.until - self._now
        assert self._exchange is not None
        self._now = command.until
        self._command = self._exchange.resume(self._now)

    def _finishes(self, reason: str, error: str | None) -> None:
        command = self._command
        assert isinstance(command, Finish), command
        assert (command.reason, None if command.error is None else command.error.code) == (reason, error)

    def _check_breakers(self, step: Step) -> None:
        for target_id, breaker in step.then.items():
            assert self._board.target_view(builders.target(target_id), self._now).breaker is breaker, target_id
