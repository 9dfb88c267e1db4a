"""Thoughts without a signature, which a provider that signs its own refuses (pure).

Answers that came over a bridge have them: who thought them signs nothing. A session that moves on brings them along.
"""

import re
from collections.abc import Callable

from msgspec import Raw, Struct
from msgspec.json import Decoder

from pointsman.dialects.provider_error import UNREADABLE
from pointsman.dialects.top_level import read_top_level, splice
from pointsman.domain.errors import GatewayError

_UNSIGNED = re.compile(rb'"signature":\s*""')  # as bridges write it; far cheaper than reading the conversation


class _Block(Struct, gc=False):
    type: str = ""
    signature: str = ""


_items = Decoder(list[Raw]).decode
_read_block = Decoder(_Block).decode


def without_unsigned_thoughts(body: bytes) -> bytes:
    """A request to Messages without them; every other byte is as it was."""
    if _UNSIGNED.search(body) is None:
        return body
    return _with_field(body, "messages", lambda messages: _with_items(messages, _message)) or body


def _message(message: bytes) -> bytes | None:
    """None: it said nothing else, and one that says nothing is refused (G-13)."""
    if _UNSIGNED.search(message) is None:
        return message
    return _with_field(message, "content", lambda content: _with_items(content, _block))


def _block(block: bytes) -> bytes | None:
    try:
        found = _read_block(block)
    except UNREADABLE:
        return block
    return None if found.type == "thinking" and not found.signature else block


def _with_field(whole: bytes, name: str, change: Callable[[bytes], bytes | None]) -> bytes | None:
    """An object with a field changed, if it has it; None where `change` leaves nothing of it."""
    try:
        top = read_top_level(whole)
    except GatewayError:
        return whole  # the provider's to judge
    if name not in top.values:
        return whole
    changed = change(bytes(top.values[name]))
    return None if changed is None else splice(whole, [(*top.span(name), changed)])


def _with_items(listed: bytes, change: Callable[[bytes], bytes | None]) -> bytes | None:
    """A list with its items changed, those that become None left out; None where nothing is left of it."""
    try:
        items = _items(listed)
    except UNREADABLE:
        return listed
    kept: list[bytes] = []
    end = 1
    for raw in items:
        item = bytes(raw)
        start = listed.index(item, end)  # between items are white space and a comma
        changed = change(item)
        if changed is not None:
            kept += (listed[end:start] if kept else b"", changed)
        end = start + len(item)
    return b"".join((b"[", *kept, listed[end:])) if kept or not items else None
