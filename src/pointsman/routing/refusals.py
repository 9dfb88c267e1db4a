"""Which refusals concern the model and not the request: a larger window, or another model, may take it (B-08)."""

from enum import StrEnum

from pointsman.domain.outcome import Outcome, OutcomeClass

CONTEXT_CODE = "context_length_exceeded"


class Cause(StrEnum):
    """Why a provider refused what another one may take."""

    CONTEXT = "context"  # too long for the model
    POLICY = "policy"  # its content


_BY_CODE: dict[str, Cause] = {
    CONTEXT_CODE: Cause.CONTEXT,
    "exceed_context_size_error": Cause.CONTEXT,
    "content_filter": Cause.POLICY,
    "content_policy_violation": Cause.POLICY,
    "image_content_policy_violation": Cause.POLICY,
    "invalid_prompt": Cause.POLICY,
    "ResponsibleAIPolicyViolation": Cause.POLICY,
}

# every server words it differently; in lower case
_BY_WORDS: tuple[tuple[str, Cause], ...] = (
    ("maximum context length", Cause.CONTEXT),  # OpenAI, vLLM, DeepSeek, Mistral
    ("model's context length", Cause.CONTEXT),  # SGLang, vLLM
    ("context window", Cause.CONTEXT),  # OpenAI Responses, Ollama
    ("context size", Cause.CONTEXT),  # llama.cpp
    ("context length", Cause.CONTEXT),
    ("prompt is too long", Cause.CONTEXT),  # Anthropic
    ("input is too long", Cause.CONTEXT),  # Bedrock
    ("input length and `max_tokens` exceed", Cause.CONTEXT),  # Anthropic
    ("reduce the length of", Cause.CONTEXT),
    ("input token count", Cause.CONTEXT),  # Gemini: "... exceeds the maximum number of tokens allowed"
    ("input tokens exceed the configured limit", Cause.CONTEXT),
    ("too large for model with", Cause.CONTEXT),  # Mistral
    ("content management policy", Cause.POLICY),  # Azure
    ("content filtering policy", Cause.POLICY),  # Anthropic
    ("safety system", Cause.POLICY),  # OpenAI
    ("usage polic", Cause.POLICY),
)


def cause(outcome: Outcome) -> Cause | None:
    """By the provider's code, else by its words; None: the request itself is at fault, or the provider."""
    error = outcome.error
    if outcome.outcome_class is not OutcomeClass.CALLER_FAULT or error is None:
        return None
    by_code = _BY_CODE.get(error.code or "") or _BY_CODE.get(error.type or "")
    if by_code is not None:
        return by_code
    words = error.message.lower()
    return next((found for part, found in _BY_WORDS if part in words), None)
