"""What is said in a request, in the order in which it is said, made into digests (pure).

The same conversation must look the same on every turn, however its client writes it: a text may come as a string or as
a list of one part, and the marks of what a provider should cache wander on from turn to turn.
"""

import re
from collections.abc import Callable, Mapping
from hashlib import sha256

from msgspec import Raw, Struct
from msgspec.json import Decoder

from pointsman.dialects.kept_state import id_of
from pointsman.dialects.provider_error import NULL, UNREADABLE
from pointsman.domain.conversation import Prefix
from pointsman.domain.octets import holds
from pointsman.domain.request import Dialect

MAX_DIGESTED_BYTES = 1 << 20  # a longer body would hold up all other requests while it is read once more
MAX_BOUNDARIES = 64  # a turn adds a few; further back nobody remembers an end
_DIGEST_BYTES = 8  # a look-up among 4,096 prompts errs by chance once in 10^13
_SEPARATOR = b"\0"  # no JSON has it

_USER, _ANSWER = b'"user"', b'"assistant"'
_MESSAGE, _UNTYPED = b'"message"', bytes(NULL)
_INSTRUCTIONS = frozenset((b'"system"', b'"developer"'))
_MARK = rb'"cache_control"\s*:\s*(?:null|\{[^{}]*\})'
_CACHE_MARK = re.compile(rb",\s*%b|%b\s*,?\s*" % (_MARK, _MARK))
_ONE_TEXT = re.compile(
    rb'\[\s*\{\s*"type"\s*:\s*"(?:input_)?text"\s*,\s*"text"\s*:\s*("[^"\\]*+(?:\\.[^"\\]*+)*+")\s*\}\s*\]', re.DOTALL
)

Message = dict[str, Raw]


class Spoken(Struct, gc=False):
    """The fields of a body that make up a prompt, and those that may name its conversation."""

    tools: Raw = NULL
    system: Raw = NULL
    messages: Raw = NULL
    session_id: Raw = NULL
    litellm_session_id: Raw = NULL
    prompt_cache_key: Raw = NULL
    metadata: Raw = NULL
    conversation: Raw = NULL
    previous_response_id: Raw = NULL


class _SpokenInResponses(Spoken, rename={"system": "instructions", "messages": "input"}):
    """The same under other names, which hold for fields that stand here only."""

    system: Raw = NULL
    messages: Raw = NULL


_READERS: Mapping[Dialect, Callable[[bytes], Spoken]] = {Dialect.OPENAI_RESPONSES: Decoder(_SpokenInResponses).decode}
_read_usual = Decoder(Spoken).decode
_decode_messages = Decoder(list[Message]).decode


def read_spoken(body: bytes, dialect: Dialect) -> Spoken:
    """What is said in a request."""
    return _READERS.get(dialect, _read_usual)(body)


def messages_of(spoken: Spoken) -> list[Message]:
    """As far as they can be read: what is wrong with them is for the provider to say.

    None of a conversation that the provider keeps: only its latest part is there, and not how it begins.
    """
    if id_of(spoken.previous_response_id) or id_of(spoken.conversation):
        return []
    if isinstance(spoken, _SpokenInResponses) and bytes(spoken.messages).startswith(b'"'):
        return [{"role": Raw(_USER), "content": spoken.messages}]
    try:
        return _decode_messages(spoken.messages)
    except UNREADABLE:
        return []


def has_begun(messages: list[Message]) -> bool:
    """Whether an answer is among them, or part of one: items of Responses without a role are made by models."""
    return any(_role(message) == _ANSWER or _type(message) not in (_MESSAGE, _UNTYPED) for message in messages)


def opening(spoken: Spoken, messages: list[Message]) -> str | None:
    """A digest of the instructions and the first message after them; None: there is no such message."""
    digest = sha256(_unmarked(bytes(spoken.system)))
    for message in messages:
        digest.update(_SEPARATOR + _said(message))
        if _role(message) not in _INSTRUCTIONS:
            return digest.hexdigest()
    return None


def prefix_of(spoken: Spoken, messages: list[Message], caller: str) -> Prefix | None:
    """Digests of how the prompt begins, other ones for every caller (I20); None: nothing is said."""
    if not messages:
        return None
    head = _SEPARATOR.join((caller.encode(), _unmarked(bytes(spoken.tools)), _unmarked(bytes(spoken.system))))
    digest, length = sha256(head), len(head)
    ends, lengths = [digest.digest()[:_DIGEST_BYTES]], [length]
    passed_over = len(messages) - MAX_BOUNDARIES + 1
    for number, message in enumerate(messages):
        said = _SEPARATOR + _said(message)
        digest.update(said)
        length += len(said)
        if number >= passed_over:
            ends.append(digest.digest()[:_DIGEST_BYTES])
            lengths.append(length)
    return Prefix(tuple(ends), tuple(lengths))


def _role(message: Message) -> bytes:
    return bytes(message.get("role", NULL))


def _type(message: Message) -> bytes:
    return bytes(message.get("type", NULL))


def _said(message: Message) -> bytes:
    """A message without the marks in it."""
    parts: list[bytes] = []
    for name in sorted(message):
        if name != "cache_control" and (name != "type" or _type(message) != _MESSAGE):
            value = _unmarked(bytes(message[name]))
            parts += (name.encode(), _plain(value) if name == "content" else value)
    return _SEPARATOR.join(parts)


def _unmarked(raw: bytes) -> bytes:
    return _CACHE_MARK.sub(b"", raw) if holds(raw, b'"cache_control"') else raw


def _plain(content: bytes) -> bytes:
    """A list of one text is that text."""
    found = _ONE_TEXT.fullmatch(content) if content.startswith(b"[") else None
    return content if found is None else found.group(1)
