"""The strategy `dynamic_score`: what the file says of it, checked, and as the domain's values."""

from pointsman.config.document import Document
from pointsman.config.problems import KeyPath
from pointsman.config.schema import (
    DynamicScoreSection,
    GroupEntry,
    HardFiltersSection,
    ScoreTermSection,
    ThresholdsSection,
    WhenSection,
)
from pointsman.domain.policy import Affinity, AffinityMode, PinRecord
from pointsman.domain.score_policy import Complexity, Condition, DynamicScore, ScoreSignal, ScoreTerm, Thresholds
from pointsman.routing.expressions.advice import advice
from pointsman.routing.expressions.compiled import compiled
from pointsman.routing.expressions.tree import ExpressionError
from pointsman.routing.scorers.dynamic_score import RESERVED, SIGNALS

NAME = "dynamic_score"
_MS_PER_S = 1_000


def check(document: Document, path: KeyPath, group: GroupEntry) -> None:
    """Also of a group with another strategy: it must be sound when it is switched to."""
    section, own = group.routing_policy.dynamic_score, (*path, "routing_policy", NAME)
    names: dict[str, int] = {}
    for index, term in enumerate(section.score_terms):
        place = (*own, "score_terms", index)
        if term.name in RESERVED:
            document.add((*place, "name"), "is the name of a score", "Choose another name.")
        elif (first := names.setdefault(term.name, index)) != index:
            document.add((*place, "name"), f"is already the name of score_terms[{first}]", "Rename one of them.")
        _check_when(document, (*place, "when"), term.when, section)
        _check_expression(document, (*place, "expression"), term, section)
        _check_tags(document, place, term, group)
    if group.strategy != NAME:
        return
    if not section.score_terms and document.is_whole((*own, "score_terms")):
        fix = 'Write for example score_terms: [{name: best, expression: "0.5 * cost_score + 0.5 * latency_score"}].'
        document.warn((*path, "strategy"), "there is no score term: the heaviest target gets all requests", fix)
    if section.affinity.model_fields_set and group.affinity.model_fields_set:
        fix = "Keep one of them."
        document.add((*own, "affinity"), "the group has an `affinity` of its own, too", fix)


def _check_when(document: Document, path: KeyPath, when: WhenSection, section: DynamicScoreSection) -> None:
    condition, signals = _condition(when), section.signals
    if condition.at_least is not None and condition.at_most is not None and condition.at_least > condition.at_most:
        message = f"no request is at least {when.complexity_gte} and at most {when.complexity_lte}"
        document.add(path, message, "Mend one of them, or leave it out.")
    is_by_complexity = condition.at_least is not None or condition.at_most is not None
    if is_by_complexity and not signals.complexity.enabled:
        document.warn(path, "never holds: the signal `complexity` is off", "Switch it on, or remove the condition.")
    if condition.feature is not None and condition.feature not in _policy_features(section):
        fix = "Switch on `prompt_features`, and list it under `features`, or remove the condition."
        document.warn((*path, "prompt_feature"), f"never holds: nobody looks for {condition.feature}", fix)


def _check_expression(
    document: Document, path: KeyPath, term: ScoreTermSection, section: DynamicScoreSection
) -> None:  # fmt: skip
    try:
        expression = compiled(term.expression)
    except ExpressionError as error:
        document.add(path, str(error), error.fix)
        return
    for message, fix in advice(term.expression):
        document.warn(path, message, fix)
    enabled = _signals(section)
    for name in expression.names:
        signal = SIGNALS[name]
        if signal is not None and signal not in enabled:
            fix = f"Switch on `signals.{signal}`, or leave the score out."
            document.warn(path, f"{name} is 0.5 for every target: the signal `{signal}` is off", fix)


def _check_tags(document: Document, path: KeyPath, term: ScoreTermSection, group: GroupEntry) -> None:
    tagged = [frozenset(target.tags) for target in group.targets]
    if term.require_tags and not any(tags.issuperset(term.require_tags) for tags in tagged):
        fix = "Tag a target with them, or remove the rule."
        document.warn((*path, "require_tags"), "no target has all of these tags", fix)
    known = frozenset[str]().union(*tagged)
    for index, tag in enumerate(term.prefer_tags):
        if tag not in known:
            document.warn(
                (*path, "prefer_tags", index), "no target has this tag", "Tag a target with it, or remove it."
            )


def policy_of(section: DynamicScoreSection) -> DynamicScore:
    """What a checked section means."""
    return DynamicScore(
        terms=tuple([_term(term) for term in section.score_terms]),
        min_observations=section.min_observations,
        window_s=section.observation_window_seconds,
        max_adjustment_ratio=section.max_score_adjustment_percent / 100,
        exploration_ratio=section.exploration_ratio,
        on_empty=section.on_empty,
        thresholds=_thresholds(section.thresholds),
        signals=_signals(section),
        max_scan_bytes=section.signals.prompt_features.max_scan_bytes,
        features=frozenset(section.signals.prompt_features.features),
    )


def _term(term: ScoreTermSection) -> ScoreTerm:
    return ScoreTerm(
        term.name,
        term.expression,
        _condition(term.when),
        frozenset(term.require_tags),
        frozenset(term.prefer_tags),
    )


def _condition(when: WhenSection) -> Condition:
    at_most, at_least = when.complexity_lte, when.complexity_gte
    return Condition(
        None if at_most is None else Complexity[at_most.upper()],
        None if at_least is None else Complexity[at_least.upper()],
        when.prompt_feature,
    )


def _thresholds(section: ThresholdsSection) -> Thresholds:
    p95_ms, ttfb_ms = section.max_p95_latency_ms, section.max_ttfb_ms
    return Thresholds(
        section.max_error_rate,
        section.max_timeout_rate,
        None if p95_ms is None else p95_ms / _MS_PER_S,
        None if ttfb_ms is None else ttfb_ms / _MS_PER_S,
        section.min_output_tokens_per_second,
        section.min_samples,
    )


def _signals(section: DynamicScoreSection) -> frozenset[ScoreSignal]:
    return frozenset(signal for signal in ScoreSignal if getattr(section.signals, signal).enabled)


def _policy_features(section: DynamicScoreSection) -> frozenset[str]:
    return frozenset[str](policy_of(section.model_copy(update={"score_terms": []})).looked_for)


def affinity_of(entry: GroupEntry) -> Affinity | None:
    """What the policy says of sessions; None: it says nothing, or has no say."""
    section = entry.routing_policy.dynamic_score.affinity
    if entry.strategy != NAME or not section.model_fields_set:
        return None
    mode = AffinityMode.PREFIX if section.enabled else AffinityMode.OFF
    return Affinity(mode, section.ttl_seconds, section.max_entries, PinRecord.SELECTED)


def hard_filters_of(entry: GroupEntry) -> tuple[HardFiltersSection, ...]:
    """All that hold for the group: its own, and those of the policy."""
    own = entry.hard_filters
    return (own, entry.routing_policy.dynamic_score.hard_filters) if entry.strategy == NAME else (own,)


def keeps_requests_whole(entry: GroupEntry) -> bool:
    """Whether a target counts only if everything that a request says arrives there, whatever the group would drop."""
    return entry.strategy == NAME and entry.routing_policy.dynamic_score.hard_filters.require_requested_api_skin
