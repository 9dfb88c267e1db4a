"""The signal board: what a node has learned, by target identity and by group (pure)."""

from collections.abc import Iterable

from pointsman.domain.ask import Ask
from pointsman.domain.conversation import Session
from pointsman.domain.decision import Effects
from pointsman.domain.outcome import Outcome, Usage
from pointsman.domain.policy import Cooldown, Detail
from pointsman.domain.ports import Rng
from pointsman.domain.request import RequestFacts
from pointsman.domain.target import ModelGroup, Target
from pointsman.domain.view import GroupView, LengthView, TargetView
from pointsman.signals.lengths import Lengths
from pointsman.signals.measure import measured
from pointsman.signals.pins import Pins
from pointsman.signals.prompt_cache import PromptCache
from pointsman.signals.retry_budget import RetryBudget
from pointsman.signals.target_state import Lease, TargetState
from pointsman.signals.tracks import Tracks

_CLOSED = TargetView()
_UNSEEN_CACHE = PromptCache()  # of a target that has read nothing; never fed


class _GroupState:
    def __init__(self, group: ModelGroup) -> None:
        self.turn_credits: dict[str, float] = {}  # by target id; smooth weighted round robin
        self.budget = RetryBudget()
        self.pins = Pins()
        self.served = 0  # requests; counted for strategies that read signals
        self.calm_view = GroupView(is_calm=True, targets=(_CLOSED,) * len(group.members), turn_credits=_nothing(group))
        self.calm_view_of = group
        self.has_calm_view = not group.policy.reads  # else no two views are equal


class SignalBoard:
    """Outcomes in, views out. State belongs to what a target is, never to its place in a list (A-23, P-6)."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._targets: dict[str, TargetState] = {}  # by state_key; bounded by `keep`
        self._groups: dict[str, _GroupState] = {}
        self._lengths = Lengths()
        self._caches: dict[str, PromptCache] = {}  # by state_key; bounded by `keep`
        self._unsettled: set[TargetState] = set()  # not closed: while it is empty no target has to be looked at

    def view(self, group: ModelGroup, now: float) -> GroupView:
        """All numbers of a group at one instant. Changes nothing."""
        state = self._groups.get(group.name)
        has_credits = state is not None and bool(state.turn_credits)
        if state is not None and not has_credits and not self._unsettled and state.calm_view_of is group:
            return state.calm_view if state.has_calm_view else self._measured(group, state.calm_view, now)
        views = tuple([self.target_view(member.target, now) for member in group.members])
        owed = state.turn_credits if state is not None else {}
        turn_credits = tuple([owed.get(member.target.id, 0.0) for member in group.members])
        view = GroupView(all(seen is _CLOSED for seen in views), views, turn_credits)
        return self._measured(group, view, now) if group.policy.reads else view

    def _measured(self, group: ModelGroup, view: GroupView, now: float) -> GroupView:
        states = [self._targets.get(member.target.state_key) for member in group.members]
        found, state = measured(states, group.policy.reads, now), self._groups.get(group.name)
        served = 0 if state is None else state.served
        return GroupView(view.is_calm, view.targets, view.turn_credits, found, served)

    def retries_left(self, group: ModelGroup, now: float) -> float:
        """Extra attempts the group's budget still allows; less than 1: none."""
        return self._group(group).budget.left(now, group.policy.retry)

    def request_began(self, group: ModelGroup, now: float) -> None:
        self._group(group).budget.request_began(now, group.policy.retry)

    def apply(self, group: ModelGroup, effects: Effects) -> None:
        """Make a decision's effects on its group true; called before anything is awaited."""
        if effects.turn_credits is None:
            return
        state = self._group(group)
        if state.calm_view_of is group:  # else a request of an earlier configuration: its turns are not those of today
            ids = [member.target.id for member in group.members]
            state.turn_credits = dict(zip(ids, effects.turn_credits, strict=True))

    def served(self, group: ModelGroup) -> None:
        """A request has been answered; asked for strategies that read signals only."""
        self._group(group).served += 1

    def spend_retry(self, group: ModelGroup, now: float) -> None:
        """An extra attempt begins."""
        self._group(group).budget.spend(now, group.policy.retry)

    def started(
        self, target: Target, caller: str, now: float, *, is_probe: bool, facts: RequestFacts | None = None
    ) -> Lease:
        """An attempt begins; its lease counts as in flight until `record`. Without `facts` no time is learned."""
        state = self._targets.get(target.state_key)
        if state is None:
            state = self._targets[target.state_key] = TargetState()
        return state.begin(caller, now, is_probe=is_probe, facts=facts)

    def record(self, lease: Lease, outcome: Outcome, now: float, policy: Cooldown) -> None:
        """An attempt ended: every one is recorded exactly once, also failed and cancelled ones (A-02)."""
        state = lease.state
        if state.end(lease, outcome, now, self._rng, policy):
            (self._unsettled.discard if state.is_closed else self._unsettled.add)(state)

    def expected(self, group: ModelGroup, ask: Ask, now: float) -> LengthView:
        """How long a request is going to be, for strategies that compare prices. Changes nothing."""
        lengths = self._lengths.expected(group, ask.facts, now)
        if Detail.PREFIX not in group.policy.details:
            return lengths
        caches = [self._caches.get(member.target.state_key, _UNSEEN_CACHE) for member in group.members]
        pairs = zip(caches, lengths.input_tokens, strict=True)
        cached_tokens = tuple([cache.expected_tokens(ask.prefix, tokens, now) for cache, tokens in pairs])
        return LengthView(lengths.input_tokens, lengths.output_tokens, cached_tokens)

    def learn(self, group: ModelGroup, target: Target, ask: Ask, usage: Usage, now: float) -> None:
        """How long it was, by the count of the provider that answered."""
        self._lengths.learn(group, target, ask.facts, usage, now)
        if Detail.PREFIX in group.policy.details:
            self._caches.setdefault(target.state_key, PromptCache()).learn(ask.prefix, usage, now)

    def home(self, group: ModelGroup, caller: str, session: Session, now: float) -> int | None:
        """The member of the group that the session belongs to; None: it belongs nowhere. Changes nothing."""
        state = self._groups.get(group.name)
        found = None if state is None else state.pins.find(caller, session, now)
        if found is None:
            return None
        return next((index for index, member in enumerate(group.members) if member.target.state_key == found), None)

    def settle(self, group: ModelGroup, caller: str, session: Session, target: Target, now: float) -> None:
        """The session belongs to that target from now on."""
        expires_at, room = now + group.policy.session_ttl_s, group.policy.affinity.max_entries
        self._group(group).pins.put(caller, session, target.state_key, expires_at=expires_at, room=room)

    def in_flight(self, target: Target) -> int:
        state = self._targets.get(target.state_key)
        return 0 if state is None else state.in_flight

    def sample_age_s(self, target: Target, now: float) -> float | None:
        """Seconds since a latency of the target was learned; None: none ever was."""
        state = self._targets.get(target.state_key)
        tracks = None if state is None else state.tracks
        return None if tracks is None or not tracks.samples else now - tracks.sampled_at

    def keep(self, groups: Iterable[ModelGroup]) -> None:
        """From now on these are the groups: go on with what was learned, forget what nobody names or uses any more."""
        named = {group.name: group for group in groups}
        keys = {member.target.state_key for group in named.values() for member in group.members}
        self._targets = {key: state for key, state in self._targets.items() if key in keys or state.in_flight}
        self._unsettled.intersection_update(self._targets.values())
        self._lengths.keep(named)
        self._caches = {key: cache for key, cache in self._caches.items() if key in keys}
        self._groups = {name: _renewed(state, named[name]) for name, state in self._groups.items() if name in named}
        for group in named.values():
            self._measure(group)

    def target_view(self, target: Target, now: float) -> TargetView:
        state = self._targets.get(target.state_key)
        return _CLOSED if state is None or state.is_closed else state.view(now)

    def _measure(self, group: ModelGroup) -> None:
        """From now on keep what the group's strategy reads; attempts for any group count."""
        if group.policy.reads:
            for member in group.members:
                state = self._targets.setdefault(member.target.state_key, TargetState())
                state.tracks = state.tracks or Tracks()

    def _group(self, group: ModelGroup) -> _GroupState:
        state = self._groups.get(group.name)
        if state is None:
            state = self._groups[group.name] = _GroupState(group)
            self._measure(group)
        return state


def _renewed(state: _GroupState, group: ModelGroup) -> _GroupState:
    """What was learned under the name of a group goes on under its new definition (R-034)."""
    if state.calm_view_of is group:
        return state
    renewed = _GroupState(group)
    renewed.budget, renewed.served, renewed.pins = state.budget, state.served, state.pins
    if _weights(group) == _weights(state.calm_view_of):
        renewed.turn_credits = state.turn_credits
    return renewed


def _weights(group: ModelGroup) -> dict[str, float]:
    """What turns are counted in: credits owed under other weights could starve a target for a thousand turns."""
    return {member.target.state_key: member.weight for member in group.members}


def _nothing(group: ModelGroup) -> tuple[float, ...]:
    return (0.0,) * len(group.members)
