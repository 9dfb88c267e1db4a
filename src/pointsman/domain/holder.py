"""Who keeps what later requests build on."""

from pointsman.domain.value import Value


class Holder(Value):
    """A target that keeps a response, a conversation, or the key to reasoning that only it can read."""

    state_key: str
    provider: str
    group: str  # the model group that was asked for
