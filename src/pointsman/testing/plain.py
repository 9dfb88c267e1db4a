"""Builders of payloads of OpenAI's plainer dialects: embeddings, and legacy completions. Pure."""

import struct
from base64 import b64encode

from pointsman.domain.outcome import Usage
from pointsman.testing.chat import BYTES_PER_TOKEN, NOTHING_SPECIAL, Asked, Payload

VECTOR = (0.25, -0.5, 1.0)  # exact as four bytes each, so that both encodings say the same


def embeddings(*, to: Asked, usage: Payload | None = None) -> Payload:
    """A vector for each input, as numbers or as base64 of them."""
    vector = b64encode(struct.pack("<3f", *VECTOR)).decode() if to.base64 else list(VECTOR)
    rows = [{"object": "embedding", "index": index, "embedding": vector} for index in range(to.inputs)]
    payload: Payload = {"object": "list", "data": rows, "model": to.model}
    return payload if usage is None else payload | {"usage": usage}


def embeddings_usage(counted: Usage, *, to: Asked) -> Payload:
    """Tokens of the input: the answer has none."""
    given = max(1, to.body_bytes // BYTES_PER_TOKEN) if counted.input_tokens is None else counted.input_tokens
    return {"prompt_tokens": given, "total_tokens": given}


def completion(
    text: str, *, to: Asked = NOTHING_SPECIAL, finish_reason: str | None = None, usage: Payload | None = None
) -> Payload:
    """A whole completion, or one event of a stream."""
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish_reason}
    payload: Payload = {"id": to.id, "object": "text_completion", "created": to.created, "model": to.model}
    payload["choices"] = [choice]
    return payload if usage is None else payload | {"usage": usage}
