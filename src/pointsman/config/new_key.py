"""`pointsman keys create` and `keys admin`: a key for a caller, or the admin token, and the line that declares it."""

import json
import math
import secrets
import string
import zlib
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from pointsman.config import rules
from pointsman.config.document import Document
from pointsman.config.load import read_document
from pointsman.config.pepper import find_pepper, kept_pepper, pepper_path
from pointsman.config.problems import ConfigError
from pointsman.config.schema import AuthSection
from pointsman.config.schema_errors import validate
from pointsman.config.values import HASH_PREFIX
from pointsman.domain.access import digest_of
from pointsman.domain.secret import Secret

KEY_PREFIX = "pm_"  # so that scanners for leaked secrets can know it
ADMIN_PREFIX = "pm_admin_"
_KEY_BITS = 256
_BODY_DIGITS, _CHECK_DIGITS = 43, 6  # of base 62: enough for the bits, and for a CRC-32 that tells a key from its like
_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_NO_HASH = HASH_PREFIX + "0" * 64  # stands for the real one while the other fields are checked
_OPTIONS = {"name": "--name", "models": "--models", "scopes": "--scope", "expires": "--expires"}


class NewKey(Struct, frozen=True):
    """A key that was just made. Nobody else has it."""

    secret: Secret
    declaration: str  # one item of `auth.keys`, or `auth.admin_token`, as YAML
    pepper_path: Path | None  # None: the configuration itself names the pepper


def create_key(path: Path, wanted: Mapping[str, object], *, environ: Mapping[str, str], now_utc_s: float) -> NewKey:
    """A key with these fields of `auth.keys`, checked as if the file at `path` had it already.

    Makes the pepper, too, where there is none. Raises ConfigError with what is wrong with `auth` and the options; the
    rest of the file does not matter here.
    """
    document = read_document(path, environ)
    is_needed = _has_hashes(document)
    _declare(document, wanted)
    config = validate(document)
    rules.check(document, config)
    if config.auth.keys and (config.auth.keys[-1].expires or math.inf) <= now_utc_s:
        path_of_expiry = ("auth", "keys", len(config.auth.keys) - 1, "expires")
        document.add(path_of_expiry, "is over already", "Write a later instant.")
    secret = new_secret()
    hashed, place = _hashed(secret, document, config.auth, environ, is_needed=is_needed)
    entry = config.auth.keys[-1].model_dump(include={"hash", *_OPTIONS}) | {
        "hash": hashed,
        "expires": wanted.get("expires"),
    }
    fields = ", ".join(f"{key}: {json.dumps(value)}" for key, value in entry.items())
    return NewKey(secret, f"- {{{fields}}}", place)


def create_admin_token(path: Path, *, environ: Mapping[str, str]) -> NewKey:
    """An admin token in the place of the one there may be. As `create_key`."""
    document = read_document(path, environ)
    is_needed = _has_hashes(document)
    auth = document.data.setdefault("auth", {})
    if isinstance(auth, dict):
        auth["admin_token"] = _NO_HASH
    config = validate(document)
    rules.check(document, config)
    secret = new_secret(ADMIN_PREFIX)
    hashed, place = _hashed(secret, document, config.auth, environ, is_needed=is_needed)
    return NewKey(secret, f"admin_token: {json.dumps(hashed)}", place)


def _has_hashes(document: Document) -> bool:
    """Whether something has been hashed, so that the pepper must be the one it was hashed with."""
    return bool(document.value(("auth", "keys")) or document.value(("auth", "admin_token")))


def _hashed(
    secret: Secret, document: Document, auth: AuthSection, environ: Mapping[str, str], *, is_needed: bool
) -> tuple[str, Path | None]:
    """The hash for the configuration, and where the pepper is; None: it is in the configuration."""
    place = pepper_path(environ)
    pepper = find_pepper(document, auth, place, is_needed=is_needed)
    if faults := [problem for problem in document.problems if problem.path.partition(".")[0] in ("", "auth")]:
        raise ConfigError(faults)
    digest = digest_of(secret.reveal().encode(), kept_pepper(place) if pepper is None else pepper)
    return HASH_PREFIX + digest, place if auth.pepper is None else None


def _declare(document: Document, wanted: Mapping[str, object]) -> None:
    """Add the key to the document, with the options as the origins of its fields."""
    auth = document.data.setdefault("auth", {})
    keys = None
    if isinstance(auth, dict):
        auth["mode"] = "keys"
        keys = auth["keys"] = auth.get("keys") or []
    if isinstance(keys, list):
        place = ("auth", "keys", len(keys))
        document.origins |= {(*place, field): option for field, option in _OPTIONS.items()}
        keys.append({**wanted, "hash": _NO_HASH})


def new_secret(prefix: str = KEY_PREFIX) -> Secret:
    """256 random bits in letters and digits, with prefix and checksum."""
    body = _base62(secrets.randbits(_KEY_BITS), _BODY_DIGITS)
    return Secret(prefix + body + _base62(zlib.crc32(body.encode()), _CHECK_DIGITS))


def _base62(number: int, length: int) -> str:
    digits = ""
    while len(digits) < length:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits
