"""`pointsman keys create`: a key for a caller, and the line that declares it."""

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
from pointsman.config.schema_errors import validate
from pointsman.config.values import HASH_PREFIX
from pointsman.domain.access import digest_of
from pointsman.domain.secret import Secret

KEY_PREFIX = "pm_"  # so that scanners for leaked secrets can know it
_KEY_BITS = 256
_BODY_DIGITS, _CHECK_DIGITS = 43, 6  # of base 62: enough for the bits, and for a CRC-32 that tells a key from its like
_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_NO_HASH = HASH_PREFIX + "0" * 64  # stands for the real one while the other fields are checked
_OPTIONS = {"name": "--name", "models": "--models", "scopes": "--scope", "expires": "--expires"}


class NewKey(Struct, frozen=True):
    """A key that was just made. Nobody else has it."""

    secret: Secret
    declaration: str  # one item of `auth.keys`, as YAML
    pepper_path: Path | None  # None: the configuration itself names the pepper


def create_key(path: Path, wanted: Mapping[str, object], *, environ: Mapping[str, str], now_utc_s: float) -> NewKey:
    """A key with these fields of `auth.keys`, checked as if the file at `path` had it already.

    Makes the pepper, too, where there is none. Raises ConfigError with what is wrong with `auth` and the options; the
    rest of the file does not matter here.
    """
    document = read_document(path, environ)
    has_keys = bool(document.value(("auth", "keys")))
    _declare(document, wanted)
    config = validate(document)
    rules.check(document, config)
    if config.auth.keys and (config.auth.keys[-1].expires or math.inf) <= now_utc_s:
        path_of_expiry = ("auth", "keys", len(config.auth.keys) - 1, "expires")
        document.add(path_of_expiry, "is over already", "Write a later instant.")
    place = pepper_path(environ)
    pepper = find_pepper(document, config.auth, place, is_needed=has_keys)
    if faults := [problem for problem in document.problems if problem.path.partition(".")[0] in ("", "auth")]:
        raise ConfigError(faults)
    secret = new_secret()
    digest = digest_of(secret.reveal().encode(), kept_pepper(place) if pepper is None else pepper)
    entry = config.auth.keys[-1].model_dump() | {"hash": HASH_PREFIX + digest, "expires": wanted.get("expires")}
    fields = ", ".join(f"{key}: {json.dumps(value)}" for key, value in entry.items())
    return NewKey(secret, f"- {{{fields}}}", place if config.auth.pepper is None else None)


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


def new_secret() -> Secret:
    """256 random bits in letters and digits, with prefix and checksum."""
    body = _base62(secrets.randbits(_KEY_BITS), _BODY_DIGITS)
    return Secret(KEY_PREFIX + body + _base62(zlib.crc32(body.encode()), _CHECK_DIGITS))


def _base62(number: int, length: int) -> str:
    digits = ""
    while len(digits) < length:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits
