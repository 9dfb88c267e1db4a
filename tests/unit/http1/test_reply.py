import pytest

from pointsman.http1.reply import Reply, status_line


class FakeWire:
    date_line = b"date: now\r\n"

    def __init__(self) -> None:
        self.written, self.is_aborted = b"", False

    def write(self, data: bytes) -> None:
        self.written += data

    def abort(self) -> None:
        self.is_aborted = True


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (200, b"HTTP/1.1 200 OK\r\n"),
        (429, b"HTTP/1.1 429 Too Many Requests\r\n"),
        (529, b"HTTP/1.1 529 \r\n"),
        (499, b"HTTP/1.1 499 \r\n"),
    ],
)
def test_a_status_has_its_line(status: int, line: bytes) -> None:
    assert status_line(status) == line


@pytest.mark.parametrize(
    ("keep_alive", "is_http_1_0", "line"),
    [
        (True, False, b""),
        (False, False, b"connection: close\r\n"),
        (True, True, b"connection: keep-alive\r\n"),
        (False, True, b"connection: close\r\n"),
    ],
)
def test_a_whole_answer_is_one_head_with_its_length(keep_alive: bool, is_http_1_0: bool, line: bytes) -> None:
    wire = FakeWire()

    Reply(wire, wire, keep_alive, is_http_1_0=is_http_1_0).send(200, b"x: y\r\n", b"abc")

    assert wire.written == b"HTTP/1.1 200 OK\r\ndate: now\r\nx: y\r\n" + line + b"content-length: 3\r\n\r\nabc"


def test_the_answer_to_head_has_the_length_only() -> None:
    wire = FakeWire()

    Reply(wire, wire, True, has_body=False).send(200, b"", b"abc")

    assert wire.written.endswith(b"content-length: 3\r\n\r\n")


@pytest.mark.parametrize("keep_alive", [True, False])
def test_a_streamed_answer_is_chunked(keep_alive: bool) -> None:
    wire = FakeWire()
    reply = Reply(wire, wire, keep_alive)

    reply.start(200, b"x: y\r\n")
    reply.write(b"a" * 17)
    reply.write(b"b")
    reply.finish()

    line = b"" if keep_alive else b"connection: close\r\n"
    head = b"HTTP/1.1 200 OK\r\ndate: now\r\nx: y\r\n" + line + b"transfer-encoding: chunked\r\n\r\n"
    assert wire.written == head + b"11\r\n" + b"a" * 17 + b"\r\n1\r\nb\r\n0\r\n\r\n"


@pytest.mark.parametrize("keep_alive", [True, False])
def test_a_streamed_answer_on_http_1_0_ends_with_the_connection(keep_alive: bool) -> None:
    wire = FakeWire()
    reply = Reply(wire, wire, keep_alive, is_http_1_0=True)

    reply.start(200, b"")
    reply.write(b"abc")
    reply.finish()

    assert wire.written == b"HTTP/1.1 200 OK\r\ndate: now\r\nconnection: close\r\n\r\nabc"
    assert not reply.keep_alive


def test_a_reply_knows_how_far_it_is() -> None:
    wire = FakeWire()
    reply = Reply(wire, wire, True)
    states = [(reply.is_started, reply.is_finished, reply.status, reply.bytes_sent)]

    for step in (lambda: reply.start(201, b""), lambda: reply.write(b"abc"), reply.finish):
        step()
        states.append((reply.is_started, reply.is_finished, reply.status, reply.bytes_sent))

    assert states == [(False, False, 0, 0), (True, False, 201, 0), (True, False, 201, 3), (True, True, 201, 3)]


def test_nothing_is_written_to_a_caller_that_is_gone() -> None:
    wire = FakeWire()
    reply = Reply(wire, wire, True)
    reply.is_gone = True

    reply.send(200, b"", b"")
    reply.start(200, b"")
    reply.write(b"x")
    reply.finish()
    reply.abort()

    assert (wire.written, wire.is_aborted, reply.is_started, reply.is_finished) == (b"", False, False, False)


def test_an_aborted_reply_cuts_the_connection() -> None:
    wire = FakeWire()

    Reply(wire, wire, True).abort()

    assert wire.is_aborted
