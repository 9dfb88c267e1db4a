"""What all dialects of OpenAI's API have in common (pure)."""

import msgspec

from pointsman.dialects.codec import ParsedRequest
from pointsman.dialects.provider_error import read_error
from pointsman.dialects.top_level import splice
from pointsman.domain.errors import GatewayError
from pointsman.domain.outcome import ProviderError, Usage


class OpenAIDialect:
    """Headers, edits and errors; it has no state."""

    passed_on: tuple[bytes, ...] = (b"openai-beta", b"traceparent")
    limit_headers = b"x-ratelimit-"

    def write_request(self, request: ParsedRequest, model: str) -> bytes:
        start, end = request.model_span
        return splice(request.body, [(start, end, msgspec.json.encode(model))])

    def read_error(self, status: int, body: bytes) -> ProviderError:
        return read_error(status, body)

    def usage_after(self, earlier: Usage, later: Usage) -> Usage:
        return later  # every report is a whole one

    def status_of(self, error: GatewayError) -> int:
        return error.status

    def write_error(self, error: GatewayError, request_id: str) -> bytes:
        return written(error)


def written(error: GatewayError) -> bytes:
    """The error object; all four keys are always there, as the SDKs expect."""
    fault = {"message": error.message, "type": error.openai_type, "param": error.param, "code": error.code}
    return msgspec.json.encode({"error": fault})
