"""Which refusals another model may not make: by code, and by the words of every server we know."""

import pytest

from pointsman.domain.outcome import Outcome, OutcomeClass, ProviderError
from pointsman.routing.refusals import Cause, cause
from pointsman.testing import builders


def refused(message: str, code: str | None = None, type_: str | None = None) -> Outcome:
    return builders.outcome("caller_fault", status=400, error=ProviderError(message, type_, code))


@pytest.mark.bug("B-08")
@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
        "Input is too long for requested model.",
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
        "Please reduce the length of the messages or completion.",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        "input tokens exceed the configured limit of 272000 tokens.",
    ],
)
def test_context_is_recognised_in_the_words_of_every_server(words: str) -> None:
    assert cause(refused(words)) is Cause.CONTEXT


@pytest.mark.parametrize("code", ["context_length_exceeded", "exceed_context_size_error"])
def test_context_is_recognised_by_its_code(code: str) -> None:
    assert cause(refused("No.", code)) is Cause.CONTEXT
    assert cause(refused("No.", None, code)) is Cause.CONTEXT


@pytest.mark.bug("A-07")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", None),
        ("Output blocked by content filtering policy", None),
        ("Your request was rejected as a result of our safety system.", None),
        ("No.", "content_filter"),
        ("No.", "content_policy_violation"),
        ("No.", "image_content_policy_violation"),
    ],
)
def test_refused_content_is_recognised(words: str, code: str | None) -> None:
    assert cause(refused(words, code)) is Cause.POLICY


def test_any_other_refusal_is_the_requests_own_fault() -> None:
    assert cause(refused("'temperature' must be at most 2.")) is None
    assert cause(builders.outcome("caller_fault", status=400)) is None


@pytest.mark.parametrize("kind", [kind for kind in OutcomeClass if kind is not OutcomeClass.CALLER_FAULT])
def test_no_other_outcome_is_a_refusal(kind: OutcomeClass) -> None:
    assert cause(builders.outcome(kind, error=ProviderError("prompt is too long"))) is None
