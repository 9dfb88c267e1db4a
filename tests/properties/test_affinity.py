"""Sessions under any history: no pin outlives the health of its target, and none keeps a target from returning."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pointsman.domain.decision import DecisionMode
from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.policy import Affinity, AffinityMode
from pointsman.domain.view import Breaker
from pointsman.routing.exchange import Exchange, Finish, Send, Wait
from pointsman.signals.board import SignalBoard
from pointsman.signals.pauses import MAX_RETRY_AFTER_S, PROBE_PATIENCE_S
from pointsman.testing import builders
from tests.properties.thorough import thorough
from tests.unit.signals.pausing import Draws

TARGETS = ("a/m", "b/m", "c/m")
MAX_ENTRIES = 4
INTERVAL_S = 5.0  # between the requests of the traffic that recovery needs
DEFECTS = {
    "broken": builders.outcome("upstream_fault", status=500),
    "busy": builders.outcome("rate_limited", status=429),
    "held": builders.outcome("rate_limited", status=429, retry_after_s=MAX_RETRY_AFTER_S),
}


class Sessions(RuleBasedStateMachine):
    """Every request has a session, as those of agents do; targets break and heal as they like."""

    def __init__(self) -> None:
        super().__init__()
        affinity = Affinity(AffinityMode.STRICT, ttl_s=600, max_entries=MAX_ENTRIES)
        self.group = builders.group("chat", *TARGETS, strategy="weighted", affinity=affinity)
        self.board, self.rng, self.now = SignalBoard(Draws()), Draws(), 1_000.0
        self.defects: dict[str, str] = {}

    @rule(name=st.sampled_from(TARGETS), defect=st.sampled_from(sorted(DEFECTS)))
    def breaks(self, name: str, defect: str) -> None:
        self.defects[name] = defect

    @rule(name=st.sampled_from(TARGETS))
    def heals(self, name: str) -> None:
        self.defects.pop(name, None)

    @rule(duration_s=st.floats(0.1, 700.0))
    def waits(self, duration_s: float) -> None:
        self.now += duration_s

    @rule(caller=st.sampled_from(["alice", "bob"]), key=st.sampled_from(["s1", "s2", "s3"]), auto=st.booleans())
    def asks(self, caller: str, key: str, auto: bool) -> None:
        session = builders.session(key, auto=auto, has_begun=True)
        home = self.board.home(self.group, caller, session, self.now)
        views = self.board.view(self.group, self.now).targets

        exchange = self._served(caller, key, auto=auto)

        first = exchange.decisions[0]
        if home is not None and views[home].breaker is Breaker.CLOSED and first.pick is not None:
            is_probe = first.pick.mode is DecisionMode.PROBE
            assert first.pick.target is self.group.members[home].target or is_probe
        last = exchange.decisions[-1].pin
        if last is not None and last.binds and exchange.attempts[-1].outcome_class is OutcomeClass.OK:
            now_at = self.board.home(self.group, caller, session, self.now)
            assert now_at is None or self.group.members[now_at].target is exchange.picks[-1].target

    @rule()
    def recovers(self) -> None:
        """With nothing but pinned traffic every healthy target is back within its pause and the patience for probes."""
        self.defects.clear()
        self._served("alice", "s1")
        longest_s = MAX_RETRY_AFTER_S * (1 + self.group.policy.cooldown.jitter_ratio)
        patience_s = longest_s + len(TARGETS) * (PROBE_PATIENCE_S + INTERVAL_S)
        end = self.now + patience_s
        while self.now < end:
            self.now += INTERVAL_S
            self._served("alice", "s1")

        assert [seen.breaker for seen in self.board.view(self.group, self.now).targets] == [Breaker.CLOSED] * 3

    @invariant()
    def room_is_bounded(self) -> None:
        state = self.board._groups.get("chat")
        assert state is None or len(state.pins) <= MAX_ENTRIES

    @invariant()
    def nothing_is_in_flight(self) -> None:
        assert not any(self.board.in_flight(member.target) for member in self.group.members)

    def _served(self, caller: str, key: str, *, auto: bool = False) -> Exchange:
        ask = builders.ask(caller, session=builders.session(key, auto=auto, has_begun=True))
        exchange = Exchange(ask, self.group, self.board, self.rng, began_at=self.now, deadline=self.now + 60.0)
        command = exchange.start(self.now)
        while not isinstance(command, Finish):
            if isinstance(command, Wait):
                self.now = command.until
                command = exchange.resume(self.now)
                continue
            assert isinstance(command, Send)
            lease = self.board.started(command.target, caller, self.now, is_probe=command.is_probe)
            outcome = DEFECTS.get(self.defects.get(command.target.id, ""), builders.outcome(status=200))
            self.board.record(lease, outcome, self.now, self.group)
            command = exchange.finished(outcome, self.now)
        return exchange


TestSessions = pytest.mark.bug("D-01", "D-02")(pytest.mark.case("I26")(Sessions.TestCase))
TestSessions.settings = thorough(60, stateful_step_count=30)
