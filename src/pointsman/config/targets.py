"""What a target of a group refers to."""

from pointsman.config.schema import ProviderEntry, TargetEntry

_FAIR = 0.9  # of the expected score: a benchmark repeated gives about the same within a tenth


def place_of(entry: TargetEntry) -> tuple[str, str] | None:
    """Provider and model reference; None: neither spelling of a target is complete, or both are mixed."""
    match (entry.provider, entry.model_ref, entry.model):
        case (str(provider), str(reference), None):
            return provider, reference
        case (None, None, str(shorthand)):
            provider, _, reference = shorthand.partition("/")  # model names contain slashes, provider names do not
            return (provider, reference) if provider and reference else None
        case _:
            return None


def upstream_model(provider: ProviderEntry, reference: str) -> str:
    """The provider's own name of a model."""
    entry = provider.models.get(reference)
    return reference if entry is None or entry.model is None else entry.model


def same_as(provider: ProviderEntry, reference: str) -> str:
    """The identity of a model across providers: as declared, else the provider's own name of it."""
    entry = provider.models.get(reference)
    declared = None if entry is None else entry.same_as
    return upstream_model(provider, reference) if declared is None else declared


def falls_short(provider: ProviderEntry, reference: str) -> bool:
    """Whether a benchmark found the model far worse than it should be; False as well while that is not known."""
    entry = provider.models.get(reference)
    if entry is None or entry.eval.score is None or entry.eval.expected is None:
        return False
    return entry.eval.score < _FAIR * entry.eval.expected
