"""Kinds of providers: what is known of each before anything is configured."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, structs

from pointsman.config.settings import HOSTED_IDLE_CONNECTION_S, SELF_HOSTED_IDLE_CONNECTION_S
from pointsman.domain.request import Dialect
from pointsman.domain.target import KeyStyle

_EVERY = frozenset(Dialect)
_MESSAGES = frozenset((Dialect.ANTHROPIC_MESSAGES,))
_OPENAIS = _EVERY - _MESSAGES
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
# the first version, which every model and client knows; callers who want another one say so
_FIRST_VERSION = MappingProxyType({"anthropic-version": "2023-06-01"})


class ProviderKind(Struct, frozen=True):
    """One row. `base_url` None: everyone has an own address, so the file must give it."""

    base_url: str | None
    key_variable: str | None  # where the vendor's own tools look; None: no key needed
    idle_connection_s: float
    catalogue: str | None  # its name in the price catalogue; None: its prices are the operator's own
    dialects: frozenset[Dialect]
    counts_tokens: bool = False  # of Messages requests
    checks_signatures: bool = False  # of thoughts
    key_style: KeyStyle = KeyStyle.BEARER
    headers: Mapping[str, str] = _NO_HEADERS  # sent unless the file or the caller has another value


_ENGINE = ProviderKind(None, None, SELF_HOSTED_IDLE_CONNECTION_S, None, _EVERY)
_COUNTING_ENGINE = structs.replace(_ENGINE, counts_tokens=True)

KINDS: dict[str, ProviderKind] = {
    "openai": ProviderKind(
        "https://api.openai.com/v1", "OPENAI_API_KEY", HOSTED_IDLE_CONNECTION_S, "openai", _OPENAIS
    ),
    "anthropic": ProviderKind(
        "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", HOSTED_IDLE_CONNECTION_S, "anthropic", _MESSAGES,
        counts_tokens=True, checks_signatures=True, key_style=KeyStyle.X_API_KEY, headers=_FIRST_VERSION,
    ),
    "openrouter": ProviderKind(
        "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", HOSTED_IDLE_CONNECTION_S, "openrouter", _EVERY
    ),
    "vllm": _COUNTING_ENGINE,
    "llamacpp": _COUNTING_ENGINE,
    "ollama": _ENGINE,
}  # fmt: skip
