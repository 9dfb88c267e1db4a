"""Which dialects a request can be carried into, for targets that do not speak its own."""

from collections.abc import Mapping
from types import MappingProxyType

from pointsman.domain.request import Dialect

# the one that loses least comes first
CARRIED_AS: Mapping[Dialect, tuple[Dialect, ...]] = MappingProxyType({
    Dialect.OPENAI_CHAT: (Dialect.OPENAI_RESPONSES, Dialect.ANTHROPIC_MESSAGES),
    Dialect.ANTHROPIC_MESSAGES: (Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES),
    Dialect.OPENAI_RESPONSES: (Dialect.OPENAI_CHAT, Dialect.ANTHROPIC_MESSAGES),
})  # fmt: skip


def carried_as(asked: Dialect, spoken: frozenset[Dialect]) -> Dialect | None:
    """What a request becomes for a target that does not speak its dialect; None: nothing that the target speaks."""
    return next((dialect for dialect in CARRIED_AS.get(asked, ()) if dialect in spoken), None)
