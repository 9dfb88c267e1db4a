import asyncio
import datetime as dt
import ipaddress
import socket
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pointsman.domain.target import Origin
from pointsman.http1.client import WireFault
from pointsman.http1.limits import UpstreamLimits, Watchdog
from pointsman.http1.pool import ConnectError, ConnectionPool, tls_context
from pointsman.http1.resolver import Resolver
from pointsman.testing import FakeProvider, Raw, refused_port
from tests.unit.http1.edge import Run, until
from tests.unit.http1.upstream import KEY, REQUEST, Heard, begin, chunked, sized, upstream

FOREIGN = sized(b"foreign")


def certificate(tmp_path: Path, *, days: int = 30, name: str = "127.0.0.1") -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "upstream")])
    now = dt.datetime.now(dt.UTC)
    alternative = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(name))])
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=60))
        .not_valid_after(now + dt.timedelta(days=days))
        .add_extension(alternative, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    path = tmp_path / "upstream.pem"
    path.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + signed.public_bytes(pem)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


async def fault(origin: Origin, timeout_s: float = 2.0) -> WireFault:
    loop = asyncio.get_running_loop()
    pool = ConnectionPool(loop, UpstreamLimits(), Watchdog(loop), Resolver(loop))
    with pytest.raises(ConnectError) as raised:
        await pool.connect(origin, timeout_s)
    assert str(raised.value) == raised.value.failure.fault.value
    assert not raised.value.failure.got_bytes
    return raised.value.failure.fault


# --- reuse


def test_a_connection_is_used_again(run: Run) -> None:
    async def scenario() -> int:
        async with upstream() as up:
            for _ in range(5):
                await up.exchange()
            return up.provider.connections_accepted

    assert run(scenario()) == 1


@pytest.mark.parametrize(
    ("raw", "connections"),
    [
        (sized(b"a"), 1),
        (chunked(b"a"), 1),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 1),
        (sized(b"a", b"connection: close"), 2),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na", 2),
    ],
    ids=["length", "chunks", "no body", "connection: close", "HTTP/1.0"],
)
def test_a_connection_is_kept_if_the_upstream_keeps_it(run: Run, raw: bytes, connections: int) -> None:
    async def scenario() -> int:
        async with upstream() as up:
            up.provider.script(Raw((raw,), then="keep"))
            await up.exchange()
            await up.exchange()
            return up.provider.connections_accepted

    assert run(scenario()) == connections


def test_the_newest_connection_is_handed_out_first(run: Run) -> None:
    async def scenario() -> bool:
        async with upstream() as up:
            first = await up.pool.connect(up.origin, 2.0)
            new = await up.pool.connect(up.origin, 2.0)
            up.pool.release(KEY, first, 60.0)
            up.pool.release(KEY, new, 60.0)
            got = up.pool.reuse(KEY), up.pool.reuse(KEY)
            for connection in (first, new):
                connection.abort()
            return got == (new, first)

    assert run(scenario()) is True


@pytest.mark.case("I11")
def test_a_connection_of_one_key_is_never_handed_to_another(run: Run) -> None:
    async def scenario() -> bool:
        async with upstream() as up:
            await up.exchange()
            return up.pool.reuse("another tenant") is None

    assert run(scenario()) is True


def test_an_empty_pool_hands_out_nothing(run: Run) -> None:
    async def scenario() -> object:
        async with upstream() as up:
            return up.pool.reuse(KEY)

    assert run(scenario()) is None


def test_a_connection_in_the_middle_of_an_answer_is_not_kept(run: Run) -> None:
    async def scenario() -> object:
        async with upstream() as up:
            up.provider.script(Raw((sized(b"abc")[:-1],), then="stall"))
            connection, heard = await up.connection(), Heard()
            begin(connection, heard)
            await until(lambda: bool(heard.pieces))
            up.pool.release(KEY, connection, 60.0)
            return up.pool.reuse(KEY)

    assert run(scenario()) is None


# --- foreign bytes


@pytest.mark.case("T14", "I11")
@pytest.mark.parametrize(
    "pieces",
    [
        (sized(b"a") + FOREIGN,),
        (chunked(b"a") + FOREIGN,),
        (sized(b"a"), FOREIGN),
        (sized(b"a") + FOREIGN[:-3],),
        (sized(b"a") + FOREIGN.partition(b"\r\n")[0],),
        (sized(b"a") + b"x",),
        (sized(b"a") + b"HTTP/1.1 103 Early\r\n\r\n",),
        (b"HTTP/1.1 204 No Content\r\n\r\nabc",),
    ],
    ids=["length", "chunks", "another write", "half of one", "a status line", "one byte", "interim", "body of none"],
)
def test_bytes_after_an_answer_never_reach_the_next_caller(run: Run, pieces: tuple[bytes, ...]) -> None:
    async def scenario() -> tuple[bytes, bytes, int]:
        async with upstream() as up:
            up.provider.script(Raw(pieces, then="keep"), Raw((sized(b"mine"),), then="keep"))
            first = await up.exchange()
            second = await up.exchange()
            return first.body, second.body, up.provider.connections_accepted

    first, second, connections = run(scenario())

    assert first in (b"a", b"")
    assert (second, connections) == (b"mine", 2)


@pytest.mark.case("T14", "I11")
def test_alternating_tenants_never_hear_each_other(run: Run) -> None:
    async def scenario() -> list[bytes]:
        async with upstream() as up:
            up.provider.answer_for = lambda got: Raw(
                (sized(got.header("x-tag") or b"") + FOREIGN * (got.number % 3 == 0),), then="keep"
            )
            bodies = []
            for at in range(300):
                request = REQUEST.replace(b"host: test", b"host: test\r\nx-tag: %d" % at)
                bodies.append((await up.exchange(request)).body)
            return bodies

    assert run(scenario()) == [b"%d" % at for at in range(300)]


@pytest.mark.case("T14", "I11")
@pytest.mark.parametrize("unseen", [True, False], ids=["not yet seen by the loop", "seen by the loop"])
@pytest.mark.parametrize(
    "farewell", [FOREIGN, b"HTTP/1.1 408 Timeout\r\n\r\n", b"x", b""], ids=["answer", "408", "byte", "FIN"]
)
@pytest.mark.bug("F-08")
def test_what_arrives_while_a_connection_is_idle_discards_it(run: Run, farewell: bytes, unseen: bool) -> None:
    async def scenario() -> tuple[bytes, int]:
        async with upstream() as up:
            up.provider.script(Raw((sized(b"a"),), then="keep"))
            await up.exchange()
            connection = up.pool._idle[KEY][0]
            server_side = next(iter(up.provider._connections))
            sock = server_side._transport.get_extra_info("socket")
            with socket.socket(fileno=socket.dup(sock.fileno())) as wire:  # past the loop: the bytes arrive at once
                if farewell:
                    wire.send(farewell)
                else:
                    wire.shutdown(socket.SHUT_WR)
            assert connection.has_unread_bytes()
            if not unseen:
                await until(lambda: not connection.is_reusable)
            up.provider.script(Raw((sized(b"mine"),), then="keep"))
            second = await up.exchange()
            return second.body, up.provider.connections_accepted

    assert run(scenario()) == (b"mine", 2)


@pytest.mark.bug("F-08")
def test_a_connection_that_the_upstream_closed_while_idle_is_not_used_again(run: Run) -> None:
    async def scenario() -> tuple[bytes, int]:
        async with upstream() as up:
            await up.exchange()
            await up.provider.stop()
            await up.provider.start()
            second = await up.exchange()
            return second.body[:1], up.provider.connections_accepted

    assert run(scenario()) == (b"{", 2)


@pytest.mark.case("T14")
def test_what_arrives_while_a_connection_is_idle_closes_it_at_once(run: Run) -> None:
    async def scenario() -> None:
        async with upstream() as up:
            up.watchdog.stop()
            await up.exchange()
            next(iter(up.provider._connections))._transport.write(FOREIGN)
            await up.provider.until(lambda: up.provider.open_connections == 0)

    run(scenario())


def test_a_quiet_idle_connection_has_nothing_to_read(run: Run) -> None:
    async def scenario() -> bool:
        async with upstream() as up:
            await up.exchange()
            return up.pool._idle[KEY][0].has_unread_bytes()

    assert run(scenario()) is False


# --- idle time


@pytest.mark.bug("F-08")
def test_a_connection_that_was_idle_for_too_long_is_closed(run: Run) -> None:
    async def scenario() -> tuple[int, object]:
        async with upstream() as up:
            await up.exchange(idle_s=0.02)
            await up.provider.until(lambda: up.provider.open_connections == 0)
            return len(up.pool._idle), up.pool.reuse(KEY)

    assert run(scenario()) == (0, None)


def test_a_connection_past_its_time_is_not_handed_out_even_before_the_tick(run: Run) -> None:
    async def scenario() -> object:
        async with upstream() as up:
            up.watchdog.stop()
            await up.exchange(idle_s=0.0)
            return up.pool.reuse(KEY)

    assert run(scenario()) is None


def test_only_connections_past_their_time_are_closed(run: Run) -> None:
    async def scenario() -> list[int]:
        async with upstream() as up:
            up.watchdog.stop()
            now = asyncio.get_running_loop().time()
            for idle_s in (10.0, 20.0, 30.0):
                up.pool.release(KEY, await up.pool.connect(up.origin, 2.0), idle_s)
            left = []
            for later_s in (0.0, 15.0, 25.0, 35.0):
                up.pool.check(now + later_s)
                left.append(len(up.pool._idle.get(KEY, ())))
            return left

    assert run(scenario()) == [3, 2, 1, 0]


def test_a_closed_pool_keeps_nothing(run: Run) -> None:
    async def scenario() -> object:
        async with upstream() as up:
            connection = await up.connection()
            up.pool.close()
            up.pool.release(KEY, connection, 60.0)
            return up.pool.reuse(KEY)

    assert run(scenario()) is None


def test_closing_a_pool_closes_its_idle_connections(run: Run) -> None:
    async def scenario() -> int:
        async with upstream() as up:
            await up.exchange()
            up.pool.close()
            await up.provider.until(lambda: up.provider.open_connections == 0)
            return len(up.watchdog)

    assert run(scenario()) == 0


# --- connecting


def test_a_refused_connection_is_told_so(run: Run) -> None:
    with refused_port() as base_url:
        origin = Origin("http", "127.0.0.1", int(base_url.rpartition(":")[2].removesuffix("/v1")))

        assert run(fault(origin)) is WireFault.CONNECT_REFUSED


def test_a_connection_that_is_not_accepted_in_time_is_told_so(run: Run) -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        origin = Origin("http", "127.0.0.1", full.getsockname()[1])

        assert run(fault(origin, 0.05)) is WireFault.CONNECT_TIMEOUT


@pytest.mark.parametrize("host", ["name.invalid", "a..b", "x" * 64, "x" * 300])
def test_a_name_that_cannot_be_resolved_is_told_so(run: Run, host: str) -> None:
    assert run(fault(Origin("http", host, 80))) is WireFault.DNS


def test_an_address_that_cannot_be_reached_is_told_so(run: Run) -> None:
    assert run(fault(Origin("http", "127.255.255.255", 80))) is WireFault.UNREACHABLE


@pytest.mark.case("T03")
@pytest.mark.parametrize(
    ("days", "name"),
    [(30, "127.0.0.1"), (-1, "127.0.0.1"), (30, "127.0.0.2")],
    ids=["self-signed", "expired", "wrong host"],
)
def test_a_certificate_that_proves_nothing_is_refused(run: Run, tmp_path: Path, days: int, name: str) -> None:
    async def scenario() -> tuple[WireFault, int]:
        async with FakeProvider(tls=certificate(tmp_path, days=days, name=name)) as provider:
            port = int(provider.base_url.rpartition(":")[2].removesuffix("/v1"))
            return await fault(Origin("https", "127.0.0.1", port)), len(provider.log)

    assert run(scenario()) == (WireFault.TLS, 0)


@pytest.mark.case("T03")
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1 is deprecated")
def test_a_protocol_that_is_out_of_date_is_refused(run: Run, tmp_path: Path) -> None:
    async def scenario() -> tuple[WireFault, int]:
        old = certificate(tmp_path)
        old.set_ciphers("ALL:@SECLEVEL=0")
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1
        async with FakeProvider(tls=old) as provider:
            port = int(provider.base_url.rpartition(":")[2].removesuffix("/v1"))
            return await fault(Origin("https", "127.0.0.1", port)), len(provider.log)

    assert run(scenario()) == (WireFault.TLS, 0)


@pytest.mark.case("T03")
def test_a_plain_upstream_is_never_spoken_to_in_the_clear(run: Run) -> None:
    async def scenario() -> tuple[WireFault, int]:
        async with FakeProvider() as provider:
            port = int(provider.base_url.rpartition(":")[2].removesuffix("/v1"))
            return await fault(Origin("https", "127.0.0.1", port)), len(provider.log)

    assert run(scenario()) == (WireFault.TLS, 0)


def test_the_context_of_tls_verifies_and_is_made_once() -> None:
    context = tls_context()

    assert context is tls_context()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


# --- another configuration


@pytest.mark.bug("J-09", "L-03")
def test_idle_connections_of_keys_that_are_gone_are_closed_and_the_others_kept(run: Run) -> None:
    async def scenario() -> tuple[int, bool, bool]:
        async with upstream() as up:
            kept, gone = await up.pool.connect(up.origin, 2.0), await up.pool.connect(up.origin, 2.0)
            up.pool.release(KEY, kept, 60.0)
            up.pool.release("gone", gone, 60.0)

            up.pool.keep({KEY})

            await up.provider.until(lambda: up.provider.open_connections == 1)
            found = up.pool.reuse("gone") is None, up.pool.reuse(KEY) is kept
            kept.abort()
            return len(up.pool._idle), *found

    assert run(scenario()) == (1, True, True)
