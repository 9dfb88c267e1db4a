"""Takes credentials of ours out of what a provider says about an error: some repeat what they were sent."""

from msgspec import structs

from pointsman.domain.outcome import ProviderError
from pointsman.domain.target import Provider

_HIDDEN = "***"
_MIN_CHARACTERS = 8  # a shorter value is no credential, and to cut each `1` or `true` out would garble sentences


def without_secrets(error: ProviderError, provider: Provider) -> ProviderError:
    """The error with `***` in the place of each key and header value of the provider's configuration."""
    sent = (provider.api_key, *(value for _, value in provider.headers))
    secrets = tuple(secret.reveal() for secret in sent if secret is not None)
    return structs.replace(
        error,
        message=_clean(error.message, secrets) or "",
        type=_clean(error.type, secrets),
        code=_clean(error.code, secrets),
        param=_clean(error.param, secrets),
    )


def _clean(text: str | None, secrets: tuple[str, ...]) -> str | None:
    for secret in secrets:
        if text is not None and len(secret) >= _MIN_CHARACTERS:
            text = text.replace(secret, _HIDDEN)
    return text
