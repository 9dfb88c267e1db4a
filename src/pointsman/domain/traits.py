"""What is known of a model at a provider besides its price: what it can do, how much it takes, what becomes of data."""

from collections.abc import Mapping
from types import MappingProxyType

from pointsman.domain.capability import Capability
from pointsman.domain.value import Value

NONE_KNOWN: Mapping[Capability, bool] = MappingProxyType({})


class Traits(Value):
    """None, and a capability that is not there: not known, which is neither yes nor no."""

    capabilities: Mapping[Capability, bool] = NONE_KNOWN
    context_tokens: int | None = None  # input and output together
    max_output_tokens: int | None = None
    parameters: frozenset[str] | None = None  # fields of a request that it understands
    quantization: str | None = None
    zdr: bool | None = None  # zero data retention: the provider keeps neither prompts nor answers
    trains: bool | None = None  # whether it may train on them
    quality_score: float | None = None  # of an evaluation, in [0, 1]
    pass_rate: float | None = None  # share of its cases that passed

    @property
    def may_exclude(self) -> bool:
        """Whether there is a request that the target is known to be unable to serve, but for its length."""
        return self.max_output_tokens is not None or not all(self.capabilities.values())
