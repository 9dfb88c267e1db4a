"""Which key stands for which caller: the part of a snapshot that opens the door."""

import hmac
from collections.abc import Mapping

from pointsman.domain.request import Caller
from pointsman.domain.secret import Secret
from pointsman.domain.value import Value


class CallerKey(Value):
    """One key that is known by its digest only: whom it stands for, and until when."""

    digest: Secret
    caller: Caller
    expires_utc_s: float | None = None  # seconds since 1970; None: never


_NO_KEY = CallerKey(Secret("0" * 64), Caller(name="", scopes=frozenset()))  # a digest no key has


class KeyRing(Value):
    """All keys of a snapshot. A stolen configuration is worth nothing without the pepper."""

    pepper: Secret
    keys: Mapping[str, CallerKey]  # by digest

    def find(self, presented: bytes) -> CallerKey | None:
        """The entry of a key; None: there is none. One hash and one look-up, the same work whatever the result."""
        digest = digest_of(presented, self.pepper)
        key = self.keys.get(digest, _NO_KEY)
        return key if hmac.compare_digest(key.digest.reveal(), digest) else None

    def __repr__(self) -> str:
        return f"KeyRing(keys={len(self.keys)})"


class AdminToken(Value):
    """The one token of the admin API, known by its digest only."""

    pepper: Secret
    digest: Secret

    def fits(self, presented: bytes) -> bool:
        """Whether this is the token; takes the same time whatever was presented."""
        return hmac.compare_digest(self.digest.reveal(), digest_of(presented, self.pepper))


def digest_of(key: bytes, pepper: Secret) -> str:
    """What is kept of a key: HMAC-SHA-256 under the pepper, in hexadecimal digits."""
    return hmac.digest(pepper.reveal().encode(), key, "sha256").hex()
