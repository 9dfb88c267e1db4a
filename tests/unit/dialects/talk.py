"""Conversations as clients write them."""

import json
from collections.abc import Mapping
from typing import Any

from pointsman.dialects.conversation import Spoken, messages_of, read_spoken
from pointsman.dialects.session import session_of
from pointsman.domain.conversation import Session
from pointsman.domain.request import Dialect
from pointsman.testing import builders

FIRST = "Which signal stands at the junction?"
CACHED = {"type": "ephemeral"}


def user(content: object = FIRST) -> dict[str, object]:
    return {"role": "user", "content": content}


def answer(content: object = "The home signal.") -> dict[str, object]:
    return {"role": "assistant", "content": content}


def text(said: str = FIRST, **fields: object) -> list[dict[str, object]]:
    """A list of one text, as many clients write a plain one."""
    return [{"type": "text", "text": said, **fields}]


def spoken(*messages: Mapping[str, object], dialect: Dialect = Dialect.OPENAI_CHAT, **fields: Any) -> Spoken:
    return read_spoken(body(*messages, **fields), dialect)


def body(*messages: Mapping[str, object], **fields: Any) -> bytes:
    return json.dumps({"model": "chat", "messages": list(messages), **fields}).encode()


def session(
    *messages: Mapping[str, object],
    headers: Mapping[bytes, bytes] | None = None,
    caller: str = "alice",
    group: str = "chat",
    dialect: Dialect = Dialect.OPENAI_CHAT,
    **fields: Any,
) -> Session | None:
    """The session of a request with these messages, headers and other fields."""
    said = spoken(*messages, dialect=dialect, **fields)
    return session_of(headers or {}, said, messages_of(said), builders.ask(caller, dialect=dialect), group)


def key(*messages: Mapping[str, object], **arguments: Any) -> str | None:
    found = session(*messages, **arguments)
    return None if found is None else found.key
