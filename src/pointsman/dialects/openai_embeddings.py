"""OpenAI embeddings: `POST /v1/embeddings`, never streamed."""

from msgspec import Raw
from msgspec.json import Decoder

from pointsman.dialects import openai_wire as wire
from pointsman.dialects import steering
from pointsman.dialects.codec import AnswerFacts, ParsedRequest
from pointsman.dialects.embeddings_wire import read_answer
from pointsman.dialects.fields import read_fields
from pointsman.dialects.openai_chat import OpenAIChat
from pointsman.dialects.provider_error import UNREADABLE, error_of, is_given
from pointsman.domain.outcome import Usage
from pointsman.domain.request import Dialect, RequestFacts

_EDITED = frozenset(("model",))  # what was authorised must be what is sent


_decode_counts = Decoder(wire.TokenCounts).decode


class OpenAIEmbeddings(OpenAIChat):
    """The codec. What Chat Completions say of streams is never asked for."""

    dialect = Dialect.OPENAI_EMBEDDINGS
    path = "/embeddings"

    def read_request(self, body: bytes) -> ParsedRequest:
        top, model = read_fields(body, _EDITED)
        if not steering.FIELDS.isdisjoint(top.values):
            return steering.taken_out(top, self.read_request)
        facts = RequestFacts(Dialect.OPENAI_EMBEDDINGS, model, stream=False, body_bytes=len(body))
        return ParsedRequest(facts, body, top.span("model"), None, top.values)

    def read_answer(self, body: bytes) -> AnswerFacts:
        try:
            answer = read_answer(body)
        except UNREADABLE:
            return AnswerFacts(fault="malformed")
        usage = _usage(answer.usage)
        if is_given(answer.error):
            return AnswerFacts(usage, error_of(answer.error))
        return AnswerFacts(usage, fault=None if answer.data else "empty")


def _usage(raw: Raw) -> Usage | None:
    """Tokens as reported: an answer has none. None when the provider did not say, or nothing to trust."""
    try:
        counts = _decode_counts(raw)
    except UNREADABLE:
        return None
    return None if counts.prompt_tokens is None else Usage(counts.prompt_tokens, output_tokens=0)
