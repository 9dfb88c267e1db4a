"""The bytes of every benchmark: requests of a given size, one canned completion, timed stream events."""

import json
from typing import Final

MODEL: Final = "bench"
CHUNKED_END: Final = b"0\r\n\r\n"
EVENT_INTERVAL_S: Final = 0.02  # 50 events a second, a fast model

# Every event carries its send time (time.monotonic_ns of this machine) behind this mark, so that the load client
# learns the one-way delay. The time sits in the text of the delta, which every relay must leave alone.
TIME_MARK: Final = b'"@'
TIME_DIGITS: Final = 19

_WORDS: Final = "a switch at the junction sends each train to the track that is free and clear of fault "
_EVENT_START: Final = (
    b'data: {"id":"chatcmpl-bench00001","object":"chat.completion.chunk","created":1764500000,"model":"m",'
    b'"choices":[{"index":0,"delta":{"content":' + TIME_MARK
)
_EVENT_END: Final = b' sends each train to the track that is free"},"logprobs":null,"finish_reason":null}]}\n\n'
_FINISH: Final = (
    b'data: {"id":"chatcmpl-bench00001","object":"chat.completion.chunk","created":1764500000,"model":"m",'
    b'"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}\n\n'
)
_USAGE: Final = (
    b'data: {"id":"chatcmpl-bench00001","object":"chat.completion.chunk","created":1764500000,"model":"m",'
    b'"choices":[],"usage":{"prompt_tokens":210,"completion_tokens":200,"total_tokens":410}}\n\n'
)
DONE: Final = b"data: [DONE]\n\n"


def chunk(data: bytes) -> bytes:
    """`data` as one chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def text(size_bytes: int) -> str:
    """Prose of exactly this length."""
    return (_WORDS * (size_bytes // len(_WORDS) + 1))[:size_bytes]


def _completion() -> bytes:
    answer = {
        "id": "chatcmpl-bench00001",
        "object": "chat.completion",
        "created": 1764500000,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text(970)},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 210, "completion_tokens": 200, "total_tokens": 410},
    }
    return json.dumps(answer, separators=(",", ":")).encode()


COMPLETION: Final = _completion()
EVENT_BYTES: Final = len(_EVENT_START) + TIME_DIGITS + len(_EVENT_END)
_CHUNK_START: Final = b"%x\r\n" % EVENT_BYTES + _EVENT_START
_CHUNK_END: Final = _EVENT_END + b"\r\n"
STREAM_END: Final = chunk(_FINISH) + chunk(_USAGE) + chunk(DONE) + CHUNKED_END


def event_chunk(sent_ns: int) -> bytes:
    """One content event as one chunk; always of the same length."""
    return b"%b%019d%b" % (_CHUNK_START, sent_ns, _CHUNK_END)


def chat_body(size_bytes: int, *, stream_events: int | None = None) -> bytes:
    """A chat request of about this size: a conversation of up to ten messages. None: not a stream."""
    per_message = max(size_bytes // 10, 200)
    turns = max(size_bytes // per_message, 1)
    body: dict[str, object] = {"model": MODEL, "temperature": 0.2, "max_tokens": stream_events or 256}
    if stream_events is not None:
        # Usage is asked for, so that no gateway has a reason to add it to the request and strip it from the answer.
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    roles = ("user", "assistant")
    body["messages"] = [{"role": roles[turn % 2], "content": text(per_message - 40)} for turn in range(turns)]
    return json.dumps(body, separators=(",", ":")).encode()  # as the SDKs write it


# as openai-python 3 sends them
_SDK_HEADERS: Final = """\
Host: 127.0.0.1
Accept-Encoding: gzip, deflate
Connection: keep-alive
authorization: Bearer sk-bench
accept: application/json
content-type: application/json
user-agent: OpenAI/Python 3.57.0
x-stainless-lang: python
x-stainless-package-version: 3.57.0
x-stainless-os: Linux
x-stainless-arch: x64
x-stainless-runtime: CPython
x-stainless-runtime-version: 3.11.7
x-stainless-async: false
x-stainless-retry-count: 0
x-stainless-read-timeout: 600
"""

# of the kind and number that a hosted provider behind a CDN answers with
PROVIDER_HEADERS: Final = """\
Date: Mon, 30 Nov 2026 12:00:00 GMT
Connection: keep-alive
access-control-expose-headers: X-Request-ID
openai-organization: bench
openai-processing-ms: 412
openai-project: proj_bench
openai-version: 2020-10-01
x-envoy-upstream-service-time: 415
x-ratelimit-limit-requests: 10000
x-ratelimit-limit-tokens: 2000000
x-ratelimit-remaining-requests: 9999
x-ratelimit-remaining-tokens: 1999790
x-ratelimit-reset-requests: 6ms
x-ratelimit-reset-tokens: 6ms
x-request-id: req_bench0000000000000000000000
strict-transport-security: max-age=31536000; includeSubDomains; preload
x-content-type-options: nosniff
cf-cache-status: DYNAMIC
Server: bench
"""


def header_lines(text_: str) -> bytes:
    """Header lines as they go over the wire."""
    return text_.replace("\n", "\r\n").encode()


def http_request(body: bytes) -> bytes:
    """The whole request as the SDK sends it."""
    head = b"POST /v1/chat/completions HTTP/1.1\r\n" + header_lines(_SDK_HEADERS)
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body
