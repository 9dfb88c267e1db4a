"""The signal board: what a node has learned, by target identity and by group (pure)."""

import math
from collections.abc import Iterable, Mapping

from msgspec import structs

from pointsman.domain.ask import Ask
from pointsman.domain.conversation import Session
from pointsman.domain.decision import Effects
from pointsman.domain.outcome import LimitedUnit, Outcome, OutcomeClass, Usage
from pointsman.domain.policy import Detail
from pointsman.domain.ports import Rng
from pointsman.domain.price import Price
from pointsman.domain.request import RequestFacts
from pointsman.domain.target import ModelGroup, Target
from pointsman.domain.view import GroupView, Learned, LengthView, Measured, PauseCause, Signal, TargetView
from pointsman.signals import peers
from pointsman.signals.ejection import Budget, with_overflow
from pointsman.signals.lengths import Lengths
from pointsman.signals.load import Load
from pointsman.signals.measure import measured
from pointsman.signals.money import Money
from pointsman.signals.pins import Pins
from pointsman.signals.price_factor import PriceFactor
from pointsman.signals.prompt_cache import PromptCache
from pointsman.signals.quality import BROKEN, is_flagged
from pointsman.signals.ratios import RATE_LIMITS
from pointsman.signals.retry_budget import RetryBudget
from pointsman.signals.target_state import Lease, TargetState
from pointsman.signals.tick import Tick
from pointsman.signals.tracks import Tracks
from pointsman.signals.two_tracks import NOTHING
from pointsman.signals.window import Window
from pointsman.signals.windows import windowed

_UNKNOWN = Tracks()  # of a target that was never used; never fed
_CALM = {flagged: TargetView(flagged=flagged) for flagged in (False, True)}
_NO_FAULTS = frozenset((OutcomeClass.OK, OutcomeClass.CALLER_GONE, OutcomeClass.CALLER_FAULT))
_LATENCIES = frozenset((Signal.TTFT, Signal.TTFB))
_UNSEEN_CACHE = PromptCache()  # of a target that has read nothing; never fed


class _GroupState:
    def __init__(self, group: ModelGroup) -> None:
        self.turn_credits: dict[str, float] = {}  # by target id; smooth weighted round robin
        self.budget = RetryBudget()
        self.pins = Pins()
        self.served = 0  # requests; counted for strategies that read signals
        self.ejections = Budget()
        self.keys = frozenset([member.target.state_key for member in group.members])
        calm = tuple([_CALM[member.target.flagged] for member in group.members])
        self.calm_view = GroupView(is_calm=True, targets=calm, turn_credits=_nothing(group))
        self.tick = Tick() if Signal.MONEY in group.policy.reads else None  # None: no strategy reads them
        self.calm_view_of = group


class SignalBoard:
    """Outcomes in, views out. State belongs to what a target is, never to its place in a list (A-23, P-6)."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._targets: dict[str, TargetState] = {}  # by state_key; bounded by `keep`
        self._groups: dict[str, _GroupState] = {}
        self._lengths = Lengths()
        self._caches: dict[str, PromptCache] = {}  # by state_key; bounded by `keep`
        self._charging: set[str] = set()  # keys of states with a price factor
        self._unsettled: set[str] = set()  # keys of states that are not settled: only their groups are looked at

    def view(self, group: ModelGroup, now: float) -> GroupView:
        """All numbers of a group at one instant. Changes nothing."""
        state = self._groups.get(group.name)
        if state is None or state.calm_view_of is not group or not self._unsettled.isdisjoint(state.keys):
            view = self._unsettled_view(group, {} if state is None else state.turn_credits, now)
        elif state.turn_credits:
            view = GroupView(
                is_calm=True, targets=state.calm_view.targets, turn_credits=_owed(state.turn_credits, group)
            )
        else:
            view = state.calm_view
        return self._measured(group, view, now) if group.policy.reads else view

    def _unsettled_view(self, group: ModelGroup, turn_credits: Mapping[str, float], now: float) -> GroupView:
        """Every target is looked at."""
        views = tuple([self.target_view(member.target, now) for member in group.members])
        ejection = group.policy.cooldown.ejection
        if ejection is not None:
            views = with_overflow(views, list(self._states(group).values()), ejection)
        return GroupView(all(seen.is_calm for seen in views), views, _owed(turn_credits, group))

    def _measured(self, group: ModelGroup, view: GroupView, now: float) -> GroupView:
        state = self._groups.get(group.name)
        served = 0 if state is None else state.served
        if Signal.MONEY in group.policy.reads:
            tick = (None if state is None or state.calm_view_of is not group else state.tick) or Tick()
            found, market = tick.numbers(lambda: self._numbers(group, now), now)
            return GroupView(view.is_calm, view.targets, view.turn_credits, found, served, market, tick.probes.view)
        return GroupView(view.is_calm, view.targets, view.turn_credits, self._numbers(group, now), served, at=now)

    def _numbers(self, group: ModelGroup, now: float) -> tuple[Measured, ...]:
        states = list(self._states(group).values())
        found = measured(states, group.policy.reads, now)
        if Signal.WINDOW in group.policy.reads:
            found = windowed(found, states, group.policy.dynamic_score.window_s, now)
        factors = self._price_factors(group, now)
        if not factors:
            return found
        return tuple([structs.replace(seen, price_factor=by) for seen, by in zip(found, factors, strict=True)])

    def _price_factors(self, group: ModelGroup, now: float) -> tuple[float, ...]:
        """Of all members; empty: none of them charges anything but its list price, as far as is known."""
        keys = self._charging
        if not keys or keys.isdisjoint([member.target.state_key for member in group.members]):
            return ()
        return tuple([self._price_factor(member.target, now) for member in group.members])

    def _price_factor(self, target: Target, now: float) -> float:
        state = self._targets.get(target.state_key)
        factor = None if state is None else state.price_factor
        return 1.0 if factor is None or not factor.is_of(target.price) else factor.at(now)

    def retries_left(self, group: ModelGroup, now: float) -> float:
        """Extra attempts the group's budget still allows; less than 1: none."""
        return self._group(group).budget.left(now, group.policy.retry)

    def request_began(self, group: ModelGroup, now: float) -> None:
        state = self._group(group)
        state.budget.request_began(now, group.policy.retry)
        if state.tick is not None and state.calm_view_of is group and state.tick.is_old(now):
            states = self._states(group)
            asked_at = {key: -math.inf if seen is None else seen.asked_at for key, seen in states.items()}
            state.tick.renew(self._numbers(group, now), asked_at, group.policy.market.probe_interval_s, now)

    def apply(self, group: ModelGroup, effects: Effects) -> None:
        """Make a decision's effects on its group true; called before anything is awaited."""
        state = self._group(group)
        if effects.spent is not None and state.tick is not None:
            state.tick.probes.book(effects.spent)
        if effects.turn_credits is None:
            return
        if state.calm_view_of is group:  # else a request of an earlier configuration: its turns are not those of today
            ids = [member.target.id for member in group.members]
            state.turn_credits = dict(zip(ids, effects.turn_credits, strict=True))

    def served(self, group: ModelGroup) -> None:
        """A request has been answered; asked for strategies that read signals only."""
        state = self._group(group)
        state.served += 1
        if state.calm_view_of is not group:  # the request had a strategy of its own: from now on that is measured, too
            self._measure(group)

    def spend_retry(self, group: ModelGroup, now: float) -> None:
        """An extra attempt begins."""
        self._group(group).budget.spend(now, group.policy.retry)

    def started(
        self, target: Target, caller: str, now: float, *, is_probe: bool, facts: RequestFacts | None = None
    ) -> Lease:
        """An attempt begins; its lease counts as in flight until `record`. Without `facts` no time is learned."""
        state = self._targets.get(target.state_key)
        if state is None:
            state = self._new_state(target)
        return state.begin(caller, now, is_probe=is_probe, facts=facts)

    def record(self, lease: Lease, outcome: Outcome, now: float, group: ModelGroup) -> None:
        """An attempt ended: every one is recorded exactly once, also failed and cancelled ones (A-02)."""
        state = lease.state
        if state.end(lease, outcome, now):
            self._judge(state, lease, outcome, now, group)
            (self._unsettled.discard if state.is_settled else self._unsettled.add)(state.key)

    def _judge(self, state: TargetState, lease: Lease, outcome: Outcome, now: float, group: ModelGroup) -> None:
        policy, is_outlier, is_needed = group.policy.cooldown, False, False
        if policy.ejection is not None and outcome.outcome_class not in _NO_FAULTS:
            states = self._states(group)
            tracks = [_UNKNOWN if each is None or each.tracks is None else each.tracks for each in states.values()]
            is_outlier = state.key in states and peers.is_outlier(tracks, list(states).index(state.key), policy, now)
            is_needed = self._group(group).ejections.is_needed(state.key, states, now, policy.ejection)
        state.judge(lease, outcome, now, self._rng, policy, is_outlier=is_outlier, is_needed=is_needed)

    def judged(self, target: Target, group: ModelGroup, now: float, *, is_broken: bool) -> None:
        """An answer to a request with tools was read: whether anybody can use it."""
        states = self._states(group)
        state = states.get(target.state_key)
        if state is None or state.tracks is None or state.tracks.broken is None:
            return  # the configuration is another one by now
        state.tracks.broken.observe(float(is_broken), now)
        tracks = [_UNKNOWN if each is None or each.tracks is None else each.tracks for each in states.values()]
        sums = [NOTHING if each.broken is None else each.broken.at(now) for each in tracks]
        state.is_flagged = is_flagged(sums, list(states).index(state.key), was_flagged=state.is_flagged)
        (self._unsettled.discard if state.is_settled else self._unsettled.add)(state.key)

    def _states(self, group: ModelGroup) -> dict[str, TargetState | None]:
        """Of the members, in their order; None: never used."""
        return {member.target.state_key: self._targets.get(member.target.state_key) for member in group.members}

    def expected(self, group: ModelGroup, ask: Ask, now: float) -> LengthView:
        """How long a request is going to be, for strategies that compare prices. Changes nothing."""
        lengths = self._lengths.expected(group, ask.facts, now)
        factors = self._price_factors(group, now)
        if factors:
            lengths = structs.replace(lengths, price_factors=factors)
        if Detail.PREFIX not in group.policy.details:
            return lengths
        caches = [self._caches.get(member.target.state_key, _UNSEEN_CACHE) for member in group.members]
        pairs = zip(caches, lengths.input_tokens, strict=True)
        cached_tokens = tuple([cache.expected_tokens(ask.prefix, tokens, now) for cache, tokens in pairs])
        return LengthView(lengths.input_tokens, lengths.output_tokens, cached_tokens, factors)

    def learn(self, group: ModelGroup, target: Target, ask: Ask, usage: Usage, now: float) -> None:
        """How long it was, by the count of the provider that answered."""
        self._lengths.learn(group, target, ask.facts, usage, now)
        if usage.charged_usd is not None and target.price is not None:
            self._learn_charge(target, target.price, usage, now)
        if Detail.PREFIX in group.policy.details:
            self._caches.setdefault(target.state_key, PromptCache()).learn(ask.prefix, usage, now)
        tick = self._group(group).tick
        if tick is not None and usage.input_tokens is not None and usage.output_tokens is not None:
            tick.mix.observe(usage.input_tokens, usage.output_tokens, now)

    def _learn_charge(self, target: Target, price: Price, usage: Usage, now: float) -> None:
        state = self._targets.get(target.state_key) or self._new_state(target)
        if state.price_factor is None or not state.price_factor.is_of(price):
            state.price_factor = PriceFactor(price)
        state.price_factor.observe(usage, now)
        self._charging.add(state.key)

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

    def pauses_begun(self, target: Target) -> Mapping[PauseCause, int]:
        """How often the target was paused, by cause, since it is known."""
        state = self._targets.get(target.state_key)
        return {} if state is None else state.pauses_begun

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
        self._unsettled.intersection_update(self._targets)
        self._charging.intersection_update(self._targets)
        self._lengths.keep(named)
        self._caches = {key: cache for key, cache in self._caches.items() if key in keys}
        # all of them now: the first request of a group may ask for another order, and that is not how it stands
        self._groups = {name: _renewed(self._groups.get(name), group) for name, group in named.items()}
        self._close_windows({group.policy.dynamic_score.window_s for group in named.values()})
        for group in named.values():
            self._measure(group)
            self._limit(group)

    def target_view(self, target: Target, now: float) -> TargetView:
        state = self._targets.get(target.state_key)
        return _CALM[target.flagged] if state is None or state.is_settled else state.view(now, flagged=target.flagged)

    def caps(self, target: Target, now: float) -> dict[LimitedUnit, float]:
        """Learned limits of a target, per second."""
        state = self._targets.get(target.state_key)
        return {} if state is None else state.caps(now)

    def learned(self, target: Target, now: float) -> Learned:
        """What all groups of a target share."""
        state = self._targets.get(target.state_key)
        return Learned() if state is None else state.learned(target.price, now)

    def _measure(self, group: ModelGroup) -> None:
        """From now on keep what the group's strategy reads; attempts for any group count."""
        if group.policy.reads:
            for member in group.members:
                state = self._targets.get(member.target.state_key) or self._new_state(member.target)
                tracks = state.tracks = state.tracks or Tracks()
                if tracks.load is None and not _LATENCIES.isdisjoint(group.policy.reads):
                    tracks.load = Load(tracks.streams, tracks.unary)
                if Signal.RATE_LIMITS in group.policy.reads:
                    tracks.rate_limits = tracks.rate_limits or RATE_LIMITS.new()
                if Signal.MONEY in group.policy.reads:
                    tracks.money = tracks.money or Money()
                if Signal.QUALITY in group.policy.reads:
                    tracks.broken = tracks.broken or BROKEN.new()
                if Signal.WINDOW in group.policy.reads:
                    length_s = group.policy.dynamic_score.window_s
                    tracks.windows.setdefault(length_s, Window(length_s))

    def _close_windows(self, lengths_s: set[float]) -> None:
        """Of the others nobody reads any more."""
        for tracks in [state.tracks for state in self._targets.values() if state.tracks is not None]:
            tracks.windows = {length_s: tracks.windows[length_s] for length_s in tracks.windows.keys() & lengths_s}

    def _limit(self, group: ModelGroup) -> None:
        """From now on the limits of the configuration are those of the group's targets."""
        for target in [member.target for member in group.members]:
            state = self._targets.get(target.state_key)
            if state is None and target.limits is not None:
                self._new_state(target)
            elif state is not None and state.limits != target.limits:
                state.limit_to(target.limits)
                (self._unsettled.discard if state.is_settled else self._unsettled.add)(state.key)

    def _new_state(self, target: Target) -> TargetState:
        state = self._targets[target.state_key] = TargetState(target.state_key)
        if target.limits is not None:
            state.limit_to(target.limits)
            self._unsettled.add(state.key)
        return state

    def _group(self, group: ModelGroup) -> _GroupState:
        state = self._groups.get(group.name)
        if state is None:
            state = self._groups[group.name] = _GroupState(group)
            self._measure(group)
            self._limit(group)
        return state


def _renewed(state: _GroupState | None, group: ModelGroup) -> _GroupState:
    """What was learned under the name of a group goes on under its new definition (R-034)."""
    if state is None:
        return _GroupState(group)
    if state.calm_view_of is group:
        return state
    renewed = _GroupState(group)
    renewed.budget, renewed.served, renewed.ejections = state.budget, state.served, state.ejections
    renewed.pins = state.pins
    if renewed.tick is not None and state.tick is not None:
        renewed.tick = state.tick.renewed()
    if _weights(group) == _weights(state.calm_view_of):
        renewed.turn_credits = state.turn_credits
    return renewed


def _weights(group: ModelGroup) -> dict[str, float]:
    """What turns are counted in: credits owed under other weights could starve a target for a thousand turns."""
    return {member.target.state_key: member.weight for member in group.members}


def _owed(turn_credits: Mapping[str, float], group: ModelGroup) -> tuple[float, ...]:
    return tuple([turn_credits.get(member.target.id, 0.0) for member in group.members])


def _nothing(group: ModelGroup) -> tuple[float, ...]:
    return (0.0,) * len(group.members)
