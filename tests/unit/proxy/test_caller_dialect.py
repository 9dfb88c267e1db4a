"""In which dialect a caller is answered that has not got as far as a request."""

import pytest

from pointsman.domain.request import Dialect
from pointsman.http1.head import parse_request_head
from pointsman.proxy.caller_dialect import codec_for

CHAT, MESSAGES = Dialect.OPENAI_CHAT, Dialect.ANTHROPIC_MESSAGES
VERSION = "anthropic-version: 2023-06-01\r\n"


@pytest.mark.parametrize(
    ("path", "header", "dialect"),
    [
        ("/v1/chat/completions", "", CHAT),
        ("/v1/chat/completions", VERSION, CHAT),
        ("/v1/messages", "", MESSAGES),
        ("/v1/v1/messages", "", MESSAGES),
        ("/messages", "", MESSAGES),
        ("/v1/messages/count_tokens", "", MESSAGES),
        ("/v1/messages/batches", "", MESSAGES),
        ("/v1/messages?beta=true", "", MESSAGES),
        ("/v1/models", "", CHAT),
        ("/v1/models", VERSION, MESSAGES),
        ("/v1/complete", VERSION, MESSAGES),
        ("/nowhere", "", CHAT),
    ],
)
def test_path_decides_and_then_the_header(path: str, header: str, dialect: Dialect) -> None:
    head = parse_request_head(f"POST {path} HTTP/1.1\r\nhost: test\r\n{header}\r\n".encode())

    assert codec_for(head).dialect is dialect


def test_without_a_head_it_is_openais() -> None:
    assert codec_for(None).dialect is CHAT
