"""Shapes that the OpenAI dialects share: choices, usage and errors (pure)."""

from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.json import Decoder

from pointsman.dialects.charge import charged_usd
from pointsman.dialects.fields import says_beside, says_something
from pointsman.dialects.provider_error import NULL, error_of, is_given
from pointsman.domain.outcome import ProviderError, Usage

NATURAL_END = "stop"

_NO_CONTENT = frozenset(("role",))
# `reasoning_content`: DeepSeek, vLLM, llama.cpp; the others: OpenRouter, newer vLLM
_NOT_VISIBLE = _NO_CONTENT | {"reasoning", "reasoning_content", "reasoning_details"}


class Choice(Struct, gc=False):
    """One choice of an answer, or of one event."""

    delta: Raw = NULL
    message: Raw = NULL
    text: Raw = NULL  # of legacy completions, in the place of both
    finish_reason: str | None = None
    error: Raw = NULL


Count = Annotated[int, Meta(ge=0, lt=2**53)]  # anything else is no count of tokens


class _TokenDetails(Struct, gc=False):
    cached_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    cache_write_tokens: Count | None = None  # where writing has a rate of its own: newer OpenAI models, OpenRouter


class TokenCounts(Struct, gc=False):
    """`usage` as it comes."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    prompt_tokens_details: _TokenDetails | None = None
    completion_tokens_details: _TokenDetails | None = None
    cost: Raw = NULL
    is_byok: Raw = NULL
    cost_details: Raw = NULL


class Payload(Struct, gc=False):
    """A whole answer, or one event of a stream, read as far as routing needs it."""

    choices: list[Choice] | None = None
    usage: TokenCounts | None = None
    error: Raw = NULL


class _UncountedPayload(Struct):
    """The same without its usage, for one that cannot be trusted."""

    choices: list[Choice] | None = None
    error: Raw = NULL


_decode_payload = Decoder(Payload).decode
_decode_uncounted = Decoder(_UncountedPayload).decode


def read_payload(data: bytes) -> Payload:
    """Raises one of UNREADABLE; ValidationError among them means sound JSON of another shape."""
    try:
        return _decode_payload(data)
    except msgspec.ValidationError:
        read = _decode_uncounted(data)
        return Payload(choices=read.choices, error=read.error)


def usage(counts: TokenCounts | None) -> Usage | None:
    """Tokens as reported; None when the provider did not say, or nothing that can be trusted."""
    if counts is None:
        return None
    prompt, completion = counts.prompt_tokens_details, counts.completion_tokens_details
    return Usage(
        counts.prompt_tokens,
        counts.completion_tokens,
        prompt.cached_tokens if prompt else None,
        completion.reasoning_tokens if completion else None,
        prompt.cache_write_tokens if prompt else None,
        charged_usd=charged_usd(counts.cost, counts.is_byok, counts.cost_details),
    )


def is_plain_delta(payload: Payload) -> bool:
    """The usual event of a stream: one choice goes on, and nothing else is said."""
    choices = payload.choices
    if choices is None or len(choices) != 1 or payload.usage is not None or payload.error is not NULL:
        return False
    return choices[0].finish_reason is None and choices[0].error is NULL


def says_nothing(payload: Payload) -> bool:
    """An answer that the provider itself calls empty (B-16): stopped at once, no token, no content."""
    if payload.usage is None or payload.usage.completion_tokens != 0 or not payload.choices:
        return False
    choice = payload.choices[0]
    return choice.finish_reason == NATURAL_END and not _has_message(choice)


def choice_says_something(choice: Choice) -> bool:
    """Whether one choice of an event has content."""
    return says_beside(_NO_CONTENT, choice.delta) or says_something(choice.text)


def choice_is_visible(choice: Choice) -> bool:
    """Whether that content is more than reasoning."""
    return says_beside(_NOT_VISIBLE, choice.delta) or says_something(choice.text)


def _has_message(choice: Choice) -> bool:
    return says_beside(_NO_CONTENT, choice.message) or says_something(choice.text)


def error_in(payload: Payload) -> ProviderError | None:
    """An error inside a success, in the shapes seen in the wild (B-15, E-05)."""
    if payload.error is not NULL and is_given(payload.error):
        return error_of(payload.error)
    for choice in payload.choices or ():
        if choice.error is not NULL and is_given(choice.error):
            return error_of(choice.error)
        if choice.finish_reason == "error":
            return ProviderError("The provider ended the answer with an error.")
    return None
