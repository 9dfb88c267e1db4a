"""Fallback: which other group a request may turn to, and which targets of its own group are worth a second thought."""

from collections.abc import Iterable, Sequence

from pointsman.domain.ask import Ask
from pointsman.domain.decision import Decision, Exclusion
from pointsman.domain.errors import GatewayError
from pointsman.domain.preferences import Preferences
from pointsman.domain.request import Dialect
from pointsman.domain.target import ModelGroup, Target
from pointsman.routing import resolve
from pointsman.routing.arrange import arranged
from pointsman.routing.refusals import Cause

# whose groups come before the others, by the rule that excluded somebody
_CAUSES = (
    (Exclusion.CONTEXT_TOO_SMALL, Cause.CONTEXT),
    (Exclusion.STATE_ELSEWHERE, Cause.CONTEXT),
    (Exclusion.STATE_ELSEWHERE, Cause.POLICY),
)


def names(ask: Ask, group: ModelGroup) -> tuple[str, ...]:
    """After failures of any kind: those of the request, else those of the group it asked for."""
    return _names(ask, group.policy.fallbacks.any_failure)


def names_for(cause: Cause, ask: Ask, group: ModelGroup) -> tuple[str, ...]:
    """After a refusal that concerns the models of the group only."""
    fallbacks = group.policy.fallbacks
    return _names(ask, fallbacks.context if cause is Cause.CONTEXT else fallbacks.policy)


def names_after(decision: Decision, ask: Ask, group: ModelGroup) -> tuple[str, ...]:
    """When nobody could be picked: a request that is too long for somebody goes where there is more room first.

    What a request builds on may be kept in any group that an earlier one has turned to.
    """
    rules = {excluded.rule for excluded in decision.excluded}
    causes = [cause for rule, cause in _CAUSES if rule in rules]
    return (*(name for cause in causes for name in names_for(cause, ask, group)), *names(ask, group))


def _names(ask: Ask, configured: tuple[str, ...]) -> tuple[str, ...]:
    if ask.demands is None:
        return configured
    wanted = ask.demands.preferences
    if wanted.models:
        return wanted.models
    return configured if wanted.allow_fallbacks else ()


def next_group(names: Iterable[str], ask: Ask, passed: Sequence[ModelGroup]) -> ModelGroup | None:
    """The first of these groups that is new, and that the caller may use: a fallback opens no door (A-18).

    `passed`: the groups so far, the one that was asked for first.
    """
    seen = {group.name for group in passed}
    for name in names:
        try:
            group = resolve.find(name, ask.caller, ask.snapshot)
        except GatewayError:
            continue
        if group.name not in seen and _may_stand_in(group, passed[0], ask):
            return group if ask.demands is None else arranged(group, ask.demands.preferences)
    return None


def _may_stand_in(group: ModelGroup, asked: ModelGroup, ask: Ask) -> bool:
    """Whoever keeps vectors of two models finds nothing any more, and no error tells."""
    return ask.facts.dialect is not Dialect.OPENAI_EMBEDDINGS or group.embedding_space == asked.embedding_space


def larger(group: ModelGroup, eligible: Iterable[int], than: Target) -> frozenset[str]:
    """The eligible targets whose context window is known to be larger: one of the same size would refuse, too."""
    window = than.traits.context_tokens
    if window is None:
        return frozenset()
    targets = [group.members[index].target for index in eligible]
    return frozenset(target.id for target in targets if (target.traits.context_tokens or 0) > window)


def is_single_choice(preferences: Preferences) -> bool:
    """Whether the first choice is the only one: the caller wants its answer, or its error."""
    return not preferences.allow_fallbacks and not preferences.order
