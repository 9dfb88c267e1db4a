"""Which session a request belongs to: the places where clients say so, and else how its conversation begins (pure).

No header that may carry a credential is among them, and none that names a person: `user` and `safety_identifier` are
the same for all conversations of somebody.
"""

import re
from collections.abc import Callable, Mapping
from hashlib import sha256

import msgspec
from msgspec import Raw, Struct
from msgspec.json import Decoder

from pointsman.dialects.conversation import Message, Spoken, has_begun, opening
from pointsman.dialects.kept_state import id_of
from pointsman.dialects.provider_error import NULL, UNREADABLE
from pointsman.domain.ask import Ask
from pointsman.domain.conversation import AUTO, Session

Headers = Mapping[bytes, bytes]
_Source = Callable[[Headers, Spoken], str | None]

_KEY_DIGITS = 32  # 128 bits: nobody meets another one's key by chance
_ID = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,256}")  # a longer one, or one with control characters, is no id
_OLD_USER_ID = re.compile(r"_session_([0-9a-fA-F-]{36})\Z")  # of Claude Code, before it wrote JSON
_CODEX = b"codex"  # how the user agents of Codex begin

_decode_text = Decoder(str).decode


class _Metadata(Struct, gc=False):
    session_id: Raw = NULL
    user_id: Raw = NULL


class _UserId(Struct, gc=False):
    session_id: Raw = NULL


_decode_metadata = Decoder(_Metadata).decode
_decode_user_id = Decoder(_UserId).decode


def session_of(headers: Headers, spoken: Spoken, messages: list[Message], ask: Ask, group: str) -> Session | None:
    """The first source that names one; None: not even the beginning of a conversation is there."""
    found = None
    for source, read in SOURCES.items():
        named = read(headers, spoken)
        if named is not None and _ID.fullmatch(named):
            found = source, named
            break
    source, named = found or (AUTO, "")
    begins = ""
    if source in _KNOWN_BY_BEGINNING:
        digest = opening(spoken, messages)
        if digest is None:
            return None
        begins = f"{ask.facts.dialect}\0{digest}"
    scoped = f"{ask.caller.name}\0{group}\0{named}\0{begins}".encode()
    return Session(sha256(scoped).hexdigest()[:_KEY_DIGITS], source, has_begun(messages))


def _header(name: str) -> _Source:
    wire_name = name.encode()
    return lambda headers, _: _decoded(headers.get(wire_name))


def _claude_code(headers: Headers, _: Spoken) -> str | None:
    """A subagent has a conversation of its own."""
    session = _decoded(headers.get(b"x-claude-code-session-id"))
    agent = _decoded(headers.get(b"x-claude-code-agent-id"))
    return session if session is None or agent is None else f"{session} {agent}"


def _from_codex(name: str) -> _Source:
    """Names that are too general to be believed of anybody."""
    read = _header(name)
    return lambda headers, spoken: (
        read(headers, spoken) if headers.get(b"user-agent", b"").lower().startswith(_CODEX) else None
    )


def _metadata_session(_: Headers, spoken: Spoken) -> str | None:
    metadata = _metadata(spoken)
    return None if metadata is None else _text(metadata.session_id)


def _metadata_user(_: Headers, spoken: Spoken) -> str | None:
    metadata = _metadata(spoken)
    said = None if metadata is None else _text(metadata.user_id)
    if said is None:
        return None
    try:
        return _text(_decode_user_id(said.encode()).session_id)
    except UNREADABLE:
        old = _OLD_USER_ID.search(said)
        return None if old is None else old.group(1)


_CACHE_KEY = "prompt_cache_key"  # many applications send a constant: it counts with how the conversation begins
_KNOWN_BY_BEGINNING = frozenset((_CACHE_KEY, AUTO))

SOURCES: Mapping[str, _Source] = {
    "x-pointsman-session": _header("x-pointsman-session"),
    "x-claude-code-session-id": _claude_code,
    "x-session-affinity": _header("x-session-affinity"),
    "x-session-id": _header("x-session-id"),
    "session_id": lambda _, spoken: _text(spoken.session_id),
    "x-litellm-session-id": _header("x-litellm-session-id"),
    "litellm_session_id": lambda _, spoken: _text(spoken.litellm_session_id),
    "helicone-session-id": _header("helicone-session-id"),
    "agent-session-id": _header("agent-session-id"),
    "x-opencode-session": _header("x-opencode-session"),
    "session-id": _from_codex("session-id"),
    "thread-id": _from_codex("thread-id"),
    "conversation": lambda _, spoken: id_of(spoken.conversation),
    _CACHE_KEY: lambda _, spoken: _text(spoken.prompt_cache_key),
    "metadata.session_id": _metadata_session,
    "metadata.user_id": _metadata_user,
    "x-openwebui-chat-id": _header("x-openwebui-chat-id"),
}


def _decoded(value: bytes | None) -> str | None:
    return None if value is None else value.decode("latin-1")


def _text(raw: Raw) -> str | None:
    try:
        return _decode_text(raw)
    except UNREADABLE:
        return None


def _metadata(spoken: Spoken) -> _Metadata | None:
    if spoken.metadata is NULL:
        return None
    try:
        return _decode_metadata(spoken.metadata)
    except msgspec.DecodeError:
        return None
