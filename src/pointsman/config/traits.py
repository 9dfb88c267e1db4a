"""What is known of each target, and what that means for the requests of its group."""

import math
from collections.abc import Sequence
from types import MappingProxyType

from pointsman.config import catalogue
from pointsman.config.kinds import KINDS
from pointsman.config.schema import ConfigFile, HardFiltersSection, ModelEntry
from pointsman.config.targets import upstream_model
from pointsman.domain.capability import Capability
from pointsman.domain.carried import CARRIED_AS
from pointsman.domain.policy import RoutingPolicy, Scan
from pointsman.domain.target import Target
from pointsman.domain.traits import Traits

_UNKNOWN = ModelEntry()
_PROVEN: dict[str, tuple[Capability, ...]] = {
    "require_input_modalities": (Capability.IMAGES, Capability.AUDIO, Capability.FILES),
    "require_tool_support_when_tools_present": (Capability.TOOLS,),
    "require_forced_tool_choice_support": (Capability.FORCED_TOOLS,),
    "require_structured_output_support": (Capability.STRUCTURED_OUTPUT,),
    "require_reasoning_support_when_requested": (Capability.REASONING,),
    "require_honors_max_tokens_when_caller_capped": (Capability.HONORS_MAX_TOKENS,),
}


def traits_of(config: ConfigFile, provider: str, reference: str) -> Traits:
    """As the file says; what it leaves out is not known, but for the window, which the catalogue may know."""
    entry = config.providers[provider]
    model = upstream_model(entry, reference)
    same = (known for name, known in entry.models.items() if upstream_model(entry, name) == model)
    written = entry.models.get(reference) or next(same, _UNKNOWN)
    capabilities = {**written.capabilities.model_dump(), Capability.HONORS_MAX_TOKENS: written.honors_max_tokens}
    return Traits(
        capabilities=MappingProxyType({Capability(name): has for name, has in capabilities.items() if has is not None}),
        context_tokens=written.context or _listed_window(config, entry.kind, model),
        max_output_tokens=written.max_output,
        parameters=None if written.parameters is None else frozenset(written.parameters),
        quantization=written.quantization,
        zdr=entry.data.zdr,
        trains=entry.data.training,
        quality_score=written.eval.score,
        pass_rate=written.eval.pass_rate,
    )


def _listed_window(config: ConfigFile, kind: str, model: str) -> int | None:
    listed_as = KINDS[kind].catalogue
    if listed_as is None or config.prices.catalogue == "off":
        return None
    return catalogue.context_tokens(listed_as, model)


def requires_of(section: HardFiltersSection) -> frozenset[Capability]:
    """What has to be proven where a request needs it."""
    return frozenset(needed for key, proven in _PROVEN.items() if getattr(section, key) for needed in proven)


def scan_of(policy: RoutingPolicy, targets: Sequence[Target]) -> Scan:
    """What has to be known of the requests of a group."""
    traits = [target.traits for target in targets]
    return Scan(
        window_tokens=min((known.context_tokens for known in traits if known.context_tokens), default=math.inf),
        sizes_text=policy.compares_prices,
        wants_details=bool(policy.details),
        bridged=frozenset(asked for asked in CARRIED_AS if any(asked not in target.dialects for target in targets)),
        finds_needs=bool(policy.requires) or policy.requires_window or any(known.may_exclude for known in traits),
    ).settled()
