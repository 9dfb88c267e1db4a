"""Kinds of providers: what is known of each before anything is configured."""

from msgspec import Struct

from pointsman.config.settings import HOSTED_IDLE_CONNECTION_S, SELF_HOSTED_IDLE_CONNECTION_S


class ProviderKind(Struct, frozen=True):
    """One row. `base_url` None: everyone has an own address, so the file must give it."""

    base_url: str | None
    key_variable: str | None  # where the vendor's own tools look; None: no key needed
    idle_connection_s: float
    catalogue: str | None  # its name in the price catalogue; None: its prices are the operator's own


_SELF_HOSTED = ProviderKind(None, None, SELF_HOSTED_IDLE_CONNECTION_S, None)

KINDS: dict[str, ProviderKind] = {
    "openai": ProviderKind("https://api.openai.com/v1", "OPENAI_API_KEY", HOSTED_IDLE_CONNECTION_S, "openai"),
    "openrouter": ProviderKind(
        "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", HOSTED_IDLE_CONNECTION_S, "openrouter"
    ),
    "vllm": _SELF_HOSTED,
    "llamacpp": _SELF_HOSTED,
    "ollama": _SELF_HOSTED,
}
