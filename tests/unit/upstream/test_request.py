"""The bytes of an attempt."""

import pytest

from pointsman.dialects.anthropic_messages import AnthropicMessages
from pointsman.dialects.openai_chat import OpenAIChat
from pointsman.domain.secret import Secret
from pointsman.domain.target import KeyStyle, Provider
from pointsman.http1.header_block import HeaderBlock
from pointsman.testing import builders
from pointsman.upstream.request import build, without_body

BODY = b'{"model":"m"}'
CALLERS = {
    b"host": b"gateway.example",
    b"authorization": b"Bearer callers-key",
    b"x-api-key": b"callers-key",
    b"api-key": b"callers-key",
    b"proxy-authorization": b"Basic callers-key",
    b"cookie": b"session=callers-key",
    b"x-forwarded-for": b"10.0.0.1",
    b"x-forwarded-host": b"evil.example",
    b"forwarded": b"for=10.0.0.1",
    b"connection": b"keep-alive, x-secret",
    b"transfer-encoding": b"chunked",
    b"content-length": b"99999",
    b"content-encoding": b"gzip",
    b"accept-encoding": b"gzip, br",
    b"accept": b"text/html",
    b"user-agent": b"callers-agent",
    b"x-pointsman-target": b"a/m",
    b"openai-organization": b"callers-organisation",
    b"openai-beta": b"assistants=v2",
    b"traceparent": b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
}


def built(
    provider: Provider,
    headers: dict[bytes, bytes] | None = None,
    *,
    stream: bool = False,
    allowed: tuple[bytes, ...] = OpenAIChat().passed_on,
) -> bytes:
    lines = [b"%b: %b\r\n" % field for field in (headers or {}).items()]
    return build(provider, "/chat/completions", BODY, stream, HeaderBlock(b"\r\n" + b"".join(lines)), allowed)


def head_of(request: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """The request line and the headers; none may come twice."""
    head, _, _ = request.partition(b"\r\n\r\n")
    line, *fields = head.split(b"\r\n")
    pairs = [field.split(b": ", 1) for field in fields]
    assert len({pair[0] for pair in pairs}) == len(pairs)
    return line, {pair[0]: pair[1] for pair in pairs}


def test_request_is_a_post_to_the_path_below_the_base_url() -> None:
    line, headers = head_of(built(builders.provider("a", "https://api.example.com:8443/openai/v1")))

    assert line == b"POST /openai/v1/chat/completions HTTP/1.1"
    assert headers[b"host"] == b"api.example.com:8443"


def test_body_follows_the_head_unchanged_with_its_length() -> None:
    request = built(builders.provider("a"))

    assert request.endswith(b"\r\n\r\n" + BODY)
    assert head_of(request)[1][b"content-length"] == b"%d" % len(BODY)


@pytest.mark.bug("I-03", "I-04", "I-10")
def test_of_the_callers_headers_only_the_allowed_ones_pass() -> None:
    _, headers = head_of(built(builders.provider("a", api_key="sk-ours"), CALLERS))

    assert headers == {
        b"host": b"127.0.0.1:9",
        b"content-type": b"application/json",
        b"accept": b"application/json",
        b"accept-encoding": b"identity",
        b"authorization": b"Bearer sk-ours",
        b"openai-beta": CALLERS[b"openai-beta"],
        b"traceparent": CALLERS[b"traceparent"],
        b"content-length": b"%d" % len(BODY),
    }


@pytest.mark.bug("I-03")
def test_without_a_configured_key_no_credential_is_sent_at_all() -> None:
    request = built(builders.provider("a"), CALLERS)

    assert b"callers-key" not in request
    assert b"authorization" not in head_of(request)[1]


def test_streams_ask_for_events() -> None:
    assert head_of(built(builders.provider("a"), stream=True))[1][b"accept"] == b"text/event-stream"


def test_configured_headers_are_sent() -> None:
    provider = builders.provider("a", headers=(("x-title", Secret("Pointsman")), ("x-team", Secret("search"))))

    _, headers = head_of(built(provider))

    assert (headers[b"x-title"], headers[b"x-team"]) == (b"Pointsman", b"search")


@pytest.mark.bug("A-18")
def test_request_does_not_depend_on_what_was_built_before() -> None:
    first, second = builders.provider("a", api_key="sk-a"), builders.provider("b", api_key="sk-b")
    alone = built(second)

    built(first)

    assert built(second) == alone
    assert b"sk-a" not in built(second)


@pytest.mark.bug("J-09")
def test_account_with_a_new_key_sends_the_new_key() -> None:
    built(builders.provider("a", api_key="sk-old"))

    request = built(builders.provider("a", api_key="sk-new"))

    assert head_of(request)[1][b"authorization"] == b"Bearer sk-new"


CLAUDE = {"kind": "anthropic", "key_style": KeyStyle.X_API_KEY}
VERSION = ("anthropic-version", Secret("2023-06-01"))
ALLOWED = AnthropicMessages.passed_on


def test_key_goes_where_the_origin_wants_it() -> None:
    _, headers = head_of(built(builders.provider("a", api_key="sk-ours", **CLAUDE), CALLERS))

    assert headers[b"x-api-key"] == b"sk-ours"
    assert b"authorization" not in headers


@pytest.mark.parametrize("version", [b"2026-10-21", b"2023-06-01"])
def test_version_is_the_callers_where_it_has_one(version: bytes) -> None:
    provider = builders.provider("a", headers=(VERSION, ("x-team", Secret("t"))))

    _, headers = head_of(built(provider, {b"Anthropic-Version": version}, allowed=ALLOWED))

    assert headers[b"anthropic-version"] == version
    assert headers[b"x-team"] == b"t"


@pytest.mark.parametrize("callers", [{}, {b"anthropic-beta": b"b"}])
def test_version_is_the_providers_where_the_caller_has_none(callers: dict[bytes, bytes]) -> None:
    _, headers = head_of(built(builders.provider("a", headers=(VERSION,)), callers, allowed=ALLOWED))

    assert headers[b"anthropic-version"] == b"2023-06-01"


@pytest.mark.bug("I-01", "I-02")
def test_every_beta_passes_also_in_several_headers() -> None:
    raw = HeaderBlock(b"\r\nanthropic-beta: a-1,b-2\r\nx-other: 1\r\nAnthropic-Beta: c-3\r\n")

    request = build(builders.provider("a"), "/messages", BODY, False, raw, ALLOWED)

    assert b"\r\nanthropic-beta: a-1,b-2, c-3\r\n" in request
    assert b"x-other" not in request


def test_headers_of_another_dialect_do_not_pass() -> None:
    _, headers = head_of(built(builders.provider("a"), {b"anthropic-version": b"1", b"anthropic-beta": b"b"}))

    assert not any(name.startswith(b"anthropic-") for name in headers)


@pytest.mark.bug("I-03")
@pytest.mark.parametrize(("method", "length"), [("GET", ""), ("DELETE", ""), ("POST", "content-length: 0\r\n")])
def test_request_without_a_body_has_the_providers_own_lines_only(method: str, length: str) -> None:
    provider = builders.provider("p", base_url="http://h:1/v1", api_key="sk-ours")

    assert without_body(provider, method, "/responses/resp_1?limit=5").decode() == (
        f"{method} /v1/responses/resp_1?limit=5 HTTP/1.1\r\nhost: h:1\r\naccept: application/json\r\n"
        f"accept-encoding: identity\r\n{length}authorization: Bearer sk-ours\r\n\r\n"
    )


@pytest.mark.case("T62")
@pytest.mark.parametrize("value", [b"a\x9bb", b"\xc2\x85", "日本".encode(), b"\xff"])
def test_what_is_passed_on_is_plain_ascii_or_not_there(value: bytes) -> None:
    _, headers = head_of(built(builders.provider("a"), {b"openai-beta": value, b"traceparent": b"00-1-2-01"}))

    assert b"openai-beta" not in headers
    assert headers[b"traceparent"] == b"00-1-2-01"
