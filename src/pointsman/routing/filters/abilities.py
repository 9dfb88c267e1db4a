"""Filters by what a request needs: D-021, D-022."""

from collections.abc import Mapping
from types import MappingProxyType

from pointsman.domain.capability import Capability
from pointsman.domain.decision import Exclusion
from pointsman.domain.target import Member
from pointsman.domain.view import LengthView
from pointsman.routing.filters.asked import Asked

SURE_RATIO = 0.9  # tokens are estimated within some 10 %: what may fit is tried, and the provider has the last word

_LACKS: Mapping[Capability, Exclusion] = MappingProxyType(
    {
        Capability.TOOLS: Exclusion.NO_TOOLS,
        Capability.FORCED_TOOLS: Exclusion.NO_FORCED_TOOLS,
        Capability.PARALLEL_TOOLS: Exclusion.NO_PARALLEL_TOOLS,
        Capability.STRUCTURED_OUTPUT: Exclusion.NO_STRUCTURED_OUTPUT,
        Capability.IMAGES: Exclusion.NO_IMAGES,
        Capability.AUDIO: Exclusion.NO_AUDIO,
        Capability.FILES: Exclusion.NO_FILES,
        Capability.REASONING: Exclusion.NO_REASONING,
        Capability.HONORS_MAX_TOKENS: Exclusion.IGNORES_MAX_TOKENS,
    }
)


def capabilities(asked: Asked, member: Member) -> Exclusion | None:
    known, needs = member.target.traits.capabilities, asked.demands.needs
    lacking = next((need for need in needs if known.get(need) is False), None)
    if lacking is not None:
        return _LACKS[lacking]
    is_proven = all(need in known for need in needs if need in asked.policy.requires)
    return None if is_proven else Exclusion.NOT_PROVEN


def max_output(asked: Asked, member: Member) -> Exclusion | None:
    """A provider refuses a cap above what its model can write."""
    most, wanted = member.target.traits.max_output_tokens, asked.demands.max_output_tokens
    return Exclusion.OUTPUT_TOO_SHORT if most is not None and wanted is not None and wanted > most else None


def window_is_known(asked: Asked, member: Member) -> Exclusion | None:
    is_missing = asked.policy.requires_window and member.target.traits.context_tokens is None
    return Exclusion.NOT_PROVEN if is_missing else None


def too_long_for(member: Member, index: int, lengths: LengthView, max_output_tokens: int | None) -> bool:
    """Whether the input alone, or with the output that the caller asks for, surely exceeds the window (B-09)."""
    window = member.target.traits.context_tokens
    if window is None:
        return False
    return lengths.input_tokens[index] * SURE_RATIO + (max_output_tokens or 0) > window
