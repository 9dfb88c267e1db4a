import asyncio
import logging
import math
import socket
import sys
from collections.abc import Callable

import pytest

from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.http1.door import Request
from pointsman.http1.limits import KIB
from pointsman.http1.reply import Reply
from pointsman.http1.request_reader import ReadPhase
from pointsman.http1.server import EdgeServer, _address, _is_local
from pointsman.testing.wire import Wire
from tests.unit.http1.edge import LIMITS, Door, Flood, Gate, Run, Stubborn, Stuck, dial, echo, edge, until
from tests.unit.http1.heads import MUST_REFUSE, get, head, post

SOON_S = 0.03
SMALL = 128 * KIB  # of the kernel, per connection: less than two segments of the loopback would crawl
CLOSING = get(b"Connection: close")

LEAVE: dict[str, Callable[[Wire], None]] = {"FIN": Wire.close, "RST": Wire.reset, "half-close": Wire.half_close}


def ask(path: bytes, *headers: bytes) -> bytes:
    return head(b"GET " + path + b" HTTP/1.1", b"Host: a", *headers)


def count(server: EdgeServer) -> int:
    return len(server.connections)


# --- requests and answers


def test_a_connection_serves_one_request_after_the_other(run: Run) -> None:
    async def scenario() -> list[bytes]:
        async with edge(echo) as server, await dial(server) as wire:
            bodies = []
            for path in (b"/1", b"/2", b"/3"):
                wire.send(ask(path))
                bodies.append((await wire.reply()).body)
            return bodies

    assert run(scenario()) == [b"GET /1 ", b"GET /2 ", b"GET /3 "]


def test_a_request_may_arrive_byte_by_byte(run: Run) -> None:
    async def scenario() -> bytes:
        async with edge(echo) as server, await dial(server) as wire:
            for byte in post(b"Content-Length: 3", body=b"abc"):
                wire.send(bytes((byte,)))
                await asyncio.sleep(0)
            return (await wire.reply()).body

    assert run(scenario()) == b"POST / abc"


def test_an_answer_carries_the_date(run: Run) -> None:
    async def scenario() -> bytes | None:
        async with edge(echo) as server, await dial(server) as wire:
            wire.send(get())
            return (await wire.reply()).header("date")

    date = run(scenario())

    assert date.endswith(b" GMT")
    assert len(date) == 29


def test_a_handler_learns_when_the_first_byte_came(run: Run) -> None:
    seen: list[float] = []

    async def note(request: Request, reply: Reply) -> None:
        seen.append(request.received_at)
        reply.send(204, b"", b"")

    async def scenario() -> tuple[float, float]:
        loop = asyncio.get_running_loop()
        async with edge(note) as server, await dial(server) as wire:
            wire.send(get()[:10])
            await until(lambda: any(c._received_at for c in server.connections))
            began = loop.time()
            wire.send(get()[10:])
            await wire.reply()
            return seen[0], began

    received_at, began = run(scenario())

    assert 0 < received_at <= began


@pytest.mark.case("T56")
def test_an_idle_connection_keeps_no_body(run: Run) -> None:
    bodies: list[bytes] = []

    async def note(request: Request, reply: Reply) -> None:
        bodies.append(request.body)
        reply.send(204, b"", b"")

    async def scenario() -> int:
        async with edge(note) as server, await dial(server) as wire:
            wire.send(post(b"Content-Length: 9", body=b"a" * 9))
            await wire.reply()
            return sys.getrefcount(bodies[0])

    assert run(scenario()) == 2  # the list's, and the argument of the count itself


def test_pipelined_requests_are_answered_in_order(run: Run) -> None:
    async def scenario() -> list[bytes]:
        async with edge(echo) as server, await dial(server) as wire:
            wire.send(b"".join(ask(b"/%d" % at) for at in range(200)))
            return [(await wire.reply()).body for _ in range(200)]

    assert run(scenario()) == [b"GET /%d " % at for at in range(200)]


def test_a_pipelined_request_waits_for_the_answer_before_it(run: Run) -> None:
    async def scenario() -> tuple[list[str], list[bytes]]:
        gate = Gate()
        async with edge(gate) as server, await dial(server) as wire:
            wire.send(ask(b"/1") + ask(b"/2"))
            await until(lambda: bool(gate.paths))
            wire.send(ask(b"/3"))
            during = list(gate.paths)
            gate.open.set()
            return during, [(await wire.reply()).body for _ in range(3)]

    assert run(scenario()) == (["/1"], [b"GET /1 ", b"GET /2 ", b"GET /3 "])


@pytest.mark.case("T56")
def test_requests_sent_ahead_are_held_up_to_a_bound(run: Run) -> None:
    async def scenario() -> tuple[int, int]:
        gate = Gate()
        async with edge(gate, pipelined_bytes=4 * KIB) as server, await dial(server) as wire:
            wire.send(ask(b"/x") * 200_000)
            await until(lambda: bool(gate.paths))
            connection = next(iter(server.connections))
            await until(lambda: not connection._transport.is_reading())
            held = connection._reader.held_bytes
            wire.reset()
            gate.open.set()
            return held, len(gate.paths)

    held, handled = run(scenario())

    assert held <= 4 * KIB + 512 * KIB  # one read of the loop goes beyond it
    assert handled == 1


@pytest.mark.case("T56")
def test_ten_thousand_requests_sent_at_once_are_all_answered(run: Run) -> None:
    async def scenario() -> bytes:
        async with edge(echo) as server, await dial(server) as wire:
            wire.send(b"".join(ask(b"/%d" % at) for at in range(10_000)))
            for _ in range(9_999):
                await wire.reply()
            return (await wire.reply()).body

    assert run(scenario()) == b"GET /9999 "


def test_a_caller_that_does_not_read_gets_no_further_answers(run: Run) -> None:
    handled: list[str] = []

    async def big(request: Request, reply: Reply) -> None:
        handled.append(request.head.path)
        reply.send(200, b"", b"x" * 512 * KIB)

    async def scenario() -> tuple[int, int]:
        async with edge(big, send_buffer_bytes=SMALL) as server, await dial(server) as wire:
            wire.pause()
            wire.send(get() * 40)
            await until(lambda: count(server) == 1)
            connection = next(iter(server.connections))
            await until(connection._is_caller_behind)
            await wire.is_silent(SOON_S)
            behind = len(handled)
            wire.resume()
            for _ in range(40):
                await wire.reply()
            return behind, len(handled)

    behind, handled_at_the_end = run(scenario())

    assert behind < 10
    assert handled_at_the_end == 40


def test_a_request_that_comes_while_the_caller_is_behind_is_answered_later(run: Run) -> None:
    async def big(request: Request, reply: Reply) -> None:
        reply.send(200, b"", b"x" * 2_048 * KIB)

    async def scenario() -> list[int]:
        async with edge(big, send_buffer_bytes=SMALL) as server, await dial(server) as wire:
            wire.pause()
            wire.send(get())
            await until(lambda: any(c._is_caller_behind() for c in server.connections))
            wire.send(get())
            await wire.is_silent(SOON_S)
            wire.resume()
            return [len((await wire.reply()).body) for _ in range(2)]

    assert run(scenario()) == [2_048 * KIB] * 2


@pytest.mark.parametrize(
    ("request_", "is_kept", "announced"),
    [
        (get(), True, None),
        (CLOSING, False, b"close"),
        (head(b"GET / HTTP/1.0", b"Host: a"), False, b"close"),
        (head(b"GET / HTTP/1.0", b"Host: a", b"Connection: keep-alive"), True, b"keep-alive"),
    ],
    ids=["1.1", "1.1 close", "1.0", "1.0 keep-alive"],
)
def test_the_connection_is_kept_if_the_caller_wants_it(
    run: Run, request_: bytes, is_kept: bool, announced: bytes | None
) -> None:
    async def scenario() -> bytes | None:
        async with edge(echo) as server, await dial(server) as wire:
            wire.send(request_)
            reply = await wire.reply()
            if is_kept:
                wire.send(get())
                await wire.reply()
            else:
                assert await wire.end() == "fin"
            return reply.header("connection")

    assert run(scenario()) == announced


@pytest.mark.parametrize(
    ("version", "framing"),
    [(b"1.1", (b"chunked", b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")), (b"1.0", (None, b"abc"))],
)
def test_a_streamed_answer_is_framed_as_the_caller_can_read_it(
    run: Run, version: bytes, framing: tuple[bytes | None, bytes]
) -> None:
    async def stream(request: Request, reply: Reply) -> None:
        reply.start(200, b"x: y\r\n")
        reply.write(b"ab")
        reply.write(b"c")
        reply.finish()

    async def scenario() -> tuple[bytes, bytes]:
        async with edge(stream) as server, await dial(server) as wire:
            wire.send(head(b"GET / HTTP/" + version, b"Host: a", b"Connection: close"))
            assert await wire.end() == "fin"
            before, _, body = bytes(wire.received).partition(b"\r\n\r\n")
            return before, body

    before, body = run(scenario())

    assert body == framing[1]
    assert (b"transfer-encoding: chunked" in before) is (framing[0] is not None)
    assert b"content-length" not in before


def test_the_answer_to_head_has_a_length_and_no_body(run: Run) -> None:
    async def scenario() -> bytes:
        async with edge(echo) as server, await dial(server) as wire:
            wire.send(head(b"HEAD / HTTP/1.1", b"Host: a", b"Connection: close"))
            assert await wire.end() == "fin"
            return bytes(wire.received)

    received = run(scenario())

    assert b"content-length: 7\r\n" in received
    assert received.endswith(b"\r\n\r\n")


def test_an_expected_continue_is_sent_before_the_body(run: Run) -> None:
    async def scenario() -> tuple[bytes, bytes]:
        async with edge(echo) as server, await dial(server) as wire:
            wire.send(post(b"Expect: 100-continue", b"Content-Length: 3"))
            interim = await wire.received_bytes(25)
            wire.send(b"abc")
            await until(lambda: b"abc" in wire.received)
            return interim, bytes(wire.received)

    interim, received = run(scenario())

    assert interim == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert received.endswith(b"POST / abc")


@pytest.mark.parametrize(
    "request_",
    [
        post(b"Expect: 100-continue", b"Content-Length: 3", body=b"abc"),
        head(b"POST / HTTP/1.0", b"Host: a", b"Expect: 100-continue", b"Content-Length: 3") + b"abc",
        head(b"GET / HTTP/1.1", b"Host: a", b"Expect: 100-continue"),
    ],
    ids=["body is there", "1.0", "no body"],
)
def test_no_continue_is_sent_that_nobody_waits_for(run: Run, request_: bytes) -> None:
    async def scenario() -> bytes:
        async with edge(echo) as server, await dial(server) as wire:
            wire.send(request_)
            return (await wire.received_bytes(12))[:12]

    assert run(scenario()) == b"HTTP/1.1 200"


def test_no_continue_is_sent_for_a_body_that_is_too_large(run: Run) -> None:
    async def scenario() -> bytes:
        async with edge(echo, body_bytes=10) as server, await dial(server) as wire:
            wire.send(post(b"Expect: 100-continue", b"Content-Length: 11"))
            return (await wire.received_bytes(12))[:12]

    assert run(scenario()) == b"HTTP/1.1 413"


# --- callers that are not admitted


@pytest.mark.parametrize("framing", [b"Content-Length: 100000", b"Transfer-Encoding: chunked"])
def test_a_caller_that_is_not_admitted_is_refused_before_its_body_is_waited_for(run: Run, framing: bytes) -> None:
    door = Door(echo, GatewayError(ErrorKind.INVALID_API_KEY, "no key"))

    async def scenario() -> tuple[int, bytes, str, float]:
        async with edge(door) as server, await dial(server) as wire:
            wire.send(post(framing))
            reply = await wire.reply()
            return reply.status, reply.body, await wire.end(), sum(c._reader._body_bytes for c in server.connections)

    assert run(scenario()) == (401, b"no key", "fin", 0)


@pytest.mark.case("T72")
def test_admission_is_told_what_all_bodies_are_still_to_bring(run: Run) -> None:
    door = Door(echo)

    async def scenario() -> list[int]:
        async with edge(door, body_bytes=50_000) as server, await dial(server) as first, await dial(server) as second:
            first.send(post(b"Content-Length: 1000", body=b"x" * 400))
            await until(lambda: len(door.admitted) == 1)
            second.send(post(b"Transfer-Encoding: chunked"))
            await until(lambda: len(door.admitted) == 2)
            first.send(b"x" * 600)
            assert (await first.reply()).status == 200
            first.send(post(b"Content-Length: 2000"))
            await until(lambda: len(door.admitted) == 3)
            return door.expected_bytes

    assert run(scenario()) == [600, 50_600, 52_000]


@pytest.mark.case("T72")
def test_body_whose_caller_has_left_is_not_expected_any_more(run: Run) -> None:
    door = Door(echo)

    async def scenario() -> list[int]:
        async with edge(door) as server:
            async with await dial(server) as first:
                first.send(post(b"Content-Length: 1000"))
                await until(lambda: len(door.admitted) == 1)
            await until(lambda: not server.connections)
            async with await dial(server) as second:
                second.send(post(b"Content-Length: 10"))
                await until(lambda: len(door.admitted) == 2)
            return door.expected_bytes

    assert run(scenario()) == [1000, 10]


@pytest.mark.case("T72")
@pytest.mark.bug("L-01")
def test_connection_that_is_gone_keeps_nothing_of_a_body_that_never_came_whole(run: Run) -> None:
    async def scenario() -> int:
        async with edge(echo) as server:
            async with await dial(server) as wire:
                wire.send(post(b"Content-Length: 1000000", body=b"x" * 400_000))
                await until(lambda: any(c._reader._body_bytes == 400_000 for c in server.connections))
                (connection,) = server.connections
            await until(lambda: not server.connections)
            return sum(map(len, connection._reader._parts))

    assert run(scenario()) == 0


@pytest.mark.parametrize(("cut", "is_admitted"), [(0, False), (1, False), (4, True)])
def test_a_handler_learns_whether_admission_was_asked_for(run: Run, cut: int, is_admitted: bool) -> None:
    async def told(request: Request, reply: Reply) -> None:
        reply.send(200, b"", b"%d" % request.is_admitted)

    raw = post(b"Content-Length: 5", body=b"hello")
    end = len(raw) - 5
    at = {0: len(raw), 1: 10, 4: end + 2}[cut]

    async def scenario() -> bytes:
        async with edge(told) as server, await dial(server) as wire:
            wire.send(raw[:at])
            if raw[at:]:
                await until(lambda: any(c._reader.phase is not ReadPhase.IDLE for c in server.connections))
                wire.send(raw[at:])
            return (await wire.reply()).body

    assert run(scenario()) == b"%d" % is_admitted


def test_no_continue_is_sent_to_a_caller_that_is_not_admitted(run: Run) -> None:
    door = Door(echo, GatewayError(ErrorKind.INVALID_API_KEY, "no key"))

    async def scenario() -> bytes:
        async with edge(door) as server, await dial(server) as wire:
            wire.send(post(b"Expect: 100-continue", b"Content-Length: 5"))
            await wire.end()
            return bytes(wire.received)

    assert run(scenario()).startswith(b"HTTP/1.1 401")


def test_admission_is_asked_for_once_while_a_body_arrives(run: Run) -> None:
    door = Door(echo)

    async def scenario() -> int:
        async with edge(door) as server, await dial(server) as wire:
            wire.send(post(b"Content-Length: 20"))
            await until(lambda: bool(door.admitted))
            (connection,) = server.connections
            wire.send(b"x" * 10)
            await until(lambda: connection._reader._body_bytes == 10)
            wire.send(b"x" * 10)
            return (await wire.reply()).status

    assert run(scenario()) == 200
    assert len(door.admitted) == 1


def test_a_request_that_came_whole_is_left_to_its_handler(run: Run) -> None:
    door = Door(echo)

    async def scenario() -> int:
        async with edge(door) as server, await dial(server) as wire:
            wire.send(post(b"Content-Length: 20", body=b"x" * 20))
            return (await wire.reply()).status

    assert run(scenario()) == 200
    assert door.admitted == []


def test_a_caller_on_the_loopback_is_known_to_be_local(run: Run) -> None:
    async def tell(request: Request, reply: Reply) -> None:
        reply.send(200, b"", b"local" if request.is_local else b"remote")

    async def scenario() -> bytes:
        async with edge(tell) as server, await dial(server) as wire:
            wire.send(get())
            return (await wire.reply()).body

    assert run(scenario()) == b"local"


class Peer(asyncio.BaseTransport):
    """A transport with a peer."""

    def __init__(self, peer: tuple[object, ...] | None) -> None:
        super().__init__({"peername": peer})


@pytest.mark.parametrize(
    ("peer", "is_local"),
    [
        (("127.0.0.1", 5), True), (("127.9.9.9", 5), True), (("::1", 5, 0, 0), True), (("10.0.0.1", 5), False),
        (("128.0.0.1", 5), False), (("::ffff:10.0.0.1", 5, 0, 0), False), (("::", 5, 0, 0), False), (None, False),
    ],
)  # fmt: skip
def test_only_loopback_peers_are_local(peer: tuple[object, ...] | None, is_local: bool) -> None:
    assert _is_local(_address(Peer(peer))) is is_local


# --- refusals


@pytest.mark.case("T52")
@pytest.mark.parametrize(("raw", "status"), list(MUST_REFUSE.values())[::5], ids=list(MUST_REFUSE)[::5])
def test_a_refusal_arrives_readable_and_ends_the_connection(run: Run, raw: bytes, status: int) -> None:
    stuck = Stuck()

    async def scenario() -> tuple[int, bytes | None, str]:
        async with edge(stuck, body_bytes=4 * KIB) as server, await dial(server) as wire:
            wire.send(raw)
            reply = await wire.reply()
            return reply.status, reply.header("connection"), await wire.end()

    assert run(scenario()) == (status, b"close", "fin")
    assert not stuck.replies


@pytest.mark.bug("I-07")
def test_a_body_over_the_limit_is_refused_before_it_is_read(run: Run) -> None:
    async def scenario() -> tuple[int, bytes]:
        async with edge(echo, body_bytes=1_000) as server, await dial(server) as wire:
            wire.send(post(b"Content-Length: 1001"))
            reply = await wire.reply()
            return reply.status, reply.body

    assert run(scenario()) == (413, b"The request body is larger than the limit of 1000 bytes.")


def test_a_caller_that_still_sends_can_read_its_refusal(run: Run) -> None:
    async def scenario() -> tuple[int, str]:
        async with edge(echo, body_bytes=1_000) as server, await dial(server) as wire:
            wire.send(post(b"Content-Length: 9000", body=b"x" * 9_000))
            return (await wire.reply()).status, await wire.end()

    assert run(scenario()) == (413, "fin")


def test_a_caller_that_sends_on_and_on_after_its_refusal_is_cut_off(run: Run) -> None:
    async def scenario() -> None:
        async with edge(echo, linger_bytes=4 * KIB, linger_s=60.0) as server, await dial(server, Stubborn) as wire:
            wire.send(b"nonsense\r\n\r\n")
            await wire.end()
            wire.send(b"x" * 64 * KIB)
            await until(lambda: not count(server))

    run(scenario())


def test_what_still_arrives_after_a_refusal_is_thrown_away(run: Run) -> None:
    async def scenario() -> tuple[int, bytes]:
        async with edge(echo, linger_s=60.0) as server, await dial(server, Stubborn) as wire:
            wire.send(b"nonsense\r\n\r\n")
            await wire.end()
            before = bytes(wire.received)
            connection = next(iter(server.connections))
            wire.send(get())
            await until(lambda: connection._lingered_bytes == len(get()))
            return count(server), bytes(wire.received).removeprefix(before)

    assert run(scenario()) == (1, b"")


def test_a_caller_that_stays_after_its_refusal_is_cut_off(run: Run) -> None:
    async def scenario() -> None:
        async with edge(echo, linger_s=SOON_S) as server, await dial(server, Stubborn) as wire:
            wire.send(b"nonsense\r\n\r\n")
            await wire.end()
            await until(lambda: not count(server))

    run(scenario())


def test_nothing_that_follows_a_refused_request_is_handled(run: Run) -> None:
    async def scenario() -> bytes:
        async with edge(echo) as server, await dial(server) as wire:
            wire.send(ask(b"/1") + b"nonsense\r\n\r\n" + ask(b"/2"))
            await wire.end()
            return bytes(wire.received)

    received = run(scenario())

    assert (received.count(b"HTTP/1.1 "), b"GET /2" in received) == (2, False)


@pytest.mark.bug("B-14")
@pytest.mark.case("T70")
def test_connections_over_the_cap_are_told_so(run: Run) -> None:
    async def scenario() -> tuple[int, bytes | None, int]:
        async with edge(echo, connections=1) as server, await dial(server) as first, await dial(server) as second:
            second.send(get())
            refused = await second.reply()
            await second.end()
            first.send(get())
            return refused.status, refused.header("retry-after"), (await first.reply()).status

    assert run(scenario()) == (503, None, 200)  # the header is the door's to write


@pytest.mark.case("T70")
def test_connections_over_the_cap_are_refused_before_their_body_is_waited_for(run: Run) -> None:
    async def scenario() -> int:
        async with edge(echo, connections=0) as server, await dial(server) as wire:
            wire.send(post(b"Content-Length: 100000", body=b"half"))
            return (await wire.reply()).status

    assert run(scenario()) == 503


@pytest.mark.case("T70")
def test_probes_are_answered_while_all_connections_are_taken_and_leave_at_once(run: Run) -> None:
    async def scenario() -> list[int]:
        async with edge(echo, connections=1) as server, await dial(server):
            statuses = []
            for _ in range(40):  # more than are reserved: each makes room for the next one
                async with await dial(server) as probe:
                    probe.send(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
                    statuses.append((await probe.reply()).status)
                    await probe.end()
            return statuses

    assert run(scenario()) == [200] * 40


@pytest.mark.case("T70")
def test_silent_connections_do_not_fill_what_is_reserved_for_probes(run: Run) -> None:
    async def scenario() -> str:
        async with edge(echo, connections=0, reserved=1, reserved_s=0.02) as server, await dial(server) as wire:
            return await wire.end()

    assert run(scenario()) == "fin"


@pytest.mark.case("T70", "T71")
def test_connections_over_the_reserve_are_told_so_and_closed_at_once(run: Run) -> None:
    async def scenario() -> tuple[int, str]:
        async with edge(echo, connections=0, reserved=0, linger_s=60.0) as server, await dial(server) as wire:
            return (await wire.reply()).status, await wire.end()

    assert run(scenario()) == (503, "fin")


@pytest.mark.case("T72")
def test_new_connections_are_for_probes_only_while_the_server_is_closed_to_them(run: Run) -> None:
    async def scenario() -> list[int]:
        async with edge(echo) as server, await dial(server) as old:
            await until(lambda: count(server) == 1)
            server.is_closed_to_new = True
            statuses = []
            for request in (get(), b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"):
                async with await dial(server) as new:
                    new.send(request)
                    statuses.append((await new.reply()).status)
            old.send(get())
            return [*statuses, (await old.reply()).status]

    assert run(scenario()) == [503, 200, 200]


@pytest.mark.case("T70", "T73")
def test_everybody_who_waits_is_accepted_at_the_next_look_however_long_turns_are(run: Run) -> None:
    async def scenario() -> int:
        async with edge(echo) as server:
            callers = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
            server.check(0.0)
            for _ in range(5):  # turns of the loop, which might take as long as they like
                await asyncio.sleep(0)
            accepted = count(server)
            for caller in callers:
                caller.close()
            return accepted

    assert run(scenario()) == 200


KEYED = get(b"X-Api-Key: mine")


@pytest.mark.case("T70")
def test_strangers_of_an_address_that_are_too_many_make_room(run: Run) -> None:
    async def scenario() -> list[str | None]:
        async with edge(echo, strangers_per_address=2, stranger_s=0.0) as server:
            wires = [await dial(server) for _ in range(5)]
            await until(lambda: sum(wire.ended is not None for wire in wires) == 3)
            found = sorted(wire.ended or "" for wire in wires)
            for wire in wires:
                wire.close()
            return found

    assert run(scenario())[:2] == ["", ""]


@pytest.mark.case("T70")
@pytest.mark.parametrize("shows_key", [False, True], ids=["being answered", "has shown a key"])
def test_who_is_being_answered_or_has_shown_a_key_is_no_stranger(run: Run, *, shows_key: bool) -> None:
    async def scenario() -> list[bool]:
        gate = Gate()
        if shows_key:
            gate.open.set()
        async with edge(gate, strangers_per_address=1, stranger_s=0.0) as server:
            server._next_look_at = math.inf  # nobody looks before all have spoken
            wires = [await dial(server) for _ in range(3)]
            for wire in wires:
                wire.send(KEYED if shows_key else get())
            await until(lambda: len(gate.paths) == 3)
            async with await dial(server), await dial(server) as silent:
                server._next_look_at = 0.0
                await until(lambda: len(server.connections) == 4)
                found = [wire.ended is None for wire in wires]
                silent.close()
            for wire in wires:
                wire.close()
            return found

    assert run(scenario()) == [True] * 3


@pytest.mark.case("T70")
def test_a_burst_of_callers_has_time_to_show_its_keys(run: Run) -> None:
    async def scenario() -> bool:
        async with edge(echo, strangers_per_address=2, stranger_s=60.0) as server:
            wires = [await dial(server) for _ in range(20)]
            for _ in range(3):  # looks at who has come
                looked_at, server._next_look_at = server._next_look_at, 0.0
                await until(lambda: server._next_look_at != 0.0)
                assert looked_at is not None
            stayed = all(wire.ended is None for wire in wires)
            for wire in wires:
                wire.close()
            return stayed

    assert run(scenario())


@pytest.mark.parametrize("starts", [False, True], ids=["before its answer", "within its answer"])
def test_a_handler_that_fails_is_logged_and_never_looks_like_success(
    run: Run, caplog: pytest.LogCaptureFixture, starts: bool
) -> None:
    async def fail(request: Request, reply: Reply) -> None:
        if starts:
            reply.start(200, b"")
            reply.write(b"half")
        raise ValueError("broken")

    async def scenario() -> bytes:
        async with edge(fail) as server, await dial(server) as wire:
            wire.send(get())
            await until(lambda: not count(server))
            return bytes(wire.received)

    with caplog.at_level(logging.ERROR):
        received = run(scenario())

    assert "a request handler failed" in caplog.text
    assert not received.endswith(b"0\r\n\r\n")
    assert starts or received.startswith(b"HTTP/1.1 500 ")


def test_a_handler_that_forgets_to_answer_is_a_fault_of_ours(run: Run) -> None:
    async def forget(request: Request, reply: Reply) -> None:
        pass

    async def scenario() -> int:
        async with edge(forget) as server, await dial(server) as wire:
            wire.send(get())
            return (await wire.reply()).status

    assert run(scenario()) == 500


def test_an_answer_that_is_cut_is_no_complete_answer(run: Run) -> None:
    async def cut(request: Request, reply: Reply) -> None:
        reply.start(200, b"")
        reply.write(b"half")
        reply.abort()

    async def scenario() -> bytes:
        async with edge(cut) as server, await dial(server) as wire:
            wire.send(get())
            await until(lambda: not count(server))
            return bytes(wire.received)

    assert not run(scenario()).endswith(b"0\r\n\r\n")


# --- deadlines


@pytest.mark.parametrize(
    "sent", [b"G", get()[:-2], b"GET / HTTP/1.1\nHost: a\n\n"], ids=["a byte", "almost all", "LF only"]
)
def test_a_head_that_does_not_end_in_time_is_refused(run: Run, sent: bytes) -> None:
    async def scenario() -> tuple[int, str]:
        async with edge(echo, head_s=SOON_S) as server, await dial(server) as wire:
            wire.send(sent)
            return (await wire.reply()).status, await wire.end()

    assert run(scenario()) == (408, "fin")


def test_a_head_that_drips_gains_no_time(run: Run) -> None:
    async def scenario() -> int:
        async with edge(echo, head_s=0.1) as server, await dial(server) as wire:
            for byte in get(b"X: " + b"x" * 1_000):
                if wire.received:
                    break
                wire.send(bytes((byte,)))
                await wire.is_silent(0.005)
            return (await wire.reply()).status

    assert run(scenario()) == 408


def test_a_connection_that_says_nothing_is_closed_without_a_word(run: Run) -> None:
    async def scenario() -> tuple[str, bytes]:
        async with edge(echo, head_s=SOON_S) as server, await dial(server) as wire:
            return await wire.end(), bytes(wire.received)

    assert run(scenario()) == ("fin", b"")


@pytest.mark.parametrize(
    "sent",
    [
        post(b"Content-Length: 9", body=b"a"),
        post(b"Content-Length: 9"),
        post(b"Transfer-Encoding: chunked", body=b"5\r\na"),
    ],
    ids=["length", "nothing of it", "chunks"],
)
def test_a_body_that_does_not_end_in_time_is_refused(run: Run, sent: bytes) -> None:
    async def scenario() -> tuple[int, str]:
        limits = {"body_base_s": SOON_S, "body_min_bytes_per_s": 1 << 60}
        async with edge(echo, **limits) as server, await dial(server) as wire:
            wire.send(sent)
            return (await wire.reply()).status, await wire.end()

    assert run(scenario()) == (408, "fin")


@pytest.mark.parametrize(("length", "deadline_s"), [(0, 32_798.0), (10_240, 40.0), (None, 32_798.0)])
def test_the_time_for_a_body_grows_with_its_length(length: int | None, deadline_s: float) -> None:
    assert LIMITS.body_deadline_s(length) == deadline_s


def test_an_idle_connection_is_closed_without_a_word(run: Run) -> None:
    async def scenario() -> tuple[str, int]:
        async with edge(echo, keep_alive_s=SOON_S) as server, await dial(server) as wire:
            wire.send(get())
            await wire.reply()
            before = len(wire.received)
            return await wire.end(), len(wire.received) - before

    assert run(scenario()) == ("fin", 0)


@pytest.mark.bug("F-09")
def test_idle_connections_are_kept_longer_than_clients_keep_them() -> None:
    assert LIMITS.keep_alive_s >= 90


def test_a_request_that_is_handled_has_no_deadline_here(run: Run) -> None:
    async def scenario() -> bytes:
        gate = Gate()
        async with edge(gate, head_s=SOON_S, keep_alive_s=SOON_S, body_base_s=SOON_S) as server:
            async with await dial(server) as wire:
                wire.send(get())
                await until(lambda: bool(gate.paths))
                assert await wire.is_silent(4 * SOON_S)
                gate.open.set()
                return (await wire.reply()).body

    assert run(scenario()) == b"GET / "


# --- answers that are silent


class Quiet(Stuck):
    """Begins an answer, and counts how often it is told of its silence."""

    def __init__(self, first: bytes = b"x") -> None:
        super().__init__()
        self.told, self._first = 0, first

    async def work(self, reply: Reply) -> None:
        reply.on_quiet = self.tell
        reply.start(200, b"")
        reply.write(self._first)

    def tell(self) -> None:
        self.told += 1
        self.replies[-1].write(b": still here\n\n")


def test_an_answer_that_is_silent_is_told_so_again_and_again(run: Run) -> None:
    quiet = Quiet()

    async def scenario() -> bytes:
        async with edge(quiet, stream_keepalive_s=SOON_S) as server, await dial(server) as wire:
            wire.send(get())
            await until(lambda: quiet.told >= 3)
            return bytes(wire.received)

    assert run(scenario()).count(b"still here") >= 2


def test_an_answer_that_goes_on_is_not_silent(run: Run) -> None:
    quiet = Quiet()

    async def scenario() -> tuple[int, float]:
        async with edge(quiet, stream_keepalive_s=60 * SOON_S) as server, await dial(server) as wire:
            began = asyncio.get_running_loop().time()
            wire.send(get())
            await quiet.wait(quiet.begun)
            for _ in range(20):
                quiet.replies[0].write(b"y")
                await asyncio.sleep(SOON_S)
            return quiet.told, asyncio.get_running_loop().time() - began

    told, took_s = run(scenario())

    assert told == 0 or took_s > 60 * SOON_S  # a machine that stood still


def test_silence_is_counted_anew_for_every_answer(run: Run) -> None:
    async def scenario() -> list[bool]:
        gate = Gate()
        seen = []

        async def note(request: Request, reply: Reply) -> None:
            reply.on_quiet = lambda: seen.append(True)
            if request.head.path == "/second":
                seen.clear()
            await gate(request, reply)

        async with edge(note, stream_keepalive_s=8 * SOON_S) as server, await dial(server) as wire:
            wire.send(ask(b"/first"))
            await until(lambda: bool(seen))
            gate.open.set()
            await wire.reply()
            wire.send(ask(b"/second"))
            await wire.reply()
            return seen

    assert run(scenario()) == []


def test_a_caller_that_does_not_read_is_told_nothing(run: Run) -> None:
    quiet = Quiet(b"x" * (8 << 20))

    async def scenario() -> int:
        async with edge(quiet, stream_keepalive_s=SOON_S) as server, await dial(server) as wire:
            wire.pause()
            wire.send(get())
            await quiet.wait(quiet.begun)
            await asyncio.sleep(8 * SOON_S)
            told = quiet.told
            wire.reset()
            return told

    assert run(scenario()) == 0


@pytest.mark.parametrize("keepalive_s", [SOON_S, math.inf])
def test_silence_is_nothing_to_whoever_does_not_ask(run: Run, keepalive_s: float) -> None:
    async def scenario() -> bytes:
        gate = Gate()
        async with edge(gate, stream_keepalive_s=keepalive_s) as server, await dial(server) as wire:
            wire.send(get())
            assert await wire.is_silent(6 * SOON_S)
            gate.open.set()
            return (await wire.reply()).body

    assert run(scenario()) == b"GET / "


@pytest.mark.case("I23")
@pytest.mark.parametrize("keepalive_s", [SOON_S, 60.0])
def test_a_request_that_is_older_than_any_may_be_is_ended_and_told(
    run: Run, caplog: pytest.LogCaptureFixture, keepalive_s: float
) -> None:
    async def scenario() -> tuple[int, str, int]:
        stuck = Stuck()
        async with edge(stuck, stream_keepalive_s=keepalive_s, overdue_s=0.0) as server, await dial(server) as wire:
            server.longest_request_s = SOON_S
            wire.send(get())
            await stuck.wait(stuck.begun)
            (connection,) = server.connections
            connection.check(connection._received_at + 61.0)  # as after a minute
            await stuck.wait(stuck.cancelled)
            return (await wire.reply()).status, await wire.end(), server.overdue

    assert run(scenario()) == (500, "fin", 1)  # of a handler that says nothing itself
    assert [record.levelname for record in caplog.records] == ["ERROR"]


# --- callers that do not read


def test_a_caller_that_takes_nothing_of_its_answer_is_let_go(run: Run) -> None:
    flood = Flood()

    async def scenario() -> bool:
        async with edge(flood, write_idle_s=SOON_S, send_buffer_bytes=SMALL) as server, await dial(server) as wire:
            wire.pause()
            wire.send(get())
            await flood.wait(flood.cancelled)
            return flood.replies[0].is_gone

    assert run(scenario()) is True


@pytest.mark.parametrize("request_", [CLOSING, get()], ids=["closing", "kept"])
def test_a_caller_that_takes_nothing_of_a_finished_answer_is_let_go(run: Run, request_: bytes) -> None:
    async def big(request: Request, reply: Reply) -> None:
        reply.send(200, b"", b"x" * 8_192 * KIB)

    async def scenario() -> None:
        async with edge(big, write_idle_s=SOON_S, send_buffer_bytes=SMALL) as server, await dial(server) as wire:
            wire.pause()
            wire.send(request_)
            await until(lambda: count(server) == 1)
            await until(lambda: not count(server))

    run(scenario())


def test_a_refused_caller_that_reads_nothing_is_let_go(run: Run) -> None:
    async def big(request: Request, reply: Reply) -> None:
        reply.send(200, b"", b"x" * 8_192 * KIB)

    async def scenario() -> None:
        limits = {"write_idle_s": 0.1, "linger_s": SOON_S, "send_buffer_bytes": SMALL, "keep_alive_s": 60.0}
        async with edge(big, **limits) as server, await dial(server) as wire:
            wire.pause()
            wire.send(get() + b"nonsense\r\n\r\n")
            await until(lambda: count(server) == 1)
            await until(lambda: not count(server))

    run(scenario())


def test_a_caller_that_reads_late_gets_all_of_its_last_answer(run: Run) -> None:
    async def big(request: Request, reply: Reply) -> None:
        reply.send(200, b"", b"x" * 2_048 * KIB)

    async def scenario() -> tuple[int, str]:
        async with edge(big, send_buffer_bytes=SMALL) as server, await dial(server) as wire:
            wire.pause()
            wire.send(CLOSING)
            await until(lambda: any(c._transport.is_closing() for c in server.connections))
            wire.resume()
            return len((await wire.reply()).body), await wire.end()

    assert run(scenario()) == (2_048 * KIB, "fin")


def test_a_stream_without_a_source_to_pause_arrives_whole(run: Run) -> None:
    async def scenario() -> int:
        gate = asyncio.Event()

        async def big(request: Request, reply: Reply) -> None:
            reply.start(200, b"")
            reply.write(b"x" * 2_048 * KIB)
            await gate.wait()
            reply.finish()

        async with edge(big, send_buffer_bytes=SMALL) as server, await dial(server) as wire:
            wire.pause()
            wire.send(get())
            await until(lambda: count(server) == 1)
            connection = next(iter(server.connections))
            await until(connection._is_caller_behind)
            wire.resume()
            await until(lambda: not connection._is_caller_behind())
            gate.set()
            return len((await wire.reply()).body)

    assert run(scenario()) == 2_048 * KIB


def test_a_caller_that_reads_slowly_is_kept(run: Run) -> None:
    flood = Flood(1_024 * KIB)

    async def scenario() -> bool:
        limits = {"write_idle_s": 0.15, "send_buffer_bytes": SMALL}
        async with edge(flood, **limits) as server, await dial(server) as wire:
            wire.send(get())
            for _ in range(20):
                wire.pause()
                await wire.is_silent(0.02)
                wire.resume()
                await wire.is_silent(0.002)
            await wire.received_bytes(1_024 * KIB)
            is_kept = not flood.cancelled.is_set()
            wire.reset()
            return is_kept

    assert run(scenario()) is True


def test_a_caller_that_does_not_read_pauses_the_source_and_resumes_it_once_it_does(run: Run) -> None:
    flood = Flood()

    async def scenario() -> tuple[list[str], list[str]]:
        async with edge(flood, send_buffer_bytes=SMALL) as server, await dial(server) as wire:
            wire.pause()
            wire.send(get())
            await until(lambda: bool(flood.asked))
            paused = list(flood.asked)
            wire.resume()
            await until(lambda: len(flood.asked) > 1)
            return paused, list(flood.asked)

    paused, asked = run(scenario())

    assert (paused, asked) == (["pause"], ["pause", "resume"])


def test_the_kernel_holds_little_for_a_caller(run: Run) -> None:
    async def scenario() -> int:
        async with edge(echo, send_buffer_bytes=64 * KIB) as server, await dial(server):
            await until(lambda: count(server) == 1)
            transport = next(iter(server.connections))._transport
            return int(transport.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF))

    assert run(scenario()) in (64 * KIB, 128 * KIB)  # Linux says twice what was asked for


# --- callers that leave


@pytest.mark.parametrize("leave", LEAVE.values(), ids=LEAVE)
def test_a_caller_that_leaves_cancels_its_handler(run: Run, leave: Callable[[Wire], None]) -> None:
    stuck = Stuck()

    async def scenario() -> bool:
        async with edge(stuck) as server, await dial(server) as wire:
            wire.send(get())
            await stuck.wait(stuck.begun)
            leave(wire)
            await stuck.wait(stuck.cancelled)
            return stuck.replies[0].is_gone

    assert run(scenario()) is True


@pytest.mark.parametrize("leave", LEAVE.values(), ids=LEAVE)
def test_a_caller_that_leaves_within_a_stream_cancels_its_handler(run: Run, leave: Callable[[Wire], None]) -> None:
    flood = Flood(10)

    async def scenario() -> None:
        async with edge(flood) as server, await dial(server) as wire:
            wire.send(get())
            await wire.received_bytes(1)
            leave(wire)
            await flood.wait(flood.cancelled)

    run(scenario())


@pytest.mark.parametrize("leave", [Wire.reset, Wire.half_close], ids=["RST", "half-close"])
def test_a_caller_that_leaves_with_its_buffer_full_cancels_its_handler(run: Run, leave: Callable[[Wire], None]) -> None:
    flood = Flood()

    async def scenario() -> None:
        async with edge(flood, send_buffer_bytes=SMALL) as server, await dial(server) as wire:
            wire.pause()
            wire.send(get())
            await until(lambda: bool(flood.asked))
            leave(wire)
            await flood.wait(flood.cancelled)

    run(scenario())


@pytest.mark.parametrize("leave", LEAVE.values(), ids=LEAVE)
@pytest.mark.parametrize("sent", [b"", b"GET", post(b"Content-Length: 9", body=b"half")], ids=["idle", "head", "body"])
@pytest.mark.bug("I-08")
def test_a_caller_that_leaves_before_its_request_is_complete_is_never_handled(
    run: Run, leave: Callable[[Wire], None], sent: bytes
) -> None:
    stuck = Stuck()

    async def scenario() -> None:
        async with edge(stuck) as server, await dial(server) as wire:
            await until(lambda: count(server) == 1)
            if sent:
                wire.send(sent)
                await wire.is_silent(SOON_S / 3)
            leave(wire)
            await until(lambda: not count(server))

    run(scenario())

    assert not stuck.replies


def test_a_reply_to_a_caller_that_is_gone_does_nothing(run: Run) -> None:
    stuck = Stuck()

    async def scenario() -> tuple[bool, int]:
        async with edge(stuck) as server, await dial(server) as wire:
            wire.send(get())
            await stuck.wait(stuck.begun)
            wire.reset()
            await stuck.wait(stuck.cancelled)
            reply = stuck.replies[0]
            reply.send(200, b"", b"late")
            reply.start(200, b"")
            reply.write(b"late")
            reply.finish()
            reply.abort()
            return reply.is_started, reply.bytes_sent

    assert run(scenario()) == (False, 0)


# --- drain


def test_draining_closes_idle_connections_at_once(run: Run) -> None:
    async def scenario() -> tuple[str, bytes]:
        async with edge(echo) as server, await dial(server) as wire, await dial(server) as used:
            used.send(get())
            await used.reply()
            await until(lambda: count(server) == 2)
            await server.drain(60.0)
            return await used.end(), bytes(wire.received)

    assert run(scenario()) == ("fin", b"")


def test_draining_does_not_wait_for_a_caller_that_lingers(run: Run) -> None:
    async def scenario() -> None:
        async with edge(echo, linger_s=60.0) as server, await dial(server, Stubborn) as wire:
            wire.send(b"nonsense\r\n\r\n")
            await wire.end()
            assert count(server) == 1
            async with asyncio.timeout(1.0):
                await server.drain(60.0)

    run(scenario())


def test_draining_waits_for_the_request_that_is_handled(run: Run) -> None:
    async def scenario() -> tuple[bytes, bytes | None, str]:
        gate = Gate()
        async with edge(gate) as server, await dial(server) as wire:
            wire.send(get())
            await until(lambda: bool(gate.paths))
            async with asyncio.TaskGroup() as group:
                group.create_task(server.drain(60.0))
                await until(lambda: server.is_draining)
                gate.open.set()
                reply = await wire.reply()
            return reply.body, reply.header("connection"), await wire.end()

    assert run(scenario()) == (b"GET / ", b"close", "fin")


@pytest.mark.parametrize("cut", [3, -3], ids=["within the head", "within the body"])
def test_draining_waits_for_a_request_that_is_still_arriving(run: Run, cut: int) -> None:
    async def scenario() -> tuple[bytes, bytes | None]:
        raw = post(b"Content-Length: 6", body=b"abcdef")
        async with edge(echo) as server, await dial(server) as wire:
            wire.send(raw[:cut])
            await until(lambda: any(c._received_at for c in server.connections))
            async with asyncio.TaskGroup() as group:
                group.create_task(server.drain(60.0))
                await until(lambda: server.is_draining)
                wire.send(raw[cut:])
                reply = await wire.reply()
            return reply.body, reply.header("connection")

    assert run(scenario()) == (b"POST / abcdef", b"close")


def test_a_handler_over_the_grace_may_end_its_answer(run: Run) -> None:
    async def stubborn(request: Request, reply: Reply) -> None:
        reply.start(200, b"")
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            reply.write(b"sorry")
            reply.finish()

    async def scenario() -> bytes:
        async with edge(stubborn) as server, await dial(server) as wire:
            wire.send(get())
            await wire.received_bytes(1)
            await server.drain(0.0)
            return (await wire.reply()).body

    assert run(scenario()) == b"sorry"


def test_a_handler_over_the_grace_that_says_nothing_ends_in_an_error(run: Run) -> None:
    stuck = Stuck()

    async def scenario() -> int:
        async with edge(stuck) as server, await dial(server) as wire:
            wire.send(get())
            await stuck.wait(stuck.begun)
            async with asyncio.TaskGroup() as group:
                group.create_task(server.drain(0.0))
                status = (await wire.reply()).status
                wire.close()
            return status

    assert run(scenario()) == 500


def test_a_caller_that_stays_is_cut_off_after_the_grace(run: Run) -> None:
    async def scenario() -> None:
        async with edge(echo) as server, await dial(server) as wire:
            wire.send(b"GET")
            await until(lambda: any(c._received_at for c in server.connections))
            await server.drain(0.0)
            await wire.end()

    run(scenario())


def test_a_draining_edge_takes_no_new_connections(run: Run) -> None:
    async def scenario() -> None:
        async with edge(echo) as server:
            port = server.port
            await server.drain(0.0)
            with pytest.raises(ConnectionRefusedError):
                await Wire.open(f"http://127.0.0.1:{port}")

    run(scenario())


def test_an_edge_that_has_not_started_may_be_drained(run: Run) -> None:
    async def scenario() -> bool:
        async with edge(echo) as server:
            other = EdgeServer(Door(echo), server.limits, server.watchdog)
            await other.drain(0.0)
            return other.is_draining

    assert run(scenario()) is True


def test_a_port_that_is_taken_stops_the_start(run: Run) -> None:
    async def scenario() -> None:
        async with edge(echo) as server:
            other = EdgeServer(Door(echo), server.limits, server.watchdog)
            with pytest.raises(OSError, match="address already in use"):
                await other.start("127.0.0.1", server.port)

    run(scenario())


def test_an_edge_that_has_not_started_has_no_port(run: Run) -> None:
    async def scenario() -> None:
        async with edge(echo) as server:
            other = EdgeServer(Door(echo), server.limits, server.watchdog)
            with pytest.raises(RuntimeError, match="not been started"):
                _ = other.port

    run(scenario())
