"""Filters that hold for every request of a dialect."""

from pointsman.domain.carried import carried_as
from pointsman.domain.decision import Exclusion
from pointsman.domain.request import Dialect
from pointsman.domain.target import Member
from pointsman.routing.filters.asked import Asked


def weight(_: Asked, member: Member) -> Exclusion | None:
    """Weight 0 excludes in every strategy."""
    return Exclusion.WEIGHT_ZERO if member.weight == 0 else None


def dialect(asked: Asked, member: Member) -> Exclusion | None:
    """Who does not speak it may speak one that the request can be carried into, whole or as far as the group allows."""
    spoken, uncarried = member.target.dialects, asked.demands.uncarried
    if asked.dialect in spoken:
        return None
    into = carried_as(asked.dialect, spoken)
    if into is None or uncarried is None:
        return Exclusion.DIALECT_UNSUPPORTED
    losses = [loss for loss in uncarried if loss.into == into]
    is_whole = not any(loss.content or (loss.parameters and not asked.policy.drops_parameters) for loss in losses)
    return None if is_whole else Exclusion.NOT_CARRIED


def embedding_space(asked: Asked, member: Member) -> Exclusion | None:
    """Vectors of unlike models are incompatible, and a caller that stores both finds nothing any more."""
    is_unlike = asked.dialect is Dialect.OPENAI_EMBEDDINGS and not member.shares_space
    return Exclusion.EMBEDDING_SPACE if is_unlike else None


def credential(_: Asked, member: Member) -> Exclusion | None:
    return None if member.target.has_credential else Exclusion.NO_CREDENTIAL


def contract(asked: Asked, member: Member) -> Exclusion | None:
    """What the group promises to its callers: here, not to know is not to have."""
    wanted, traits = asked.policy.contract, member.target.traits
    is_met = (
        all(traits.capabilities.get(capability) for capability in wanted.require)
        and wanted.require_tags <= member.tags
        and _reaches(traits.quality_score, wanted.min_quality_score)
        and _reaches(traits.pass_rate, wanted.min_pass_rate)
    )
    return None if is_met else Exclusion.CONTRACT


def _reaches(value: float | None, least: float | None) -> bool:
    return least is None or (value is not None and value >= least)
