"""One client request as a state machine: it says what to do next, a driver does it (pure).

    start -> Send -> finished -> Send | Wait | Finish
                                        Wait -> resume -> Send | Wait | Finish

A group with a policy service has `Consult -> told -> ...` before its first decision.

The asyncio driver and the virtual-time driver of the simulator run exactly this.
"""

from typing import Protocol

from msgspec import structs

from pointsman.domain.ask import Ask
from pointsman.domain.conversation import Session
from pointsman.domain.decision import (
    NO_EFFECTS,
    AttemptRecord,
    Decision,
    DecisionMode,
    Effects,
    FinishReason,
    Picked,
    Scores,
)
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.opinion import FAULTS_OF_SERVICE, FallbackReason, Question, Told
from pointsman.domain.outcome import Outcome, OutcomeClass, Usage
from pointsman.domain.policy import DEFAULT_MAX_ATTEMPTS, External, PinRecord
from pointsman.domain.ports import Rng
from pointsman.domain.price import cost_usd
from pointsman.domain.target import ModelGroup, Target
from pointsman.domain.value import Leaf, Value
from pointsman.domain.view import GroupView, LengthView
from pointsman.routing import (
    affinity,
    costs,
    eligibility,
    fallback,
    none_eligible,
    opinions,
    refusals,
    retry,
    unavailable,
)
from pointsman.routing.arrange import arranged
from pointsman.routing.router import NOBODY, decide, panic

FREE_ATTEMPTS = 2  # the first one and a first failover; later ones are charged to the group's retry budget


class Send(Leaf):
    """Send one attempt to a target."""

    target: Target
    is_probe: bool


class Wait(Value):
    """Do nothing until then, and call `resume`."""

    until: float  # monotonic seconds


class Consult(Value):
    """Ask the policy service of the current group, and call `told`."""

    question: Question
    external: External  # how


class Finish(Value):
    """The request is over. `error` is None when an answer reached the caller, complete or broken, or nobody waits."""

    reason: FinishReason
    error: GatewayError | None = None


Command = Send | Wait | Consult | Finish

OK = Finish(FinishReason.OK)
_OK = OutcomeClass.OK  # an attribute of an enumeration is searched for each time


class Signals(Protocol):
    """What an exchange asks of the signal board."""

    def view(self, group: ModelGroup, now: float) -> GroupView: ...
    def retries_left(self, group: ModelGroup, now: float) -> float: ...
    def request_began(self, group: ModelGroup, now: float) -> None: ...
    def apply(self, group: ModelGroup, effects: Effects) -> None: ...
    def served(self, group: ModelGroup) -> None: ...
    def spend_retry(self, group: ModelGroup, now: float) -> None: ...
    def expected(self, group: ModelGroup, ask: Ask, now: float) -> LengthView: ...
    def learn(self, group: ModelGroup, target: Target, ask: Ask, usage: Usage, now: float) -> None: ...
    def home(self, group: ModelGroup, caller: str, session: Session, now: float) -> int | None: ...
    def settle(self, group: ModelGroup, caller: str, session: Session, target: Target, now: float) -> None: ...


class Exchange:
    """All decisions and attempts of one request, within one deadline and one snapshot."""

    def __init__(
        self, ask: Ask, group: ModelGroup, signals: Signals, rng: Rng, *, began_at: float, deadline: float
    ) -> None:
        self.ask, self.group, self._signals, self._rng = ask, group, signals, rng
        self._home = group if ask.demands is None else arranged(group, ask.demands.preferences)
        self.current = self._home  # where targets are picked; a fallback is another one
        self._passed: tuple[ModelGroup, ...] = ()  # groups that could not help
        self.began_at, self.deadline = began_at, deadline
        self._tried = NOBODY  # targets that must not be picked (again)
        self._wait_limit: float | None = None  # set by the first wait for a paused target
        self._lengths: LengthView | None = None  # estimated at the start; None: the strategy does not compare prices
        self._session = ask.facts.session if self.current is group else None  # None: no pin has a say
        self.decisions: list[Decision] = []  # one per attempt, and a last one when nobody could be picked
        self.picks: list[Picked] = []  # the targets that attempts went to, in order
        self.sent_at: list[float] = []  # monotonic seconds of each attempt
        self.outcomes: list[Outcome] = []  # of each attempt that has ended

    @property
    def attempts(self) -> list[AttemptRecord]:
        """Every attempt that has ended, as records show it."""
        ended = []
        for index, outcome in enumerate(self.outcomes):  # there may be one more pick, whose attempt is on its way
            pick, started_s = self.picks[index], self.sent_at[index] - self.began_at
            ended.append(AttemptRecord(
                pick.target.id, pick.mode, pick.propensity, outcome.outcome_class, outcome.detail, outcome.status,
                outcome.committed, started_s, outcome.ttfb_s, outcome.ttft_s, outcome.duration_s,
                cost_usd(pick.target.price, outcome.usage), outcome.visible_s,
            ))  # fmt: skip
        return ended

    @property
    def last_mode(self) -> DecisionMode | None:
        """The rule that picked the latest attempt's target; None: nothing was sent."""
        return self.picks[-1].mode if self.picks else None

    @property
    def last_failure(self) -> str:
        """How the latest failed attempt ended, as `class:detail`; empty: none failed."""
        failed = [outcome for outcome in self.outcomes if outcome.outcome_class is not OutcomeClass.OK]
        return f"{failed[-1].outcome_class}:{failed[-1].detail}" if failed else ""

    def start(self, now: float) -> Command:
        """The first command."""
        self._signals.request_began(self.group, now)
        if self.ask.facts.text_chars is not None or self.current.policy.compares_prices:
            self._measure(now)
        return self._next(now)

    def resume(self, now: float) -> Command:
        """A wait is over."""
        return self._next(now)

    def told(self, told: Told, now: float) -> Command:
        """What the policy service says, or why it says nothing."""
        self.ask, external = structs.replace(self.ask, told=told), self.current.policy.external
        is_closed = external is not None and external.fails_closed
        if not (is_closed and isinstance(told, FallbackReason) and told in FAULTS_OF_SERVICE):
            return self._next(now)
        excluded = eligibility.split(self.ask, self.current, self._lengths).excluded
        self.decisions.append(Decision(self.current, pick=None, excluded=excluded, scores=Scores((), {}, told)))
        return Finish(FinishReason.POLICY_UNAVAILABLE, _policy_error())

    def finished(self, outcome: Outcome, now: float) -> Command:
        """An attempt ended; what now?"""
        self.outcomes.append(outcome)
        if outcome.outcome_class is _OK:
            if self._lengths is not None and outcome.usage is not None:
                self._signals.learn(self.current, self.picks[-1].target, self.ask, outcome.usage, now)
            if self._session is not None:
                self._settle(PinRecord.SERVED, now)
            if self.current.policy.reads:
                self._signals.served(self.current)
            return OK
        if not retry.may_go_on(outcome):
            return self._refused(outcome, now)
        if now >= self.deadline:
            return Finish(FinishReason.DEADLINE, _deadline_error())
        attempts_left = self._max_attempts() - len(self.outcomes)
        if attempts_left < 1:
            return self._give_up(FinishReason.ATTEMPTS_EXHAUSTED, now)
        if len(self.outcomes) >= FREE_ATTEMPTS and self._signals.retries_left(self.group, now) < 1:
            return self._give_up(FinishReason.RETRY_BUDGET_SPENT, now)
        self._tried |= {self.picks[-1].target.id}
        if attempts_left == 1:
            self._turn(fallback.names(self.ask, self.group), now)  # the last one is for another group, if there is any
        return self._next(now)

    def _measure(self, now: float) -> None:
        """How long the request is for the targets of the current group."""
        self._lengths = self._signals.expected(self.current, self.ask, now)

    def _next(self, now: float) -> Command:
        if now >= self.deadline:
            return Finish(FinishReason.DEADLINE, _deadline_error())
        view = self._signals.view(self.current, now)
        external = self.current.policy.external
        if external is not None and self.ask.told is None and len(self._eligible()) > 1:
            return self._consult(external, view)
        if self._session is None:
            decision = decide(self.ask, self.current, view, rng=self._rng, tried=self._tried, lengths=self._lengths)
        else:
            decision = self._decide_at_home(self._session, view, now)
        if decision.pick is not None:
            return self._send(decision, decision.pick, now)
        if self._turn(fallback.names_after(decision, self.ask, self.group), now):
            self.decisions.append(decision)
            return self._next(now)
        if self.current is not self._home:  # nobody elsewhere, either: the group that was asked for decides
            self.decisions.append(decision)
            self._go_to(self._home, now)
            return self._next(now)
        if self.outcomes and (repeat := self._repeat(now)) is not None:
            return repeat
        return self._none_left(decision, view, now)

    def _consult(self, external: External, view: GroupView) -> Consult:
        """About all that are eligible, also the paused ones: the answer holds for all attempts at this group."""
        members = self._eligible()
        targets = tuple([self.current.members[index].target for index in members])
        estimates = costs.estimates(members, targets, self._lengths)
        return Consult(opinions.question(self.ask, self.current, members, view, estimates), external)

    def _decide_at_home(self, session: Session, view: GroupView, now: float) -> Decision:
        home = self._signals.home(self.group, self.ask.caller.name, session, now)
        decision = decide(
            self.ask, self.group, view, rng=self._rng, tried=self._tried, lengths=self._lengths, home=home
        )
        pin = affinity.use_of(session, decision, view, home, is_first=not self._tried)
        return structs.replace(decision, pin=pin)

    def _settle(self, record: PinRecord, now: float) -> None:
        """The session belongs to the target that the latest decision has picked, if it says so."""
        session, pin, policy = self._session, self.decisions[-1].pin, self.group.policy.affinity
        if session is not None and pin is not None and pin.binds and policy.record is record:
            self._signals.settle(self.group, self.ask.caller.name, session, self.picks[-1].target, now)

    def _send(self, decision: Decision, pick: Picked, now: float) -> Send:
        self.decisions.append(decision)
        if pick.effects is not NO_EFFECTS:
            self._signals.apply(self.current, pick.effects)
        if self.outcomes and self._is_charged(pick):
            self._signals.spend_retry(self.group, now)
        self.picks.append(pick)
        self.sent_at.append(now)
        if self._session is not None:
            self._settle(PinRecord.SELECTED, now)
        return Send(pick.target, pick.effects.claim_probe)

    def _is_charged(self, pick: Picked) -> bool:
        """A first failover to a target in rotation is free; every other further attempt costs retry budget."""
        is_repeated = any(earlier.target is pick.target for earlier in self.picks)
        return is_repeated or pick.mode is DecisionMode.PANIC or len(self.outcomes) >= FREE_ATTEMPTS

    def _repeat(self, now: float) -> Wait | None:
        """Nobody new is available: ask the last target again, if it is in rotation or soon will be.

        A probe has one try (A-11).
        """
        last = self.outcomes[-1]
        if self.last_mode is DecisionMode.PROBE or not retry.may_repeat(last):
            return None
        if self._signals.retries_left(self.group, now) < 1:
            return None
        again = self._tried - {self.picks[-1].target.id}
        view = self._signals.view(self.current, now)
        decision = decide(self.ask, self.current, view, rng=self._rng, tried=again, lengths=self._lengths)
        at = self._backoff_ends(now) if decision.pick is not None else self._throttle_ends(decision, view, now)
        if at is None:
            return None
        self._tried = again
        return Wait(min(at, self.deadline))

    def _backoff_ends(self, now: float) -> float:
        """Exponential, with full jitter."""
        policy = self.group.policy.retry
        ceiling_s = min(policy.backoff_base_s * 2.0 ** (len(self.outcomes) - 1), policy.backoff_max_s)
        return now + ceiling_s * self._rng.random()

    def _throttle_ends(self, decision: Decision, view: GroupView, now: float) -> float | None:
        """When a target that has just rate limited us takes traffic again (B-01); None: too late, or another cause."""
        if self.outcomes[-1].outcome_class is not OutcomeClass.RATE_LIMITED:
            return None
        advice = self._advice(decision, view, now)
        return advice.at if isinstance(advice, unavailable.WaitUntil) else None

    def _none_left(self, decision: Decision, view: GroupView, now: float) -> Command:
        """Every eligible target is unavailable, or there is none at all."""
        if not self._eligible():
            self.decisions.append(decision)
            if self.outcomes:
                return self._give_up(FinishReason.TARGETS_EXHAUSTED, now)
            error = none_eligible.error_of(decision, self.ask.demands)
            is_long = error.kind is ErrorKind.CONTEXT_TOO_LONG
            return Finish(FinishReason.CONTEXT_LENGTH_EXCEEDED if is_long else FinishReason.NO_ELIGIBLE_TARGET, error)
        match self._advice(decision, view, now):
            case unavailable.WaitUntil(at):
                return Wait(at)
            case unavailable.TryAnyway(index) if not self.outcomes or self._signals.retries_left(self.group, now) >= 1:
                last_resort, pick = panic(decision, index)
                return self._send(last_resort, pick, now)
            case unavailable.TryAnyway():
                self.decisions.append(decision)
                return self._give_up(FinishReason.RETRY_BUDGET_SPENT, now)
            case unavailable.Refuse(error):
                self.decisions.append(decision)
                if self.outcomes:
                    return self._give_up(FinishReason.TARGETS_EXHAUSTED, now)
                return Finish(FinishReason(error.kind.value.code), error)

    def _advice(self, decision: Decision, view: GroupView, now: float) -> unavailable.Advice:
        if self._wait_limit is None:
            self._wait_limit = now + self.group.policy.retry.max_wait_s
        return unavailable.advise(decision, view, now=now, wait_limit=self._wait_limit, deadline=self.deadline)

    def _refused(self, outcome: Outcome, now: float) -> Command:
        """The end, unless it is this model that refuses, and another one may not."""
        cause = None if outcome.committed else refusals.cause(outcome)
        if cause is None or now >= self.deadline or len(self.outcomes) >= self._max_attempts():
            return self._stop(outcome)
        last = self.picks[-1].target
        larger = fallback.larger(self.current, self._eligible(), last) - self._tried
        self._tried |= {last.id}
        if cause is refusals.Cause.CONTEXT and larger:
            self._tried |= {member.target.id for member in self.current.members} - larger
            return self._next(now)
        if self._turn(fallback.names_for(cause, self.ask, self.group), now):
            return self._next(now)
        only_refused = all(refusals.cause(each) is not None for each in self.outcomes)
        return self._stop(outcome) if only_refused else self._give_up(FinishReason.TARGETS_EXHAUSTED, now)

    def _turn(self, names: tuple[str, ...], now: float) -> bool:
        """Go on with the first of these groups that has not been turned to yet; False: there is none."""
        group = fallback.next_group(names, self.ask, (*self._passed, self.current)) if names else None
        if group is None:
            return False
        self._go_to(group, now)
        return True

    def _go_to(self, group: ModelGroup, now: float) -> None:
        self._passed, self.current = (*self._passed, self.current), group
        if self.ask.told is not None:
            self.ask = structs.replace(self.ask, told=None)  # that was about other targets
        self._session = self.ask.facts.session if group is self.group else None  # it has its pins in the asked one only
        self._measure(now)

    def _eligible(self) -> tuple[int, ...]:
        return eligibility.split(self.ask, self.current, self._lengths).members

    def _stop(self, outcome: Outcome) -> Finish:
        if outcome.committed:
            return Finish(FinishReason.RESPONSE_STARTED)
        if outcome.outcome_class is OutcomeClass.CALLER_FAULT:
            return Finish(FinishReason.CALLER_FAULT, retry.refusal(outcome))
        return Finish(FinishReason.CALLER_GONE)

    def _give_up(self, reason: FinishReason, now: float) -> Finish:
        soonest_s = unavailable.soonest_return_s(self._signals.view(self.current, now), self._eligible(), now)
        return Finish(reason, retry.final_error(self.group.name, self.outcomes, soonest_s=soonest_s))

    def _max_attempts(self) -> int:
        if self.ask.demands is not None and fallback.is_single_choice(self.ask.demands.preferences):
            return 1
        configured = self.group.policy.retry.max_attempts
        if configured is not None:
            return configured
        before = sum([len(eligibility.split(self.ask, group).members) for group in self._passed])
        here = 0 if self.current in self._passed else len(self._eligible())
        return min(before + here + 1, DEFAULT_MAX_ATTEMPTS)


def _policy_error() -> GatewayError:
    message = "The policy service of this model group does not say who may serve; send the request again later."
    return GatewayError(ErrorKind.POLICY_UNAVAILABLE, message)


def _deadline_error() -> GatewayError:
    message = "The request was not answered within its deadline; raise `timeouts.total` or ask for less."
    return GatewayError(ErrorKind.DEADLINE, message)
