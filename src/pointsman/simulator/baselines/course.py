"""The same attempts for every baseline: each at another target, and none after the first content."""

import random
from typing import Protocol

from pointsman.domain.decision import FinishReason
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.outcome import Outcome, OutcomeClass
from pointsman.domain.snapshot import Snapshot
from pointsman.domain.target import ModelGroup, Target
from pointsman.routing.exchange import OK, Command, Finish, Send
from pointsman.routing.retry import may_go_on
from pointsman.simulator.baselines.balancer import Balancer
from pointsman.simulator.nodes import GROUP, Course, Ticket
from pointsman.simulator.request import Request

_FAILED = GatewayError(ErrorKind.UPSTREAM_ERROR, "All attempts failed.")


class _Untimed:
    """Nobody wants to know when the first content comes."""

    def answered(self) -> None: ...


_UNTIMED = _Untimed()


class _Pick(Protocol):
    def __call__(self, request: Request, tried: list[Target], now: float) -> Target | None: ...


class LiteralCourse:
    """One request."""

    def __init__(self, request: Request, pick: _Pick, max_attempts: int) -> None:
        self._request, self._pick, self._max_attempts = request, pick, max_attempts
        self.tried: list[Target] = []

    def start(self, now: float) -> Command:
        target = self._pick(self._request, self.tried, now)
        if target is None:
            return Finish(FinishReason.TARGETS_EXHAUSTED, _FAILED)
        self.tried.append(target)
        return Send(target, is_probe=False)

    resume = start  # baselines never wait

    def finished(self, outcome: Outcome, now: float) -> Command:
        if outcome.outcome_class is OutcomeClass.OK:
            return OK
        if not may_go_on(outcome):
            return Finish(FinishReason.RESPONSE_STARTED)
        if len(self.tried) >= self._max_attempts:
            return Finish(FinishReason.ATTEMPTS_EXHAUSTED, _FAILED)
        return self.start(now)


class LiteralNode:
    """A replica that follows a baseline."""

    def __init__(self, snapshot: Snapshot, balancer: Balancer, chance: random.Random, *, max_attempts: int) -> None:
        self._balancer, self._chance, self._max_attempts = balancer, chance, max_attempts
        self.reloaded(snapshot)

    def reloaded(self, snapshot: Snapshot) -> None:
        self._group: ModelGroup = snapshot.groups[GROUP]

    def course(self, request: Request, now: float) -> LiteralCourse:
        return LiteralCourse(request, self._pick, self._max_attempts)

    def sent(self, course: Course, command: Send, now: float) -> Ticket:
        self._balancer.sent(command.target.provider, now)
        return _UNTIMED

    def ended(self, course: Course, ticket: Ticket, outcome: Outcome, now: float) -> Command:
        if not isinstance(course, LiteralCourse):
            raise TypeError("a baseline drives its own courses")
        self._balancer.ended(course.tried[-1].provider, outcome, now)
        return course.finished(outcome, now)

    def _pick(self, request: Request, tried: list[Target], now: float) -> Target | None:
        names = {target.provider for target in tried}
        left = [member.target for member in self._group.members if member.target.provider not in names]
        return self._balancer.pick(request, left, now, self._chance) if left else None
