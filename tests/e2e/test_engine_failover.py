"""Real engines come and go under a crowd of callers."""

import asyncio
import math
import os
import time
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from pointsman.testing.wire import Reply, Wire, chat_request
from tests.e2e.engine.engine import LOADING, Engine, engine
from tests.e2e.gateway import serve
from tests.e2e.sdk import Answer, Crowd
from tests.integration.callers import ask, events, tally, text_of
from tests.integration.harness import eventually, group, weighted

PATIENCE_S = 20.0
SHORT_PAUSES = {"base": "500ms", "max": "2s"}  # so that a probe comes soon
BACK_WITHIN_S = 15.0  # the longest pause, 2.4 s with its 20 % of chance, and a slow machine
FAULTS_UNTIL_A_PAUSE = 3
MEANWHILE = 20  # answers: that the dead replica is never picked for one of them is out of the question
DEVIATIONS = 5.0  # lots are drawn without a seed: one false alarm in 1.7 million runs

pytestmark = pytest.mark.slow


def speaker(answer: Answer) -> str:
    """The replica that an answer names."""
    return next((name for name in ("alpha", "beta") if name in answer["text"]), "nobody")


def test_shares_of_real_replicas_are_their_weights_and_their_texts_prove_it(
    tmp_path: Path, alpha: Engine, beta: Engine
) -> None:
    async def crowded(base_url: str) -> list[Answer]:
        async with Crowd(base_url, "chat", "short") as crowd:
            await crowd.until(lambda _: True, 400, patience_s=2 * PATIENCE_S)
        return crowd.answers

    with serve(tmp_path, alpha, beta, groups={"chat": weighted((alpha, beta), (3, 1))}) as gateway:
        answers = asyncio.run(crowded(gateway.base_url))
        records = {record["request_id"]: record["attempts"][-1]["target_id"] for record in gateway.records()}

    for streams in (False, True):
        of_kind = [answer for answer in answers if answer["stream"] is streams]
        count, to_alpha = len(of_kind), sum(speaker(answer) == "alpha" for answer in of_kind)
        assert {(answer["text"], answer["finish"]) for answer in of_kind} == {
            (" This is alpha.", "stop"),
            (" This is beta.", "stop"),
        }
        assert abs(to_alpha - 0.75 * count) <= DEVIATIONS * math.sqrt(count * 0.75 * 0.25)
    for answer in answers:
        assert answer["target"] == records[answer["id"]] == f"{speaker(answer)}/m-{speaker(answer)}"


# --- a replica dies in a crowd, and comes back


class Ordeal(Struct, frozen=True):
    """What a crowd got, half of it from a replica that was killed and started again."""

    answers: list[Answer]
    killed_at_s: float  # monotonic, as the times of the answers
    back_at_s: float
    records: list[dict[str, Any]]

    @property
    def broken(self) -> list[Answer]:
        return [answer for answer in self.answers if answer["error"]]


@pytest.fixture(scope="module", params=["long", "long_stream"])
def ordeal(request: Any, tmp_path_factory: Any, model: Any, beta: Engine) -> Ordeal:
    with engine(model("alpha")) as dying:
        groups = {"chat": weighted((dying, beta), (1, 1))}
        folder = tmp_path_factory.mktemp("gateway")
        with serve(folder, dying, beta, groups=groups, cooldown=SHORT_PAUSES) as gateway:
            revival = engine(model("alpha"), port=dying.port)
            answers, *times_s = asyncio.run(live_through(gateway.base_url, request.param, dying, revival))
            return Ordeal(answers, *times_s, gateway.records())


async def live_through(
    base_url: str, kind: str, dying: Engine, revival: AbstractContextManager[Engine]
) -> tuple[list[Answer], float, float]:
    """What the crowd got, and when the engine was killed and started again."""
    async with Crowd(base_url, "chat", kind) as crowd:
        await crowd.until(lambda answer: speaker(answer) == "alpha", 3, patience_s=PATIENCE_S)
        await eventually(lambda: dying.busy_slots > 0)
        dying.process.kill()
        killed_at_s = time.monotonic()
        await crowd.until(lambda answer: answer["begun_s"] > killed_at_s, MEANWHILE, patience_s=PATIENCE_S)
        back_at_s = time.monotonic()
        with revival:
            await crowd.until(lambda answer: is_of_alpha_after(answer, back_at_s), 3, patience_s=BACK_WITHIN_S)
            await crowd.leave()
    return crowd.answers, killed_at_s, back_at_s


def is_of_alpha_after(answer: Answer, at_s: float) -> bool:
    return speaker(answer) == "alpha" and bool(answer["begun_s"] > at_s)


@pytest.mark.case("T01", "T29")
def test_the_death_of_a_replica_is_an_error_only_for_streams_that_had_content_from_it(ordeal: Ordeal) -> None:
    assert {speaker(answer) for answer in ordeal.broken} <= {"alpha"}
    assert {answer["stream"] for answer in ordeal.broken} <= {True}
    assert all(answer["begun_s"] < ordeal.killed_at_s for answer in ordeal.broken)
    assert {(answer["error"]["kind"], answer["error"]["code"]) for answer in ordeal.broken} <= {
        ("APIError", "upstream_error")
    }


@pytest.mark.case("I12")
def test_every_other_answer_is_complete(ordeal: Ordeal) -> None:
    fine = [answer for answer in ordeal.answers if not answer["error"]]

    assert {(answer["text"], answer["finish"]) for answer in fine} == {
        (" alpha!" * 200, "length"),
        (" beta!" * 200, "length"),
    }


@pytest.mark.bug("A-01")
def test_while_a_replica_is_dead_the_other_one_speaks(ordeal: Ordeal) -> None:
    meanwhile = [each for each in ordeal.answers if ordeal.killed_at_s < each["begun_s"] < ordeal.back_at_s]

    assert len(meanwhile) >= MEANWHILE
    assert {speaker(answer) for answer in meanwhile} == {"beta"}


def test_a_replica_that_is_back_speaks_again(ordeal: Ordeal) -> None:
    assert sum(is_of_alpha_after(answer, ordeal.back_at_s) for answer in ordeal.answers) >= 3


@pytest.mark.case("T28", "I1", "I4")
def test_records_tell_who_failed_and_who_took_over(ordeal: Ordeal) -> None:
    saved = [record for record in ordeal.records if len(record["attempts"]) > 1]
    lost = [attempt for record in saved for attempt in record["attempts"][:-1]]
    ends = Counter(record["attempts"][-1]["outcome_class"] for record in ordeal.records)

    assert len(ordeal.records) == len(ordeal.answers)
    assert ends["broken_stream"] == len(ordeal.broken)
    assert ends["ok"] == len(ordeal.answers) - len(ordeal.broken)
    assert saved or len(ordeal.broken) >= FAULTS_UNTIL_A_PAUSE
    assert {(attempt["target_id"], attempt["committed"]) for attempt in lost} <= {("alpha/m-alpha", False)}
    assert {record["decisions"][-1]["picked"] for record in saved} <= {"beta/m-beta"}
    assert all(record["decisions"][-1]["excluded"] == {"alpha/m-alpha": "tried"} for record in saved)


# --- one engine


@pytest.mark.bug("E-04")
@pytest.mark.case("T28", "I1", "I12")
def test_a_stream_whose_engine_is_killed_ends_with_an_error_in_it(tmp_path: Path, model: Any, beta: Engine) -> None:
    async def scene(dying: Engine, base_url: str) -> Reply:
        async with await Wire.open(base_url) as wire:
            wire.send(chat_request("chat", messages=[{"role": "user", "content": "Go on for ever."}], stream=True))
            await wire.received_bytes(1_000)
            dying.process.kill()
            return await wire.reply()

    with engine(model("alpha")) as dying, serve(tmp_path, dying, beta, groups={"chat": group(dying, beta)}) as gateway:
        reply = asyncio.run(scene(dying, gateway.base_url))
        (record,) = gateway.records()

    *said, broken = events(reply)
    assert (reply.status, reply.body[-14:]) == (200, b"data: [DONE]\n\n")
    assert set(text_of(reply).split()) == {"alpha!"}
    assert {event["choices"][0]["finish_reason"] for event in said} == {None}
    assert broken["error"]["code"] == "upstream_error"
    assert [(attempt["target_id"], attempt["outcome_class"]) for attempt in record["attempts"]] == [
        ("alpha/m-alpha", "broken_stream")
    ]


def test_an_engine_that_is_still_loading_leaves_its_requests_to_another(tmp_path: Path, beta: Engine) -> None:
    pipe = tmp_path / "alpha.gguf"
    os.mkfifo(pipe)  # nobody writes into it, so the model never comes

    async def scene(base_url: str) -> Counter[tuple[int, str]]:
        requests = [chat_request("chat", stream=stream) for stream in (False, True)] * 3
        return tally([await ask(base_url, request) for request in requests])

    with engine(pipe, status=LOADING) as loading:
        with serve(tmp_path, loading, beta, groups={"chat": group(loading, beta)}) as gateway:
            replies = asyncio.run(scene(gateway.base_url))
            records = gateway.records()

    assert replies == {(200, " This is beta."): 6}
    first, *_, last = records
    assert [(attempt["status"], attempt["outcome_class"]) for attempt in first["attempts"]] == [
        (503, "upstream_fault"),
        (200, "ok"),
    ]
    assert last["decisions"][0]["excluded"] == {"alpha/m-alpha": "paused"}
