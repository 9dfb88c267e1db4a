"""Keys of callers for tests: hashed under one known pepper, as a key ring or as the file declares them."""

from collections.abc import Mapping

from pointsman.domain.access import CallerKey, KeyRing, digest_of
from pointsman.domain.request import Caller
from pointsman.domain.secret import Secret

PEPPER = "pepper-of-the-tests-0123456789"


def ring(callers: Mapping[str, Caller], *, expires_utc_s: float | None = None) -> KeyRing:
    """Callers by their keys."""
    digests = {digest_of(key.encode(), Secret(PEPPER)): caller for key, caller in callers.items()}
    return KeyRing(
        Secret(PEPPER),
        {digest: CallerKey(Secret(digest), caller, expires_utc_s) for digest, caller in digests.items()},
    )


def section(*declarations: Mapping[str, object]) -> dict[str, object]:
    """The section `auth` with these keys."""
    return {"mode": "keys", "pepper": PEPPER, "keys": list(declarations)}


def declaration(key: str, **fields: object) -> dict[str, object]:
    """One item of `auth.keys`; its name is `ci` unless it is given."""
    return {"name": "ci", "hash": f"hmac-sha256:{digest_of(key.encode(), Secret(PEPPER))}", **fields}
