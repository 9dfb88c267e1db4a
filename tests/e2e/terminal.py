"""A terminal for programs that draw: runs them on a pty and keeps what a person would see."""

import codecs
import contextlib
import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

ROWS, COLUMNS = 24, 80
CTRL_C = b"\x03"
_BECOME_ITS_PROGRAM = "import os, sys; os.login_tty(0); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
_BEGUN_CODE = re.compile(r"\x1b(\[[?\d;]*)?$")
_TOKEN = re.compile(r"\x1b\[(\?25[lh]|[\d;]*[A-Za-z])|(\r|\n)|([^\x00-\x1f]+)")


class Picture:
    """The few control codes that a redrawn view needs; any other is an error, so that nothing is overlooked."""

    def __init__(self, rows: int = ROWS, columns: int = COLUMNS) -> None:
        self._rows, self._columns = rows, columns
        self._lines = [""] * rows
        self._row = self._column = 0
        self.scrolled: list[str] = []  # lines that have left at the top
        self.has_cursor = True

    def __str__(self) -> str:
        return "\n".join(line.rstrip() for line in self._lines)

    def feed(self, text: str) -> None:
        """Draw. A code must not be cut."""
        at = 0
        while at < len(text):
            token = _TOKEN.match(text, at)
            if token is None:
                raise ValueError(f"cannot draw {text[at : at + 20]!r}")
            at = token.end()
            code, control, printed = token.groups()
            if code is not None:
                self._obey(code)
            elif control == "\r":
                self._column = 0
            elif control == "\n":
                self._down()
            else:
                for character in printed:
                    self._print(character)

    def _obey(self, code: str) -> None:
        if code in {"?25l", "?25h"}:
            self.has_cursor = code == "?25h"
        elif code.endswith("A"):
            self._row = max(0, self._row - int(code[:-1] or 1))
        elif code == "2K":
            self._lines[self._row] = ""
        elif not code.endswith("m"):  # colours are not kept
            raise ValueError(f"cannot obey {code!r}")

    def _print(self, character: str) -> None:
        if self._column == self._columns:  # only now: a full line alone does not wrap
            self._column = 0
            self._down()
        line = self._lines[self._row].ljust(self._column)
        self._lines[self._row] = line[: self._column] + character + line[self._column + 1 :]
        self._column += 1

    def _down(self) -> None:
        if self._row < self._rows - 1:
            self._row += 1
            return
        self.scrolled.append(self._lines.pop(0))
        self._lines.append("")


class TerminalProcess:
    """A Python program on a terminal of its own."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.picture = Picture()
        self.raw = b""
        self._process, self._master = process, master
        self._decode = codecs.getincrementaldecoder("utf-8")().decode  # a read may end inside a character
        self._text = ""

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def until(self, is_true: Callable[[str], bool], patience_s: float = 20.0) -> str:
        """The picture, as soon as it is as wanted."""
        deadline_s = time.monotonic() + patience_s
        while not is_true(seen := str(self.picture)):
            assert time.monotonic() < deadline_s, seen
            assert self._read(), seen
        return seen

    def exit_code(self, patience_s: float = 15.0) -> int:
        """Draws all that is left."""
        deadline_s = time.monotonic() + patience_s
        while self._read():
            assert time.monotonic() < deadline_s, str(self.picture)
        return self._process.wait(patience_s)

    def _read(self) -> bool:
        """Draw what has come, if anything has; False: the program has closed the terminal."""
        if not select.select([self._master], [], [], 0.5)[0]:
            return True
        try:
            read = os.read(self._master, 1 << 16)
        except OSError:  # how Linux says that nobody has the other end
            return False
        self.raw += read
        self._text += self._decode(read)
        begun = _BEGUN_CODE.search(self._text)
        whole = len(self._text) if begun is None else begun.start()
        self.picture.feed(self._text[:whole])
        self._text = self._text[whole:]
        return bool(read)


@contextlib.contextmanager
def on_terminal(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path, *, rows: int = ROWS, columns: int = COLUMNS
) -> Iterator[TerminalProcess]:
    """Run `python ARGUMENTS`; it is ended with the block, if it has not ended itself."""
    master, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    command = [sys.executable, "-c", _BECOME_ITS_PROGRAM, *arguments]
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, master)
        process = subprocess.Popen(command, stdin=terminal, env=dict(environment), cwd=folder)  # noqa: S603  # ours
        os.close(terminal)
        stack.callback(process.wait)
        stack.callback(process.kill)
        yield TerminalProcess(process, master)
