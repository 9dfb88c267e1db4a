"""Which conversation a request belongs to, and how its prompt begins: digests only, never a word of it."""

from pointsman.domain.value import Leaf

AUTO = "auto"  # the source of a session that nobody named


class Session(Leaf):
    """One conversation of one caller with one group."""

    key: str  # digest of caller, group and the conversation's id, in hexadecimal digits
    source: str  # the header or field that named it, or AUTO: the digest of how it begins
    has_begun: bool  # an answer is part of the request already

    @property
    def is_explicit(self) -> bool:
        """Its caller named it."""
        return self.source != AUTO

    @property
    def is_worth_keeping(self) -> bool:
        """Most conversations that nobody names have one turn: until the second there is nothing to come back to."""
        return self.has_begun or self.is_explicit


class Prefix(Leaf):
    """How a prompt begins, up to each boundary between its messages; both tuples are in the order of the text."""

    ends: tuple[bytes, ...]  # digest of everything up to there; the first one: tools and system prompt
    lengths: tuple[int, ...]  # bytes up to there; the last one: the whole prompt
