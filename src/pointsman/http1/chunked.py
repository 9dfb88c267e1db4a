"""The chunked transfer coding of a request body: fed bytes, gives body parts (pure)."""

import re
from enum import Enum, auto

from pointsman.domain.errors import ErrorKind, GatewayError

MAX_SIZE_LINE_BYTES = 256 + 18  # 256 bytes of extensions, which are ignored
MAX_TRAILER_BYTES = 8 * 1024

_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[^\x00-\x08\x0a-\x1f\x7f]*)?")
_TRAILER = re.compile(rb"[!#$%&'*+\-.^`|~0-9A-Za-z]+:[^\x00-\x08\x0a-\x1f\x7f]*|")  # or the empty line at the end


class _State(Enum):
    SIZE = auto()
    DATA = auto()
    DATA_END = auto()
    TRAILERS = auto()
    DONE = auto()


class ChunkDecoder:
    """Decodes one body. After `is_done`, `rest` holds the bytes that belong to the next message."""

    def __init__(self) -> None:
        self._state = _State.SIZE
        self._buffer = b""
        self._at = 0  # first byte of the buffer that is not consumed: no copy per chunk
        self._left = 0  # bytes of the current chunk still to come
        self._trailer_bytes = 0

    @property
    def is_done(self) -> bool:
        return self._state is _State.DONE

    @property
    def rest(self) -> bytes:
        return self._buffer[self._at :]

    def feed(self, data: bytes) -> list[bytes]:
        """Body parts in order. Raises GatewayError (400) on anything but the exact coding."""
        self._buffer, self._at = self._buffer[self._at :] + data, 0
        parts: list[bytes] = []
        while self._step(parts):
            pass
        return parts

    def _step(self, parts: list[bytes]) -> bool:
        """Consume one element; False: more bytes are needed, or the body is complete."""
        match self._state:
            case _State.SIZE:
                return self._read_size()
            case _State.DATA:
                return self._read_data(parts)
            case _State.DATA_END:
                return self._read_data_end()
            case _State.TRAILERS:
                return self._read_trailer()
            case _State.DONE:
                return False

    def _line(self, limit: int) -> bytes | None:
        """The next line without its end; None: it is not complete yet."""
        end = self._buffer.find(b"\r\n", self._at, self._at + limit + 2)
        if end < 0:
            if len(self._buffer) - self._at > limit + 1:
                raise GatewayError(ErrorKind.BAD_REQUEST, "A line of the chunked body is too long.")
            return None
        line, self._at = self._buffer[self._at : end], end + 2
        return line

    def _read_size(self) -> bool:
        line = self._line(MAX_SIZE_LINE_BYTES)
        if line is None:
            return False
        match = _SIZE_LINE.fullmatch(line)
        if match is None:
            raise GatewayError(ErrorKind.BAD_REQUEST, "A chunk does not start with its size in hexadecimal digits.")
        self._left = int(match.group(1), 16)
        self._state = _State.DATA if self._left else _State.TRAILERS
        return True

    def _read_data(self, parts: list[bytes]) -> bool:
        part = self._buffer[self._at : self._at + self._left]
        if part:
            parts.append(part)
        self._at += len(part)
        self._left -= len(part)
        if self._left:
            return False
        self._state = _State.DATA_END
        return True

    def _read_data_end(self) -> bool:
        end = self._buffer[self._at : self._at + 2]
        if not b"\r\n".startswith(end):
            raise GatewayError(ErrorKind.BAD_REQUEST, "A chunk is longer than its announced size.")
        if end != b"\r\n":
            return False
        self._at += 2
        self._state = _State.SIZE
        return True

    def _read_trailer(self) -> bool:
        line = self._line(MAX_TRAILER_BYTES)
        if line is None:
            return False
        self._trailer_bytes += len(line)
        if self._trailer_bytes > MAX_TRAILER_BYTES:
            raise GatewayError(ErrorKind.BAD_REQUEST, "The trailers of the chunked body are too long.")
        if _TRAILER.fullmatch(line) is None:
            raise GatewayError(ErrorKind.BAD_REQUEST, "A trailer of the chunked body is malformed.")
        if not line:
            self._state = _State.DONE
        return bool(line)
