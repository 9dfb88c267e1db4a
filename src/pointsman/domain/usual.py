"""How fast a usual target is: what the times of all others are compared with, so that long prompts make nobody slow."""

SETUP_S = 0.35  # before it reads the prompt
PREFILL_TOKENS_PER_S = 8_000.0  # and while it reads
DECODE_TOKENS_PER_S = 50.0  # and while it writes


def usual_ttft_s(input_tokens: float) -> float:
    """Seconds until a usual target has read a prompt."""
    return SETUP_S + input_tokens / PREFILL_TOKENS_PER_S


def usual_unary_s(input_tokens: float, output_tokens: float) -> float:
    """Seconds until a usual target has written a whole answer."""
    return usual_ttft_s(input_tokens) + output_tokens / DECODE_TOKENS_PER_S
