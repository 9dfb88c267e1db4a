"""Callers that lie about where a request ends, who they are, or how much they will send and read."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pointsman.testing import Chat, FakeProvider, keys, stream_of
from pointsman.testing.wire import (
    Reply,
    Wire,
    chat_request,
    completions_request,
    messages_request,
    post,
    responses_request,
)
from tests.integration.callers import ask, text_of
from tests.integration.harness import Gateway, eventually, group, raw_server
from tests.integration.world import World

PATH = "/v1/chat/completions"
GOOD = "pm_good"
AUTH = keys.section(keys.declaration(GOOD, name="good"))
BODY = b'{"model":"chat","messages":[]}'
MARKER = b"GET /v1/models/marker HTTP/1.1\r\nhost: test\r\nx-request-id: marker\r\n\r\n"


def head(*lines: bytes, path: bytes = PATH.encode(), method: bytes = b"POST", version: bytes = b"1.1") -> bytes:
    return b"\r\n".join((b"%b %b HTTP/%b" % (method, path, version), b"host: test", *lines, b"", b""))


async def all_of(gw: Gateway, raw: bytes, *, one_byte_at_a_time: bool = False) -> bytes:
    """Everything that the gateway says to these bytes, until it closes or falls silent."""
    async with await Wire.open(gw.base_url) as wire:
        for piece in [raw[at : at + 1] for at in range(len(raw))] if one_byte_at_a_time else [raw]:
            if wire.ended is not None:
                break
            wire.send(piece)
            await asyncio.sleep(0)
        while not await wire.is_silent(0.15) and wire.ended is None:
            pass
        return bytes(wire.received)


# --- where a request ends

SMUGGLED: dict[str, bytes] = {
    "length and coding": head(b"content-length: 4", b"transfer-encoding: chunked") + b"0\r\n\r\n" + MARKER,
    "coding and length": head(b"transfer-encoding: chunked", b"content-length: 60") + b"0\r\n\r\n" + MARKER,
    "length of zero and coding": head(b"content-length: 0", b"transfer-encoding: chunked") + MARKER,
    "two lengths": head(b"content-length: 0", b"content-length: %d" % len(MARKER)) + MARKER,
    "coding hidden by a space": head(b"transfer-encoding : chunked", b"content-length: 5") + b"0\r\n\r\n" + MARKER,
    "coding hidden by a line": head(b"transfer-encoding:\r\n chunked", b"content-length: 5") + b"0\r\n\r\n" + MARKER,
    "coding that is not one": head(b"transfer-encoding: xchunked", b"content-length: 5") + b"0\r\n\r\n" + MARKER,
    "coding without a length": head(b"transfer-encoding: identity") + MARKER,
    "coding on HTTP/1.0": head(b"transfer-encoding: chunked", version=b"1.0") + b"0\r\n\r\n" + MARKER,
    "chunk that ends in LF": head(b"transfer-encoding: chunked") + b"1\nZ\n0\n\n" + MARKER,
    "chunk of a negative size": head(b"transfer-encoding: chunked") + b"-1\r\n" + MARKER,
    "chunk whose size overflows": head(b"transfer-encoding: chunked") + b"100000000\r\n" + MARKER,
    "trailers that are a request": head(b"transfer-encoding: chunked") + b"0\r\n" + MARKER + b"\r\n",
    "expectation hidden by another": head(b"expect: 100-continue, x", b"content-length: 5") + MARKER,
    "expectation hidden by a tab": head(b"expect:\t100-continue\x0b", b"content-length: 5") + MARKER,
    "body longer than the limit": head(b"content-length: 99999999999") + MARKER,
    "request line within a header": head(b"x: y\n" + MARKER),
    "absolute form": head(path=b"http://evil.example/", method=b"GET") + MARKER,
}  # fmt: skip


@pytest.mark.case("T54", "T52")
@pytest.mark.parametrize("one_byte_at_a_time", [False, True], ids=["at once", "byte by byte"])
def test_no_request_is_smuggled_in_behind_one_that_is_refused(
    run: Any, gateway: Any, *, one_byte_at_a_time: bool
) -> None:
    async def scenario() -> dict[str, bytes]:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            sent = [all_of(gw, raw, one_byte_at_a_time=one_byte_at_a_time) for raw in SMUGGLED.values()]
            answers = dict(zip(SMUGGLED, await asyncio.gather(*sent), strict=True))
            assert a.log == []
            return answers

    for name, answer in run(scenario()).items():
        assert answer.count(b"HTTP/1.1 ") == 1, name
        assert answer[9:10] in b"45", name
        assert b"marker" not in answer.lower(), name


UNREAD: dict[str, bytes] = {
    "no such path": head(b"content-length: %d" % len(MARKER), path=b"/v1/nowhere"),
    "wrong method": head(b"content-length: %d" % len(MARKER), path=b"/v1/models", method=b"DELETE"),
    "a body of a GET": head(b"content-length: %d" % len(MARKER), path=b"/v1/models", method=b"GET"),
    "a body of a probe": head(b"content-length: %d" % len(MARKER), path=b"/livez", method=b"GET"),
    "a body that is no JSON": head(b"content-length: %d" % len(MARKER)),
}


@pytest.mark.case("T54")
@pytest.mark.parametrize("raw", UNREAD.values(), ids=UNREAD)
def test_a_body_that_nobody_wants_is_never_read_as_a_request(run: Any, gateway: Any, raw: bytes) -> None:
    last = b"GET /livez HTTP/1.1\r\nhost: test\r\n\r\n"

    async def scenario() -> bytes:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            return await all_of(gw, raw + MARKER + last)

    answer = run(scenario())

    assert b"marker" not in answer.lower()
    assert answer.count(b"HTTP/1.1 ") == 2
    assert answer.endswith(b"ok\n")


@pytest.mark.case("T54")
def test_an_answer_before_the_body_ends_the_connection(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[int, bytes, str]:
        async with FakeProvider(name="a") as a, gateway(a, auth=AUTH) as gw, await Wire.open(gw.base_url) as wire:
            wire.send(head(b"content-length: 100000", b"x-api-key: wrong") + BODY)
            reply = await wire.reply()
            wire.send(MARKER)
            return reply.status, bytes(wire.received), await wire.end()

    status, received, end = run(scenario())

    assert (status, end) == (401, "fin")
    assert received.count(b"HTTP/1.1 ") == 1


# --- who asks, and for what

LIES = (
    ("x-forwarded-for", "127.0.0.1"), ("x-forwarded-host", "localhost"), ("x-forwarded-proto", "https"),
    ("x-forwarded-port", "4001"), ("x-forwarded-prefix", "/admin"), ("x-forwarded-server", "localhost"),
    ("x-forwarded-uri", "/livez"), ("x-forwarded-method", "GET"), ("forwarded", "for=127.0.0.1;host=localhost"),
    ("x-real-ip", "127.0.0.1"), ("x-client-ip", "127.0.0.1"), ("true-client-ip", "127.0.0.1"),
    ("cf-connecting-ip", "127.0.0.1"), ("x-cluster-client-ip", "127.0.0.1"), ("x-original-url", "/livez"),
    ("x-original-host", "localhost"), ("x-original-uri", "/livez"), ("x-rewrite-url", "/livez"),
    ("x-http-method-override", "GET"), ("x-http-method", "GET"), ("x-method-override", "GET"),
    ("x-host", "localhost"), ("x-remote-user", "admin"), ("remote-user", "admin"), ("x-authenticated-user", "admin"),
    ("x-ssl-client-verify", "SUCCESS"), ("x-custom-ip-authorization", "127.0.0.1"), ("via", "1.1 localhost"),
    ("proxy-authorization", f"Bearer {GOOD}"), ("cookie", f"key={GOOD}"),
)  # fmt: skip
HOSTS = (b"localhost", b"127.0.0.1:4001", b"[::1]", b"evil.example", b"A.EXAMPLE.:80")
BAD_HOSTS = (
    b"",
    b"a b",
    b"a/b?x#",
    b"a@b",
    b"http://a",
    b"a,b",
    b"a:b",
    b"a:1:2",
    b"[::1",
    b"a\\b",
    b"a?b",
    b"a#b",
    b"*",
)


@pytest.mark.case("T57")
def test_no_header_says_who_asks_but_the_key(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[set[int], set[int]]:
        async with FakeProvider(name="a") as a, gateway(a, auth=AUTH) as gw:
            without = {(await ask(gw.base_url, post(PATH, BODY, (lie,)))).status for lie in LIES}
            own = ("authorization", f"Bearer {GOOD}")
            with_key = {(await ask(gw.base_url, post(PATH, BODY, (lie, own)))).status for lie in LIES}
            return without, with_key

    assert len(LIES) == 30
    assert run(scenario()) == ({401}, {200})


@pytest.mark.case("T57")
def test_a_host_decides_nothing_and_a_bad_one_is_refused(run: Any, gateway: Any) -> None:
    def to(host: bytes, key: bytes) -> bytes:
        lines = b"host: %b\r\nx-api-key: %b\r\nconnection: close\r\ncontent-length: %d" % (host, key, len(BODY))
        return b"POST %b HTTP/1.1\r\n%b\r\n\r\n%b" % (PATH.encode(), lines, BODY)

    async def scenario() -> list[set[int]]:
        async with FakeProvider(name="a") as a, gateway(a, auth=AUTH) as gw:
            good, wrong = GOOD.encode(), b"pm_wrong"
            cases = ((HOSTS, good), (HOSTS, wrong), (BAD_HOSTS, good))
            return [{(await ask(gw.base_url, to(host, key))).status for host in hosts} for hosts, key in cases]

    assert run(scenario()) == [{200}, {401}, {400}]


@pytest.mark.case("T36", "I20")
def test_ids_that_two_callers_share_share_nothing_else(run: Any, gateway: Any) -> None:
    auth = keys.section(keys.declaration("pm_one", name="one"), keys.declaration("pm_two", name="two"))
    shared = (("x-request-id", "same"), ("idempotency-key", "same"), ("x-pointsman-session", "same"))

    def by(key: str, text: str) -> bytes:
        own = (("x-api-key", key), *shared)
        return chat_request("chat", headers=own, messages=[{"role": "user", "content": text}])

    async def scenario() -> tuple[list[str], list[tuple[str, str]]]:
        async with FakeProvider(name="a") as a, gateway(a, auth=auth) as gw:
            a.answer_for = lambda got: Chat(json.loads(got.body)["messages"][0]["content"])
            said = [text_of(await ask(gw.base_url, by(f"pm_{name}", name))) for name in ("one", "two", "one")]
            return said, [(record["caller"], record["request_id"]) for record in await gw.records()]

    said, records = run(scenario())

    assert said == ["one", "two", "one"]
    assert records == [("one", "same"), ("two", "same"), ("one", "same")]


# --- what must not get out

CONTROLS = "".join(map(chr, (*range(32), *range(127, 160), 0x2028, 0x2029, 0x202E, 0x200B, 0xFEFF)))
NASTY = st.text(alphabet=st.sampled_from(CONTROLS + "aZ0-_:/é北\\\"'%{}"), max_size=40)
BYTES = st.binary(max_size=40).map(lambda raw: bytes(byte for byte in raw if byte >= 0x20 and byte != 0x7F))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World() as world:
        yield world


def raw_controls(head_bytes: bytes) -> set[int]:
    """Control bytes in a head, but for the ends of its lines."""
    return {byte for byte in head_bytes.replace(b"\r\n", b"") if byte < 0x20 or 0x7F <= byte < 0xA0}


def request_heads(world: World) -> bytes:
    return b"".join(b"%b: %b\r\n" % line for received in world.a.log for line in received.headers)


@pytest.mark.bug("N-10")
@pytest.mark.case("T62")
@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.tuples(NASTY, NASTY, NASTY, NASTY), values=st.tuples(BYTES, BYTES, BYTES, BYTES))
def test_nothing_that_a_caller_names_breaks_a_line_or_a_terminal(
    world: World, capfd: pytest.CaptureFixture[str], texts: tuple[str, ...], values: tuple[bytes, ...]
) -> None:
    model, user, tag, tool = texts
    body = {
        "model": "chat", "user": user, "metadata": {tag: tag},
        "tools": [{"type": "function", "function": {"name": tool}}], "messages": [],
    }  # fmt: skip
    names = b"traceparent", b"x-request-id", b"openai-beta", b"x-pointsman-session"
    lines = b"".join(b"%b: %b\r\n" % line for line in zip(names, values, strict=True))
    requests = [post(PATH, json.dumps(each).encode()) for each in (body, {**body, "model": model})]
    world.a.log.clear()

    for request in requests:
        reply = world.exchange(request.replace(b"host: test\r\n", b"host: test\r\n" + lines, 1))
        answer = b"".join(b"%b: %b\r\n" % line for line in reply.headers)
        assert not raw_controls(answer)
        assert json.loads(reply.body)
    assert not raw_controls(request_heads(world))
    said = capfd.readouterr()
    assert not {character for character in said.out + said.err if character in CONTROLS} - {"\n"}


# --- too much of everything

BOMBS: dict[str, bytes] = {
    "lists": b'{"model":"chat","messages":[%b[]]}' % (b"[]," * 3_300_000),
    "objects as tools": b'{"model":"chat","messages":[],"tools":[%b{}]}' % (b"{}," * 3_300_000),
    "fields": b'{"model":"chat",%b}' % b",".join(b'"%d":0' % number for number in range(1_000_000)),
    "levels": b'{"model":"chat","messages":%b' % (b"[" * 10_000_000),
    "a picture": b'{"model":"chat","messages":[{"role":"user","content":"%b"}]}' % (b"A" * 31_000_000),
    "numbers": b'{"model":"chat","messages":[],"x":[%b1]}' % (b"1," * 5_000_000),
}
PASSING = {"a picture", "numbers"}
LAG_S = 0.15


@pytest.mark.case("T60", "I24")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_of_json_holds_nobody_up(run: Any, gateway: Any, name: str) -> None:
    """What is received is put together in one turn, and read in another: each of them is short."""
    longest_s = 0.0

    async def feel() -> None:
        nonlocal longest_s
        while True:
            began = time.thread_time()
            await asyncio.sleep(0)
            longest_s = max(longest_s, time.thread_time() - began)

    async def scenario() -> int:
        async with FakeProvider(name="a") as a, gateway(a) as gw, await Wire.open(gw.base_url) as wire:
            feeling = asyncio.create_task(feel())
            wire.send(post(PATH, BOMBS[name]))
            status = (await wire.reply(20.0)).status
            feeling.cancel()
            await asyncio.wait((feeling,))
            return status

    assert run(scenario()) == (200 if name in PASSING else 400)
    assert longest_s < 4 * LAG_S  # caller, gateway and provider share this loop; seconds without the limits


NESTED = {
    "an unknown field": (PATH, '{"model":"chat","x":%s}'),
    "messages": (PATH, '{"model":"chat","messages":%s}'),
    "content": (PATH, '{"model":"chat","messages":[{"role":"user","content":%s}]}'),
    "preferences": (PATH, '{"model":"chat","provider":{"order":%s}}'),
    "input": ("/v1/responses", '{"model":"chat","input":%s}'),
    "system": ("/v1/messages", '{"model":"chat","system":%s}'),
    "to be counted": ("/v1/messages/count_tokens", '{"model":"chat","messages":%s}'),
}


@pytest.mark.case("T60")
@pytest.mark.parametrize(("path", "form"), NESTED.values(), ids=NESTED)
def test_a_body_nested_almost_too_deeply_is_never_a_fault_of_ours(run: Any, gateway: Any, path: str, form: str) -> None:
    async def scenario() -> set[int]:
        async with raw_server(unread) as a:
            async with gateway(a, groups={"chat": group(a, strategy="adaptive")}, adaptive={"enabled": True}) as gw:
                depths = (*range(850, 1_000), 100_000)  # what is left of the stack depends on who runs this
                bodies = [(form % ("[" * depth + "]" * depth)).encode() for depth in depths]
                return {(await ask(gw.base_url, post(path, body))).status for body in bodies}

    statuses = run(scenario())

    assert 500 not in statuses
    assert 400 in statuses


async def unread(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A provider that answers without a look at the body: our own would find it nested too deeply."""
    while await reader.read(1 << 16):
        writer.write(b"HTTP/1.1 400 No\r\ncontent-length: 2\r\n\r\n{}")
    writer.close()


@pytest.mark.case("T32", "T69", "I25")
def test_callers_that_do_not_read_hold_little_and_pause_their_providers(run: Any, gateway: Any) -> None:
    callers, event = 20, b"x" * 10_000
    answer = stream_of(*[event.decode()] * 1_000)  # ten megabytes

    async def scenario() -> tuple[int, int, int]:
        async with FakeProvider(name="a", default=answer) as a, gateway(a) as gw:
            wires = [await Wire.open(gw.base_url) for _ in range(callers)]
            for wire in wires:
                wire.send(chat_request("chat", stream=True))
                wire.pause()
            await eventually(lambda: sum(each.is_reading_paused for each in upstreams(gw)) == callers)
            held = [each._transport.get_write_buffer_size() for each in gw.app._edge.connections]
            limit = gw.app._edge.limits.write_buffer_bytes
            for wire in wires:
                wire.reset()
            await a.until(lambda: a.open_connections == 0)
            return max(held), limit, len(a.log)

    held, limit, calls = run(scenario())

    assert calls == callers
    assert held < limit + 300_000  # and what was read from the provider at once


def upstreams(gw: Gateway) -> list[Any]:
    """Connections to providers that carry an answer."""
    return [each for each in gw.app._watchdog._watched if getattr(each, "_receiver", None) is not None]


# --- too many callers


@pytest.mark.case("T70")
@pytest.mark.bug("B-14", "L-09")
def test_probes_pass_while_callers_are_told_that_there_are_too_many(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[Reply, Reply, int, int]:
        async with FakeProvider(name="a") as a, gateway(a, server={"limits": {"connections": 2}}) as gw:
            async with await Wire.open(gw.base_url), await Wire.open(gw.base_url):
                await eventually(lambda: gw.callers == 2)
                refused = await ask(gw.base_url, chat_request("chat"))
                in_messages = await ask(gw.base_url, messages_request("chat"))
                probe = await ask(gw.base_url, b"GET /readyz HTTP/1.1\r\nhost: test\r\n\r\n")
            await eventually(lambda: gw.callers == 0)
            return refused, in_messages, probe.status, (await ask(gw.base_url, chat_request("chat"))).status

    refused, in_messages, probe, later = run(scenario())

    assert (refused.status, refused.header("retry-after"), refused.json()["error"]["code"]) == (503, b"1", "overloaded")
    assert (in_messages.status, in_messages.json()["error"]["type"]) == (529, "overloaded_error")
    assert (probe, later) == (200, 200)


@pytest.mark.case("T70")
def test_strangers_make_room_and_callers_with_keys_stay(run: Any, gateway: Any) -> None:
    limits = {"limits": {"strangers_per_address": 2}}
    wrong, own = (("x-api-key", "pm_wrong"),), (("x-api-key", GOOD),)

    async def scenario() -> tuple[int, int, int]:
        async with FakeProvider(name="a") as a, gateway(a, auth=AUTH, server=limits) as gw:
            strangers = [await Wire.open(gw.base_url) for _ in range(4)]
            for wire in strangers[:2]:
                wire.send(post(PATH, BODY, wrong))
            callers = [await Wire.open(gw.base_url) for _ in range(5)]
            for wire in callers:
                wire.send(post(PATH, BODY, own))
                await wire.reply()
            await eventually(lambda: sum(wire.ended is not None for wire in strangers) == 2)
            for wire in callers:
                wire.send(post(PATH, BODY, own))
            statuses = {(await wire.reply()).status for wire in callers}
            left = gw.callers
            for wire in (*callers, *strangers):
                wire.close()
            return left, len(statuses), statuses.pop()

    assert run(scenario()) == (7, 1, 200)


# --- names that look alike

LOOKALIKES = (
    "\u0441hat",
    "\uff43hat",
    "chat\u200b",
    "\u202echat",
    "cha\u0074\u0301",
    "CHAT",
    "chat ",
    "\ufeffchat",
    "chat\x00",
)


@pytest.mark.case("T63")
@pytest.mark.parametrize("name", LOOKALIKES)
def test_a_name_that_looks_like_a_model_is_not_it(world: World, name: str) -> None:
    before = len(world.a.log)

    for request in (chat_request(name), messages_request(name), responses_request(name), completions_request(name)):
        assert world.exchange(request).status == 404

    assert len(world.a.log) == before
