"""Who keeps what later requests build on."""

from msgspec import Struct


class Holder(Struct, frozen=True):
    """A target that keeps a response, a conversation, or the key to reasoning that only it can read."""

    state_key: str
    provider: str
    group: str  # the model group that was asked for
