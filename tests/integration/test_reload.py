"""Another configuration under traffic: no request fails, each has one version, and what was learned goes on."""

import asyncio
import gc
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from pointsman.core import core
from pointsman.domain.target import ModelGroup
from pointsman.testing import Chat, FakeProvider, Received, Status
from pointsman.testing.wire import Reply, Wire, chat_request
from tests.integration.callers import ask, text_of
from tests.integration.harness import DECISIONS_FILE, Gateway, eventually, group, weighted

RELOADS = 200
BROKEN_EVERY = 4
REQUESTS_PER_S = 200
CALLERS = 40
BROKEN = (
    "version: 1\nmodels: [\n",
    "",
    "version: 1\nauth: {mode: none}\nmodels: {chat: {targets: [{model: gone/m}]}}\n",
)
KEEPS_CONNECTIONS = {"kind": "openai", "api_key": "key"}  # for longer than a test waits
LAG_LIMIT_S = 0.02
LARGE_GROUPS = 130  # of ten targets each: about the most that a file may hold


@pytest.fixture(autouse=True)
def _restored_level() -> Iterator[None]:
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)


class Traffic:
    """Callers on kept connections, together so many requests per second, half of them streamed."""

    def __init__(self, base_url: str) -> None:
        self.replies: list[Reply] = []
        self._base_url, self._is_over = base_url, False

    async def run(self) -> None:
        async with asyncio.TaskGroup() as callers:
            for number in range(CALLERS):
                callers.create_task(self._caller(stream=number % 2 == 0, delay_s=number / REQUESTS_PER_S))

    def end(self) -> None:
        self._is_over = True

    async def _caller(self, *, stream: bool, delay_s: float) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + delay_s
        async with await Wire.open(self._base_url) as wire:
            while not self._is_over:
                await asyncio.sleep(due - loop.time())
                due = max(due + CALLERS / REQUESTS_PER_S, loop.time())
                wire.send(chat_request("chat", stream=stream))
                self.replies.append(await wire.reply())


def model_asked(received: Received) -> Chat:
    """An answer that names the model, and takes long enough to be in flight over a swap."""
    model = received.json()["model"]
    return Chat(f"{model} and some more", gap_s=0.01)


@pytest.mark.slow
@pytest.mark.case("T92", "I16", "I17")
@pytest.mark.bug("J-04")
def test_two_hundred_reloads_under_traffic_fail_no_request(run: Any, gateway: Any) -> None:
    number_of_version = {1: 0}

    async def scenario() -> tuple[list[Reply], list[dict[str, Any]], dict[str, float]]:
        async with FakeProvider(name="a", answer_for=model_asked) as a, gateway(a, groups=models(0)) as gw:
            traffic = Traffic(gw.base_url)
            running = asyncio.create_task(traffic.run())
            for number in range(1, RELOADS + 1):
                if number % BROKEN_EVERY == 0:
                    assert await gw.reload(BROKEN[number % len(BROKEN)]) == "refused"
                assert await gw.reload(models=models(number)) == "ok"
                number_of_version[gw.app.live.snapshot.config_version] = number
                await asyncio.sleep(0.03)
            traffic.end()
            await running
            await gw.quiet()
            gw.app.tidy()
            assert (len(gw.app.board._targets), len(gw.app.board._groups), len(gw.app._pool._idle)) == (2, 1, 1)
            assert len(groups_alive()) <= 2, "the latest, and the one of the last request before it"
            results = gw.samples("reloads_total")
            return traffic.replies, await gw.records(), results

    replies, records, results = run(scenario())

    assert {reply.status for reply in replies} == {200}
    assert len(records) == len(replies) >= RELOADS * 3
    assert number_of_version == {number + 1: number for number in range(RELOADS + 1)}
    assert len({record["config_version"] for record in records}) > RELOADS * 0.7
    for record in records:
        number = number_of_version[record["config_version"]]
        assert record["reason"] == "ok"
        assert [attempt["target_id"] for attempt in record["attempts"]] == [record["decisions"][0]["picked"]]
        assert record["decisions"][0]["candidates"] == [f"a/m-{number}-0", f"a/m-{number}-1"]
    served = sorted(text_of(reply).partition(" ")[0] for reply in replies)
    assert served == sorted(record["attempts"][0]["target_id"].removeprefix("a/") for record in records)
    assert results == {
        '{result="ok"}': RELOADS,
        '{result="unchanged"}': 0,
        '{result="refused"}': RELOADS // BROKEN_EVERY,
    }


def groups_alive() -> set[str]:
    """Groups of this test, by their first target."""
    gc.collect()
    groups = [found for found in gc.get_objects() if type(found) is ModelGroup]
    return {first for found in groups if (first := found.members[0].target.id).startswith("a/m-")} - {"a/m-a"}


def models(number: int) -> dict[str, object]:
    return {"chat": {"strategy": "round_robin", "targets": [{"model": f"a/m-{number}-{n}"} for n in range(2)]}}


@pytest.mark.case("I16")
def test_stream_that_is_in_flight_ends_under_the_configuration_it_began_with(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[Reply, Reply, list[dict[str, Any]]]:
        async with (
            FakeProvider(name="a", default=Chat("one two three four", gap_s=0.1)) as a,
            FakeProvider(name="b", default=Chat("from b")) as b,
            gateway(a, b, groups={"chat": group(a)}, provider_fields={"a": KEEPS_CONNECTIONS}) as gw,
            await Wire.open(gw.base_url) as wire,
        ):
            wire.send(chat_request("chat", stream=True))
            await wire.received_bytes(1)
            await gw.reload(providers={"b": {"kind": "vllm", "base_url": b.base_url}}, models={"chat": group(b)})
            other = await ask(gw.base_url, chat_request("chat"))
            first = await wire.reply()
            wire.close()
            await a.until(lambda: a.open_connections == 0, patience_s=5)  # its provider is gone
            await eventually(lambda: set(gw.app.board._targets) == {found.state_key for found in gw.app._targets()})
            return first, other, await gw.records()

    first, other, records = run(scenario())

    assert (text_of(first), text_of(other)) == ("one two three four", "from b")
    assert {(record["config_version"], record["attempts"][0]["target_id"]) for record in records} == {
        (1, "a/m-a"),
        (2, "b/m-b"),
    }


@pytest.mark.req("R-034")
def test_connections_of_an_unchanged_provider_are_used_on(run: Any, gateway: Any) -> None:
    async def scenario() -> int:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            for weight in range(1, 4):
                await ask(gw.base_url, chat_request("chat"))
                await gw.reload(models={"chat": weighted([a], [weight])})
            return a.connections_accepted

    assert run(scenario()) == 1


@pytest.mark.bug("J-09")
def test_rotated_key_is_used_by_the_next_request_on_a_connection_of_its_own(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[list[tuple[bytes | None, int]], float, float]:
        def judge(received: Received) -> Chat | Status:
            is_good = received.header("authorization") == b"Bearer key-2"
            return Chat("ok") if is_good else Status(401, {"code": "invalid_api_key"})

        async with FakeProvider(name="a", answer_for=judge) as a, FakeProvider(name="b") as b:
            async with gateway(a, b, provider_fields={"a": {"api_key": "key-1"}}) as gw:
                await ask(gw.base_url, chat_request("chat"))
                before = gw.breaker("a/m-a")
                await gw.reload(
                    providers={
                        "a": {"kind": "vllm", "base_url": a.base_url, "api_key": "key-2"},
                        "b": {"kind": "vllm", "base_url": b.base_url},
                    }
                )
                await ask(gw.base_url, chat_request("chat"))
                await a.until(lambda: a.open_connections == 1)
                seen = [(received.header("authorization"), received.connection) for received in a.log]
                return seen, before, gw.breaker("a/m-a")

    assert run(scenario()) == ([(b"Bearer key-1", 1), (b"Bearer key-2", 2)], 1, 0)


@pytest.mark.req("R-034", "X-09")
@pytest.mark.bug("P-6", "A-23")
def test_pause_of_an_unchanged_target_goes_on_in_a_reordered_group(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[list[float], int]:
        async with (
            FakeProvider(name="a", default=Status(429, retry_after=60)) as a,
            FakeProvider(name="b") as b,
            gateway(a, b) as gw,
        ):
            await ask(gw.base_url, chat_request("chat"))
            await gw.reload(models={"chat": group(b, a, on_all_unavailable="refuse")})
            await ask(gw.base_url, chat_request("chat"))
            return [gw.breaker("a/m-a"), gw.breaker("b/m-b")], len(a.log)

    assert run(scenario()) == ([1, 0], 1)


# --- settings that change while the process runs


async def status_of(gw: Gateway) -> dict[str, Any]:
    found: dict[str, Any] = (await ask(gw.admin_url, b"GET /api/v1/status HTTP/1.1\r\nhost: localhost\r\n\r\n")).json()
    return found


LISTEN = {"listen": "127.0.0.1:0", "admin_listen": "127.0.0.1:0"}


@pytest.mark.bug("J-03")
def test_limits_and_headers_of_the_caller_side_change_while_it_runs(run: Any, gateway: Any) -> None:
    async def scenario() -> list[Any]:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            found: list[Any] = [(await ask(gw.base_url, chat_request("chat"))).header("x-pointsman-target")]
            await gw.reload(server={**LISTEN, "response_headers": "minimal"})
            found.append((await ask(gw.base_url, chat_request("chat"))).header("x-pointsman-target"))
            await gw.reload(server={**LISTEN, "limits": {"body": 10}})
            found.append((await ask(gw.base_url, chat_request("chat"))).status)
            await gw.reload(server={**LISTEN, "limits": {"connections": 1}})
            async with await Wire.open(gw.base_url):
                await eventually(lambda: gw.callers == 1)
                found.append((await ask(gw.base_url, chat_request("chat"))).status)
            return found

    assert run(scenario()) == [b"a/m-a", None, 413, 503]


@pytest.mark.bug("J-03")
def test_drain_time_changes_while_it_runs(run: Any, gateway: Any) -> None:
    async def scenario() -> float:
        loop = asyncio.get_running_loop()
        async with FakeProvider(name="a", default=Chat("slow", delay_s=20)) as a, gateway(a) as gw:
            async with await Wire.open(gw.base_url) as wire:
                wire.send(chat_request("chat"))
                await a.until(lambda: len(a.log) == 1)
                await gw.reload(server={**LISTEN, "drain": "50ms"})
                began = loop.time()
                await gw.stop_now()
                return loop.time() - began

    assert run(scenario()) < 5


@pytest.mark.bug("J-03")
def test_log_level_and_log_of_requests_change_while_it_runs(
    run: Any, gateway: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            await gw.reload(logs={"requests": True, "level": "info"})
            await ask(gw.base_url, chat_request("chat"))
            await gw.quiet()
            gw.metrics()
            await gw.reload(logs={"requests": True, "level": "error"})
            await ask(gw.base_url, chat_request("chat"))
            await gw.quiet()
            gw.metrics()

    run(scenario())

    assert [record.getMessage() for record in caplog.records].count("request") == 1
    assert logging.getLogger().level == logging.ERROR


@pytest.mark.bug("J-03")
def test_disk_used_by_records_changes_while_it_runs(run: Any, gateway: Any) -> None:
    async def scenario() -> bool:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            path = gw.file.with_name(DECISIONS_FILE)
            await gw.reload(records={"decisions": {"path": str(path), "max_bytes": 100}})
            await ask(gw.base_url, chat_request("chat"))
            await gw.stop()
            return path.with_name(f"{DECISIONS_FILE}.1").exists()

    assert run(scenario()) is True


@pytest.mark.bug("J-03")
def test_timeouts_change_while_it_runs(run: Any, gateway: Any) -> None:
    async def scenario() -> int:
        async with FakeProvider(name="a", default=Chat("slow", delay_s=20)) as a, gateway(a) as gw:
            await gw.reload(timeouts={"total": "100ms"})
            return (await ask(gw.base_url, chat_request("chat"))).status

    assert run(scenario()) == 504


def test_status_tells_what_runs_and_what_came_of_the_last_reload(run: Any, gateway: Any) -> None:
    async def scenario() -> list[dict[str, Any]]:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            found = [await status_of(gw)]
            await gw.reload(server={**LISTEN, "listen": "127.0.0.1:9"}, cooldown={"base": "1s"})
            found.append(await status_of(gw))
            await gw.reload("version: 1\n")
            return [*found, await status_of(gw)]

    first, changed, refused = run(scenario())

    assert (first["config_version"], first["last_reload"], first["draining"]) == (1, None, False)
    assert first["uptime_s"] >= 0
    assert first["core"] == core()
    assert (changed["config_version"], changed["needs_restart"]) == (2, ["server.listen"])
    assert changed["last_reload"]["result"] == "ok"
    assert (refused["config_version"], refused["last_reload"]["result"]) == (2, "refused")
    assert refused["config_loaded_at"] == changed["config_loaded_at"]
    assert "auth" in refused["last_reload"]["problems"][0]


@pytest.mark.slow
def test_largest_file_is_read_without_holding_up_the_loop(run: Any, gateway: Any) -> None:
    """The best of many rounds: others use this machine, too, but work on the loop would show in every round."""

    async def scenario() -> list[float]:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            lags: list[float] = []
            for number in range(20):
                text = gw.text(models=large(number))
                lag = asyncio.create_task(longest_lag(gw.app._reloader.last, gw))
                await asyncio.sleep(0)
                assert await gw.reload(text) == "ok"
                lags.append(await lag)
            return lags

    assert min(run(scenario())) < LAG_LIMIT_S


async def longest_lag(before: object, gw: Gateway) -> float:
    """Seconds by which the loop was late at worst, until a reload is over and a little longer."""
    loop, longest, rest = asyncio.get_running_loop(), 0.0, 10
    while rest:
        due = loop.time() + 0.001
        await asyncio.sleep(0.001)
        longest = max(longest, loop.time() - due)
        rest -= gw.app._reloader.last is not before
    return longest


def large(number: int) -> dict[str, object]:
    return {
        f"group-{each}": {"targets": [{"model": f"a/m-{number}-{each}-{n}", "weight": n + 1} for n in range(10)]}
        for each in range(LARGE_GROUPS)
    }
