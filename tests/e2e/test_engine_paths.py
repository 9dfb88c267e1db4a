"""What a real engine, llama.cpp's own server, says on Responses, embeddings and legacy completions."""

import asyncio
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.testing.wire import Reply, chat_request, completions_request, embeddings_request, responses_request
from tests.e2e.engine.engine import Engine, engine
from tests.e2e.gateway import Gateway, serve
from tests.e2e.sdk import CLIENTS, NEWEST, saw
from tests.integration.callers import ask, ask_all
from tests.integration.harness import eventually, group

EVERY_CLIENT = pytest.mark.parametrize("client", CLIENTS)
# ids, times and what the cache did: they differ from answer to answer
MEASURED = re.compile(
    rb'"(id|item_id|call_id|created|created_at|completed_at|cached_tokens|cache_n|prompt_n|\w+_ms|\w+_per_second)"'
    rb':("[^"]*"|[\d.e+-]+)'
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def vectors(model: Any) -> Iterator[Engine]:
    with engine(model("vectors"), embeds=True) as running:
        yield running


@pytest.fixture(scope="module")
def gateway(
    tmp_path_factory: pytest.TempPathFactory, alpha: Engine, beta: Engine, vectors: Engine
) -> Iterator[Gateway]:
    """For all tests that only ask: alpha answers, beta stands by, and a third engine makes vectors."""
    groups = {"chat": group(alpha, beta), "vectors": group(vectors)}
    with serve(tmp_path_factory.mktemp("gateway"), alpha, beta, vectors, groups=groups) as running:
        yield running


# --- through the SDK


@EVERY_CLIENT
def test_a_response_is_what_the_engine_said(gateway: Gateway, client: str) -> None:
    seen = saw(client, gateway.base_url, "chat", "response")

    assert (seen["text"], seen["status"], seen["target"]) == (" This is alpha.", "completed", "alpha/m-alpha")
    assert seen["tokens"] == 5


@EVERY_CLIENT
def test_a_streamed_response_is_what_the_engine_said(gateway: Gateway, client: str) -> None:
    seen = saw(client, gateway.base_url, "chat", "streamed_response")

    assert (seen["text"], seen["first"], seen["last"]) == (" This is alpha.", "response.created", "response.completed")
    assert seen["tokens"] == 5


@EVERY_CLIENT
def test_a_tool_is_called_as_the_model_wants(gateway: Gateway, client: str) -> None:
    whole = saw(client, gateway.base_url, "chat", "tool_of_response")
    streamed = saw(client, gateway.base_url, "chat", "streamed_tool")

    assert whole["calls"] == [["get_weather", {"city": "Oslo"}]]
    assert (streamed["names"], streamed["arguments"]) == (["get_weather"], {"city": "Oslo"})


@EVERY_CLIENT
def test_the_result_of_a_tool_reaches_the_model(gateway: Gateway, client: str) -> None:
    seen = saw(client, gateway.base_url, "chat", "tool_round")

    assert (seen["text"].strip(), seen["status"]) == ("It rains, says alpha.", "completed")


@EVERY_CLIENT
def test_structured_output_has_the_structure(gateway: Gateway, client: str) -> None:
    seen = saw(client, gateway.base_url, "chat", "structured_response")

    assert (seen["name"], seen["people"]) == ("alpha", 7100)


@EVERY_CLIENT
def test_vectors_are_what_the_engine_made(gateway: Gateway, client: str) -> None:
    encoded = saw(client, gateway.base_url, "vectors", "embeddings")["vectors"]
    (plain,) = saw(client, gateway.base_url, "vectors", "embeddings_as_numbers")["vectors"]

    assert encoded[0] == pytest.approx(plain, abs=1e-6)
    assert encoded[0] != encoded[1]
    assert math.hypot(*plain) == pytest.approx(1, abs=1e-5)


@EVERY_CLIENT
def test_a_completion_is_what_the_engine_said(gateway: Gateway, client: str) -> None:
    whole = saw(client, gateway.base_url, "chat", "completion")
    streamed = saw(client, gateway.base_url, "chat", "streamed_completion")

    assert (whole["text"], whole["finish"], whole["tokens"]) == (" This is alpha.", "stop", 5)
    assert (streamed["text"], streamed["finishes"]) == (" This is alpha.", ["stop"])


@pytest.mark.bug("B-08")
def test_a_prompt_that_is_too_long_is_an_error_in_the_words_that_agents_know(gateway: Gateway) -> None:
    seen = saw(NEWEST, gateway.base_url, "chat", "too_long_response")

    assert (seen["kind"], seen["status"], seen["code"]) == ("BadRequestError", 400, "context_length_exceeded")


def test_an_engine_that_was_started_without_vectors_says_so_and_goes_on_to_talk(gateway: Gateway) -> None:
    seen = [saw(NEWEST, gateway.base_url, "chat", "failed_embeddings") for _ in range(4)]
    after = asyncio.run(ask_all(gateway.base_url, [chat_request("chat")] * 4, concurrency=1))

    assert {(failed["status"], "--embeddings" in failed["message"]) for failed in seen} == {(501, True)}
    assert {reply.header("x-pointsman-target") for reply in after} == {b"alpha/m-alpha"}


@pytest.mark.bug("F-01")
def test_a_caller_that_leaves_frees_the_engine(gateway: Gateway, alpha: Engine) -> None:
    seen = saw(NEWEST, gateway.base_url, "chat", "left_response")

    assert "alpha!" in seen["text"]
    asyncio.run(eventually(lambda: alpha.busy_slots == 0))


# --- byte for byte

REQUESTS = {
    "response": (responses_request, {"input": "Who are you?"}),
    "streamed response": (responses_request, {"input": "Who are you?", "stream": True}),
    "completion": (completions_request, {"prompt": "S"}),
    "streamed completion": (
        completions_request,
        {"prompt": "S", "stream": True, "stream_options": {"include_usage": True}},
    ),
}


@pytest.mark.case("I36")
@pytest.mark.parametrize(("make", "fields"), REQUESTS.values(), ids=REQUESTS)
def test_an_answer_keeps_every_byte_of_the_engine(alpha: Engine, gateway: Gateway, make: Any, fields: Any) -> None:
    direct, through = both(alpha, gateway, make("m-alpha", **fields), make("chat", **fields))

    assert MEASURED.sub(rb'"\1":0', through.body) == MEASURED.sub(rb'"\1":0', direct.body)
    assert b" alpha" in through.body


@pytest.mark.case("I36")
@pytest.mark.parametrize("encoding", ["base64", "float"])
def test_vectors_keep_every_byte_of_the_engine(vectors: Engine, gateway: Gateway, encoding: str) -> None:
    fields = {"input": ["a", "b"], "encoding_format": encoding}

    direct, through = both(
        vectors, gateway, embeddings_request("m-vectors", **fields), embeddings_request("vectors", **fields)
    )

    assert through.status == 200
    assert through.body == direct.body


def both(engine_: Engine, gateway: Gateway, direct: bytes, through: bytes) -> tuple[Reply, Reply]:
    """One request to the engine itself, and one through the gateway."""
    return asyncio.run(ask(engine_.base_url, direct)), asyncio.run(ask(gateway.base_url, through))
