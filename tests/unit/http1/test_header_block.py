import pytest

from pointsman.http1.header_block import SOUND_LINES, HeaderBlock
from tests.unit.http1.growth import growth


def block(*lines: bytes) -> HeaderBlock:
    return HeaderBlock(b"\r\n" + b"".join(line + b"\r\n" for line in lines))


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b"x: a", b"a"),
        (b"X: A", b"A"),
        (b"x:a", b"a"),
        (b"x: \t a b\t ", b"a b"),
        (b"x:", b""),
        (b"x: a:b", b"a:b"),
        (b"x: \xe4", b"\xe4"),
    ],
)
def test_a_header_is_found_in_any_case_with_its_value_as_sent(line: bytes, value: bytes) -> None:
    headers = block(b"a: 1", line, b"b: 2")

    assert (headers.get(b"x"), headers[b"x"], b"x" in headers) == (value, value, True)


@pytest.mark.parametrize("lines", [(), (b"xx: 1",), (b"a: x: 1",), (b"x-y: 1",), (b"a-x: 1",)])
def test_a_header_that_is_not_there_is_none(lines: tuple[bytes, ...]) -> None:
    headers = block(*lines)

    assert (headers.get(b"x"), headers.get(b"x", b"?"), b"x" in headers) == (None, b"?", False)
    with pytest.raises(KeyError):
        headers[b"x"]


def test_a_name_is_bytes() -> None:
    assert "x" not in block(b"x: 1")


def test_repeated_headers_are_one_in_order() -> None:
    headers = block(b"X: 1", b"y: 2", b"x:  3 ", b"X:")

    assert headers[b"x"] == b"1, 3, "
    assert dict(headers) == {b"x": b"1, 3, ", b"y": b"2"}


@pytest.mark.parametrize(
    ("lines", "names", "count"),
    [((), [], 0), ((b"A: 1",), [b"a"], 1), ((b"b: 1", b"A: x: 2", b"B: 3"), [b"b", b"a"], 3)],
)
def test_names_come_once_each_and_lines_are_counted(lines: tuple[bytes, ...], names: list[bytes], count: int) -> None:
    headers = block(*lines)

    assert (list(headers), len(headers), headers.count()) == (names, len(names), count)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ((), b""),
        ((b"x-limi: 4",), b""),
        ((b"y: x-limit-b: 2",), b""),
        ((b"a: 1", b"X-Limit-A: 1", b"b: 2"), b"X-Limit-A: 1\r\n"),
        ((b"X-Limit-A: 1", b"x-limit-b:2 "), b"X-Limit-A: 1\r\nx-limit-b:2 \r\n"),
        (
            (b"X-Limit-A: 1", b"y: x-limit-b: 2", b"x-LIMIT-c:3", b"X-Limit-:"),
            b"X-Limit-A: 1\r\nx-LIMIT-c:3\r\nX-Limit-:\r\n",
        ),
    ],
)
def test_the_lines_of_a_prefix_are_given_as_they_came(lines: tuple[bytes, ...], found: bytes) -> None:
    assert block(*lines).lines_of(b"x-limit-") == found


def test_blocks_of_the_same_headers_are_equal() -> None:
    assert block(b"X: 1", b"y:2") == block(b"Y: 2", b"x: 1")
    assert block(b"X: 1") == {b"x": b"1"}


def test_lines_full_of_white_space_are_checked_in_linear_time() -> None:
    def work(size: int) -> None:
        for value in (b" " * size + b"\x00", b"a" * size + b"\x00", b" " * size):
            SOUND_LINES.fullmatch(b"x:" + value + b"\r\n")
        SOUND_LINES.fullmatch(b"x:a\r\n" * (size // 5) + b"\x00")
        SOUND_LINES.fullmatch(b"x" * size)

    assert growth(work, 2_000, 32_000) < 100  # quadratic would be 256


@pytest.mark.case("T62")
@pytest.mark.parametrize("value", [b"a\x9bb", b"\xc2\x85", "日本".encode(), b"\xff"])
def test_lines_that_begin_alike_are_plain_ascii_or_not_there(value: bytes) -> None:
    block = HeaderBlock(b"\r\nx-a: %b\r\nx-b: plain\r\nother: 1\r\nx-c: plain\r\n" % value)

    assert block.lines_of(b"x-") == b"x-b: plain\r\nx-c: plain\r\n"
    assert HeaderBlock(b"\r\nx-a: %b\r\nx-b: plain\r\n" % value).lines_of(b"x-") == b""
    assert block[b"x-a"] == value
