"""Deadlines and caps: every wait of the data plane is bounded here."""

from asyncio import AbstractEventLoop, TimerHandle
from typing import Protocol

from pointsman.domain.value import Value

KIB = 1024


class EdgeLimits(Value):
    """Caps of the caller side (reliability.md 3.4, 2-5); the first three are keys of the configuration."""

    body_bytes: int
    connections: int
    strangers_per_address: int | None  # None: all come from the address of a proxy
    stranger_s: float = 1.0  # until a connection without a key counts as one; a request comes with the connection
    reserved: int = 32  # connections over the cap, for probes: as many as ask for them at once
    reserved_s: float = 1.0  # for their whole request, so that silent ones do not fill the reserve
    head_s: float = 10.0  # absolute, so that a dripper cannot extend it
    keep_alive_s: float = 120.0  # longer than the pools of common clients keep a connection
    body_base_s: float = 30.0
    body_min_bytes_per_s: int = KIB  # slower than the slowest modem in use
    stream_keepalive_s: float = 10.0  # of silence in an answer, until its caller is told that it goes on; inf: never
    overdue_s: float = 60.0  # beyond the longest time for a request: only a fault of ours lets one live for so long
    write_idle_s: float = 30.0  # a caller that reads nothing for so long is gone
    write_buffer_bytes: int = 64 * KIB  # unsent bytes per caller before the upstream is paused
    # of the kernel, per caller: its own 4 MB would hide what a caller does not read, and how slowly one reads
    send_buffer_bytes: int = 256 * KIB
    linger_s: float = 1.0  # after an early error: time for the caller to read it
    linger_bytes: int = 64 * KIB
    pipelined_bytes: int = 64 * KIB  # requests sent ahead; about 16 of usual size

    def body_deadline_s(self, length: int | None) -> float:
        """Longest time a body of `length` bytes may take; None: the length is not announced."""
        return self.body_base_s + (length or self.body_bytes) / self.body_min_bytes_per_s


class UpstreamLimits(Value):
    """Caps of the upstream side (reliability.md 3.4, 8)."""

    head_bytes: int = 32 * KIB
    header_count: int = 128
    interim_responses: int = 16
    unary_bytes: int = 64 * KIB * KIB
    stream_bytes: int = 256 * KIB * KIB  # relayed of one stream; the longest ones of agents have a tenth
    error_bytes: int = KIB * KIB  # of an error answer; more of it helps nobody
    event_bytes: int = KIB * KIB  # of one server-sent event
    held_bytes: int = KIB * KIB  # events held back until the first content


class AttemptLimits(Value):
    """How long one exchange with an upstream may take for what."""

    connect_s: float
    first_content_s: float  # from sending the request on
    idle_s: float  # between two reads, from the first content on


class Watched(Protocol):
    """Something with deadlines. Checked on a tick: arming or moving a deadline is a plain assignment."""

    def check(self, now: float) -> None:
        """Act if a deadline has passed. `now` is in monotonic seconds of the loop."""
        ...


class Watchdog:
    """Checks everything watched once per tick; no timer per request, read or event."""

    def __init__(self, loop: AbstractEventLoop, tick_s: float = 0.1) -> None:
        # 100 ms: deadlines are kept to +-250 ms, and 4,000 connections cost 0.6 % of a core
        self._loop, self._tick_s = loop, tick_s
        self._watched: set[Watched] = set()
        self._timer: TimerHandle | None = None
        self._due_at = 0.0
        self.late_s = 0.0  # of the latest tick: so long does the loop take to come round

    def start(self) -> None:
        """Begin ticking."""
        self._arm(self._loop.time())

    def stop(self) -> None:
        """Stop ticking; nothing watched fires any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def watch(self, item: Watched) -> None:
        self._watched.add(item)

    def unwatch(self, item: Watched) -> None:
        self._watched.discard(item)

    def __len__(self) -> int:
        return len(self._watched)

    def _tick(self) -> None:
        now = self._loop.time()
        self.late_s = max(0.0, now - self._due_at)
        self._arm(now)
        for item in tuple(self._watched):
            item.check(now)

    def _arm(self, now: float) -> None:
        self._due_at = now + self._tick_s
        self._timer = self._loop.call_later(self._tick_s, self._tick)
