"""What a codec makes of values, as JSON, and of broken requests."""

import json

import pytest

from pointsman.dialects.codec import AnswerFacts, Codec, EventFacts, ParsedRequest
from pointsman.domain.errors import GatewayError


class Reader:
    """Reads by one codec."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec

    def parsed(self, **fields: object) -> ParsedRequest:
        """A request with these fields."""
        return self._codec.read_request(json.dumps({"model": "m"} | fields).encode())

    def refusal(self, body: bytes) -> GatewayError:
        """The error that a request is refused with."""
        with pytest.raises(GatewayError) as raised:
            self._codec.read_request(body)
        return raised.value

    def event(self, payload: object, *, before_visible: bool = True) -> EventFacts:
        """One event of a stream."""
        return self._codec.read_event(json.dumps(payload).encode(), before_visible=before_visible)

    def answer(self, payload: object) -> AnswerFacts:
        """A whole answer."""
        return self._codec.read_answer(json.dumps(payload).encode())
