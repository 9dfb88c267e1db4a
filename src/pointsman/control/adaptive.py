"""`GET /api/v1/adaptive-routing-telemetry`: how groups that score their targets decide, and by which numbers."""

from collections.abc import Mapping

from msgspec import structs

from pointsman.control.sources import Sources
from pointsman.domain.target import Member, ModelGroup
from pointsman.domain.value import Value
from pointsman.domain.view import Measured
from pointsman.observability.times import rfc3339
from pointsman.routing.router import standing
from pointsman.routing.scorers import SCORE, Verdict
from pointsman.routing.strategies import SELECTORS

FRESH_WINDOW_S = 60  # what a node said longer ago counts for nothing
_MS_PER_S = 1_000.0


class TargetTelemetry(Value, kw_only=True):
    """One target beside the others; None: not known, or not compared."""

    target: int  # its place in the group
    provider: str
    upstream_model: str
    score: float | None
    latency_score: float | None
    cost_score: float | None
    load_score: float | None
    latency_ms: float | None
    cost_per_mtok: float | None  # USD, list price of a million tokens in and a million out
    in_flight: int
    samples: int
    last_sample_age_ms: int | None  # None: never sampled
    terms: Mapping[str, float | None]  # all that was made of the numbers, by name


class NodeTelemetry(Value, kw_only=True):
    """One gateway: it tells of itself only."""

    node_id: str
    engaged: bool
    observed: int  # requests answered by a scored decision
    decisions: Mapping[str, int]  # those, by mode
    fallback_reason: str | None
    policy: Mapping[str, float | bool | int | str | None]
    targets: list[TargetTelemetry]
    reported_at: str


class RouteTelemetry(Value):
    """One group."""

    model: str
    engaged: bool
    selector: str
    nodes: list[NodeTelemetry]


class Telemetry(Value):
    """The whole page."""

    generated_at: str
    fresh_window_secs: int
    routes: list[RouteTelemetry]


def telemetry(sources: Sources) -> Telemetry:
    """Of every group whose strategy is `adaptive`, or one that it selects from."""
    groups = dict.fromkeys(sources.snapshot().groups.values())
    routes = [_route(sources, group) for group in groups if group.policy.decides in SELECTORS]
    return Telemetry(rfc3339(sources.clock.utc()), FRESH_WINDOW_S, [route for route in routes if route is not None])


def _route(sources: Sources, group: ModelGroup) -> RouteTelemetry | None:
    view = sources.board.view(group, sources.clock.now())
    found = standing(group, view)
    if found is None:
        return None
    ids, verdict = found
    engaged, counts = verdict.fallback is None, sources.scored_decisions(group.name)
    places = {member.target.id: index for index, member in enumerate(group.members)}
    targets = [
        _target(sources, places[name], group.members[places[name]], view.measured[places[name]], _terms(verdict, at))
        for at, name in enumerate(ids)
    ]
    node = NodeTelemetry(
        node_id=sources.node_id,
        engaged=engaged,
        observed=sum(counts.values()),
        decisions=counts,
        fallback_reason=verdict.fallback,
        policy=structs.asdict(getattr(group.policy, group.policy.decides)),
        targets=targets,
        reported_at=rfc3339(sources.clock.utc()),
    )
    return RouteTelemetry(group.name, engaged, group.policy.decides, [node])


def _terms(verdict: Verdict, at: int) -> dict[str, float | None]:
    return {name: values[at] for name, values in verdict.terms.items()}


def _target(
    sources: Sources, place: int, member: Member, seen: Measured, terms: Mapping[str, float | None]
) -> TargetTelemetry:
    target, latency_s = member.target, seen.ttft_s or seen.ttfb_s
    age_s = sources.board.sample_age_s(target, sources.clock.now())
    return TargetTelemetry(
        target=place,
        provider=target.provider,
        upstream_model=target.upstream_model,
        score=terms.get(SCORE),
        latency_score=terms.get("latency_score"),
        cost_score=terms.get("cost_score"),
        load_score=terms.get("load_score"),
        latency_ms=None if latency_s is None else latency_s * _MS_PER_S,
        cost_per_mtok=None if target.price is None else target.price.rates.input + target.price.rates.output,
        in_flight=seen.in_flight,
        samples=seen.samples,
        last_sample_age_ms=None if age_s is None else round(age_s * _MS_PER_S),
        terms=terms,
    )
