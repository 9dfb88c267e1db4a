"""Scenarios: routing rules as stories in YAML that an operator can read.

A scenario is either one decision (`state`, `draw` -> `decision`) or a `story` of requests in virtual time.
"""

from pathlib import Path
from typing import Literal

import msgspec
import yaml
from msgspec import UNSET, Struct, UnsetType

from pointsman.config.schema import Strategy
from pointsman.domain.capability import Capability
from pointsman.domain.decision import Decision, DecisionMode, Exclusion
from pointsman.domain.outcome import OutcomeClass
from pointsman.domain.policy import Affinity, AffinityMode, OnAllUnavailable, Retry
from pointsman.domain.preferences import Demands, Preferences
from pointsman.domain.price import Price
from pointsman.domain.score_policy import DynamicScore, ScoreTerm
from pointsman.domain.target import ModelGroup
from pointsman.domain.traits import Traits
from pointsman.domain.view import Breaker, PauseCause, TargetView
from pointsman.testing import builders

BEGIN_S = 1_000.0


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """How often a request may be sent."""

    max_attempts: int | None = None
    budget_base: float = Retry().budget_base


class Charged(Struct, frozen=True, forbid_unknown_fields=True):
    """What a target charges, in USD per million tokens and USD per request."""

    input: float
    output: float
    request: float = 0.0

    def build(self) -> Price:
        return builders.price(self.input, self.output, request_usd=self.request)


class Known(Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of a target besides its price."""

    able: list[Capability] = []
    unable: list[Capability] = []
    context: int | None = None
    zdr: bool | None = None

    def build(self) -> Traits:
        return builders.traits(*self.able, unable=self.unable, context_tokens=self.context, zdr=self.zdr)


class Wants(Struct, frozen=True, forbid_unknown_fields=True):
    """What a request needs, and what it prefers."""

    needs: list[Capability] = []
    order: list[str] = []
    only: list[str] = []
    ignore: list[str] = []
    zdr: bool = False
    allow_fallbacks: bool = True

    def build(self) -> Demands:
        only = (tuple(self.only),) if self.only else ()
        preferences = Preferences(tuple(self.order), self.allow_fallbacks, only, tuple(self.ignore), zdr=self.zdr)
        return Demands(tuple(self.needs), None, preferences)


class Length(Struct, frozen=True, forbid_unknown_fields=True):
    """How many tokens are expected."""

    input: int = 1_000
    output: int = 200


class Scored(Struct, frozen=True, forbid_unknown_fields=True):
    """Expressions by name, and how much of the say they have; nobody is explored."""

    terms: dict[str, str] = {}
    from_observations: int = 0
    say: float = 1.0

    def build(self) -> DynamicScore:
        return DynamicScore(
            terms=tuple(ScoreTerm(name, expression) for name, expression in self.terms.items()),
            min_observations=self.from_observations,
            max_adjustment_ratio=self.say,
            exploration_ratio=0.0,
        )


class Group(Struct, frozen=True, forbid_unknown_fields=True):
    """Targets with their weights, in declared order, and how they are chosen from."""

    targets: dict[str, float]
    strategy: Strategy = "weighted"
    on_all_unavailable: OnAllUnavailable = OnAllUnavailable.AUTO
    affinity: AffinityMode = AffinityMode.OFF
    retry: Limits = Limits()
    prices: dict[str, Charged] = {}  # a target without one has none that is known
    known: dict[str, Known] = {}  # of a target without an entry nothing is
    proof_of: list[Capability] = []  # where a request needs it, a target must be known to have it
    score: Scored = Scored()  # of `dynamic_score`

    def build(self) -> ModelGroup:
        return builders.group(
            "chat",
            *self.targets.items(),
            strategy=self.strategy,
            prices={target_id: charged.build() for target_id, charged in self.prices.items()},
            affinity=Affinity(self.affinity),
            traits={target_id: known.build() for target_id, known in self.known.items()},
            requires=frozenset(self.proof_of),
            dynamic_score=self.score.build(),
            on_all_unavailable=self.on_all_unavailable,
            retry=Retry(max_attempts=self.retry.max_attempts, budget_base=self.retry.budget_base),
        )


class Paused(Struct, frozen=True, forbid_unknown_fields=True):
    """A target that is out of the running for some seconds more."""

    paused_for: PauseCause
    seconds: float


State = Literal["recovering", "probing"] | Paused


class Expected(Struct, frozen=True, forbid_unknown_fields=True):
    """What a decision must say; a part that is left out is not checked."""

    picked: str | None
    mode: DecisionMode | UnsetType = UNSET
    shares: dict[str, float] | UnsetType = UNSET
    excluded: dict[str, Exclusion] | UnsetType = UNSET


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a story: one of the first six, with its details."""

    request: str | UnsetType = UNSET  # a new request of this caller, with its `session` if it has one
    sends: str | UnsetType = UNSET  # the target of the next attempt
    waits_s: float | UnsetType = UNSET  # and then looks again
    ends: OutcomeClass | UnsetType = UNSET  # how the attempt ends
    finishes: str | UnsetType = UNSET  # the reason; `error` is the code that the caller sees
    later_s: float | UnsetType = UNSET  # nothing happens for so long
    session: str | None = None
    error: str | None = None
    mode: DecisionMode | UnsetType = UNSET
    status: int | None = None
    retry_after_s: float | None = None
    confirmed: bool = False
    committed: bool = False
    then: dict[str, Breaker] = {}  # target -> breaker after this line


class Scenario(Struct, frozen=True, forbid_unknown_fields=True):
    """One rule at work."""

    scenario: str
    group: Group
    req: list[str] = []  # ids of what it proves, as in the marks of tests
    state: dict[str, State] = {}
    tried: list[str] = []
    request: Wants = Wants()
    length: Length = Length()
    draw: float = 0.0
    decision: Expected | UnsetType = UNSET
    story: list[Step] | UnsetType = UNSET


def load(text: str) -> list[Scenario]:
    """The scenarios of a file. Raises msgspec.ValidationError with the place of what is wrong."""
    found = msgspec.convert(yaml.safe_load(text), list[Scenario])
    for item in found:
        if (item.decision is UNSET) == (item.story is UNSET):
            raise msgspec.ValidationError(f"{item.scenario!r} needs either a decision or a story")
        if unknown := {*item.state, *item.tried, *item.group.prices, *item.group.known} - set(item.group.targets):
            raise msgspec.ValidationError(f"{item.scenario!r} has no target {', '.join(sorted(unknown))}")
    return found


def load_all(folder: Path) -> list[tuple[str, Scenario]]:
    """Every scenario of a folder, with the name of its file."""
    files = sorted(folder.glob("*.yaml"))
    return [(file.stem, item) for file in files for item in load(file.read_text(encoding="utf-8"))]


def view_of(state: State | None) -> TargetView:
    """A target's state as routing sees it."""
    if state is None:
        return builders.view()
    if isinstance(state, Paused):
        until = BEGIN_S + state.seconds
        return builders.view(breaker=Breaker.OPEN, pause_cause=state.paused_for, paused_until=until)
    return builders.view(
        breaker=Breaker.HALF_OPEN, pause_cause=PauseCause.FAULTS, paused_until=BEGIN_S, is_probing=state == "probing"
    )


def summary(decision: Decision) -> Expected:
    """A decision in the words of a scenario."""
    pick = decision.pick
    return Expected(
        picked=pick.target.id if pick else None,
        mode=pick.mode if pick else UNSET,
        shares=dict(zip(decision.candidates, decision.shares, strict=True)),
        excluded={item.target_id: item.rule for item in decision.excluded},
    )
