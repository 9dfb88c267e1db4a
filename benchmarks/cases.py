"""The cases of a run: what load each one makes and which figures it contributes."""

import math
from collections.abc import Callable

from msgspec import Struct

from benchmarks.load import ClosedLoop, Load
from benchmarks.load_streams import OpenStreams
from benchmarks.measure import Round, Window
from benchmarks.payloads import EVENT_INTERVAL_S, chat_body, http_request

STREAMS = 200
_STREAM_SPREAD_S = 0.5  # over which the streams start, so that their events do not all fall into one millisecond
_STREAM_MARGIN_S = 0.3  # streams outlive the measured window by this, so that no start or end falls into it


class Limit(Struct, frozen=True):
    """The most that a figure of the gateway may be, compared with the relay's."""

    ratio: float | None = None  # times as much
    added_us: float | None = None  # more than it


class Figure(Struct, frozen=True):
    """One row of the table."""

    title: str
    read: Callable[[Round], float | None]
    limit: Limit | None = None  # None: for information


class Case(Struct, frozen=True):
    """One kind of load."""

    key: str
    title: str
    load: Callable[[int, Window], Load]  # by port
    figures: tuple[Figure, ...]
    with_direct: bool = False  # also measure the mock itself, with nothing in between


def _closed_loop(size_bytes: int, connections: int) -> Callable[[int, Window], Load]:
    request = http_request(chat_body(size_bytes))
    return lambda port, _window: ClosedLoop(port, request, connections)


def _streams(port: int, window: Window) -> Load:
    duration_s = _STREAM_SPREAD_S + window.warmup_s + window.measured_s + _STREAM_MARGIN_S
    body = chat_body(1024, stream_events=math.ceil(duration_s / EVENT_INTERVAL_S))
    return OpenStreams(port, http_request(body), STREAMS, spread_s=_STREAM_SPREAD_S)


def _cpu(found: Round) -> float | None:
    return found.cpu_us_per_unit


def _p50(found: Round) -> float | None:
    return found.sample_p50_us


def _p99(found: Round) -> float | None:
    return found.sample_p99_us


def _cpu_per(unit: str, limit_ratio: float) -> Figure:
    return Figure(f"CPU per {unit}", _cpu, Limit(ratio=limit_ratio))


_DELAY_P99 = Figure("event delay p99", _p99, Limit(added_us=10_000))  # nobody sees 10 ms in a text that is typed out

CASES: dict[str, Case] = {
    case.key: case
    for case in (
        Case("unary", "1 KB, c=64", _closed_loop(1024, 64), (_cpu_per("request", 2.0),)),
        Case("large", "100 KB, c=16", _closed_loop(100 * 1024, 16), (_cpu_per("request", 1.8),)),
        Case(
            "sse",
            f"SSE, {STREAMS} streams x 50/s",
            _streams,
            (_cpu_per("event", 1.5), Figure("event delay p50", _p50), _DELAY_P99),
        ),
        Case(
            "latency",
            "1 KB, c=1",
            _closed_loop(1024, 1),
            (Figure("latency p50", _p50), Figure("latency p99", _p99)),
            with_direct=True,
        ),
    )
}
