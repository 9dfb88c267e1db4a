"""What providers of Responses keep, and what refers to it (pure).

A stored response, a conversation, and reasoning that only the account can read which wrote it (D-03).
"""

import re
from hashlib import blake2b

import msgspec
from msgspec import Raw, Struct
from msgspec.json import Decoder

_SEALED = b'"encrypted_content"'  # never within a text, where its quotes are escaped
_SEAL = re.compile(rb'\s*:\s*"([^"\\]+)"')
_DIGEST_BYTES = 16


class _Conversation(Struct, gc=False):
    id: str | None = None


_decode_id = Decoder(str | _Conversation).decode


def keys(response: Raw, conversation: Raw, raw: bytes) -> tuple[str, ...]:
    """Keys of kept state: the id of a response, that of a conversation, and the latest sealed reasoning in `raw`."""
    return tuple(filter(None, (id_of(response), id_of(conversation), _last_seal(raw))))


def id_of(value: Raw) -> str | None:
    """As a text, or as an object that has one."""
    try:
        named = _decode_id(value)
    except msgspec.ValidationError:
        return None
    return named if isinstance(named, str) else named.id


def _last_seal(raw: bytes) -> str | None:
    at = raw.rfind(_SEALED)
    sealed = None if at < 0 else _SEAL.match(raw, at + len(_SEALED))
    return None if sealed is None else blake2b(sealed[1], digest_size=_DIGEST_BYTES).hexdigest()
