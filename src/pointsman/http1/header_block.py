"""Header lines as they came: checked as a whole, looked up one by one, since few are ever asked for (pure)."""

import re
from collections.abc import Iterator, Mapping

from pointsman.domain.octets import holds

# no underscore in a name of a caller: proxies in front map it to a hyphen, and two names become one;
# possessive, so that no input can make it go back
SOUND_LINES = re.compile(rb"(?:[!#$%&'*+\-.^`|~0-9A-Za-z]++:[^\x00-\x08\x0a-\x1f\x7f]*+\r\n)*+")


class HeaderBlock(Mapping[bytes, bytes]):
    """A mapping by lower-case name. Repeated headers are one, with a comma between (RFC 9110 5.3)."""

    __slots__ = ("_found", "_lines", "lowered", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw  # begins with the CRLF before the first line and ends with the one of the last
        self.lowered = raw.lower()
        # what was asked for: the requests of one client share a block
        self._found: dict[bytes, bytes | None] = {}
        self._lines: dict[tuple[bytes, ...], bytes] = {}

    def get(self, name: bytes, default: bytes | None = None) -> bytes | None:  # type: ignore[override]  # one default
        found = self._found
        if name not in found:
            found[name] = self._search(name)
        value = found[name]
        return default if value is None else value

    def lines(self, names: tuple[bytes, ...]) -> bytes:
        """The lines of these headers, names in lower case."""
        lines = self._lines.get(names)
        if lines is None:
            found = [b"%b: %b\r\n" % (name, value) for name in names if (value := self.get(name)) is not None]
            lines = self._lines[names] = b"".join(found)
        return lines

    def _search(self, name: bytes) -> bytes | None:
        start = b"\r\n%b:" % name
        at = self.lowered.find(start)
        if at < 0:
            return None
        begin = at + len(start)
        end = self.raw.index(b"\r\n", begin)
        value = self.raw[begin:end].strip()
        return value if self.lowered.find(start, end) < 0 else b", ".join(self._all(start))

    def __getitem__(self, name: bytes) -> bytes:
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return isinstance(name, bytes) and holds(self.lowered, b"\r\n%b:" % name)

    def __iter__(self) -> Iterator[bytes]:
        lines = self.lowered.split(b"\r\n")[1:-1]
        return iter(dict.fromkeys(line.partition(b":")[0] for line in lines))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def without(self, name: bytes) -> "HeaderBlock":
        """The same but for a header that is there once at most."""
        at = self.lowered.find(b"\r\n%b:" % name)
        return self if at < 0 else HeaderBlock(self.raw[:at] + self.raw[self.raw.index(b"\r\n", at + 2) :])

    def count(self) -> int:
        """How many header lines there are."""
        return self.raw.count(b"\r\n") - 1

    def lines_of(self, prefix: bytes) -> bytes:
        """The header lines whose names begin with `prefix` (in lower case), as they came; none if not plain ASCII."""
        lowered, start = self.lowered, b"\r\n" + prefix
        first = lowered.find(start)
        if first < 0:
            return b""
        end = lowered.index(b"\r\n", lowered.rindex(start) + 2)
        if lowered.count(b"\r\n", first, end) == lowered.count(start, first, end):
            found = self.raw[first + 2 : end + 2]  # the usual case: one beside the other
            return found if found.isascii() else b""
        lines = zip(lowered[first + 2 : end].split(b"\r\n"), self.raw[first + 2 : end].split(b"\r\n"), strict=True)
        return b"".join([raw + b"\r\n" for line, raw in lines if line.startswith(prefix) and raw.isascii()])

    def _all(self, start: bytes) -> Iterator[bytes]:
        at = self.lowered.find(start)
        while at >= 0:
            begin = at + len(start)
            end = self.raw.index(b"\r\n", begin)
            yield self.raw[begin:end].strip()
            at = self.lowered.find(start, end)
