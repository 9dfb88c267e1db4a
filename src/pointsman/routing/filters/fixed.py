"""Filters that hold for every request of a dialect."""

from pointsman.domain.decision import Exclusion
from pointsman.domain.request import Dialect
from pointsman.domain.target import Member
from pointsman.routing.filters.asked import Asked


def weight(_: Asked, member: Member) -> Exclusion | None:
    """Weight 0 excludes in every strategy."""
    return Exclusion.WEIGHT_ZERO if member.weight == 0 else None


def dialect(asked: Asked, member: Member) -> Exclusion | None:
    return None if asked.dialect in member.target.dialects else Exclusion.DIALECT_UNSUPPORTED


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
