"""The composition root: the only place where the parts are built and wired together."""

import asyncio
import contextlib
import gc
import logging
import math
import random
import signal
import socket
from collections.abc import Callable, Iterator, Mapping

from pointsman import __version__
from pointsman.config.load import Loaded
from pointsman.config.settings import Settings
from pointsman.control.api import application
from pointsman.control.server import AdminServer
from pointsman.control.sources import Sources
from pointsman.core import core
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.derived import forget_derived
from pointsman.domain.outcome import LimitedUnit
from pointsman.domain.ports import Clock, Rng
from pointsman.domain.snapshot import Snapshot
from pointsman.domain.target import Target
from pointsman.http1 import descriptors, memory
from pointsman.http1.clock import SystemClock
from pointsman.http1.limits import EdgeLimits, UpstreamLimits, Watchdog
from pointsman.http1.overload import Overload
from pointsman.http1.pool import ConnectionPool
from pointsman.http1.pressure import Pressure
from pointsman.http1.resolver import Resolver
from pointsman.http1.server import EdgeServer
from pointsman.observability.decision_log import DecisionLog
from pointsman.observability.logging import flood, lost_lines, set_level
from pointsman.observability.metrics import BREAKER_VALUE, Metrics, Sample
from pointsman.observability.recent import RecentDecisions
from pointsman.observability.stalls import StallWatch
from pointsman.proxy import count_tokens
from pointsman.proxy.count_tokens import CountHandler
from pointsman.proxy.handler import ModelHandler
from pointsman.proxy.live import Live
from pointsman.proxy.parts import Parts
from pointsman.proxy.policy_services import PolicyServices
from pointsman.proxy.recorder import Recorder
from pointsman.proxy.server import FrontDoor
from pointsman.proxy.stored_responses import StoredResponses
from pointsman.proxy.tool_judge import ToolJudge
from pointsman.reload import Reloader
from pointsman.routing.router import standing
from pointsman.routing.scorers import SCORE, Verdict
from pointsman.signals.board import SignalBoard
from pointsman.signals.holders import Holders
from pointsman.upstream.client import Upstream

log = logging.getLogger(__name__)

_STOPPING = (signal.SIGINT, signal.SIGTERM)


class App:
    """One gateway process: data plane, admin listener and everything they share."""

    def __init__(self, loaded: Loaded, *, rng: Rng | None = None, clock: Clock | None = None) -> None:
        settings = loaded.settings
        loop = asyncio.get_running_loop()
        self._clock = clock or SystemClock()
        self._started_at = self._clock.now()
        self._rng = rng or random.Random()  # noqa: S311  # spreads load; guards nothing
        self.live = Live(loaded.snapshot, settings.body_limit_bytes)
        self.board = SignalBoard(self._rng)
        self.metrics = Metrics()
        self._decisions = DecisionLog(settings.decisions_path, settings.decisions_max_bytes)
        self._recent = RecentDecisions(settings.decisions_max_rows)
        self._decisions.on_kept = self._recent.keep
        self._recorder = Recorder(self._decisions, self.metrics, logs_requests=settings.log_requests)
        self.metrics.before_scrape = self._recorder.digest  # a scrape sees every request that has ended
        self._tool_judge = ToolJudge(self.board)
        self._watchdog = Watchdog(loop)
        limits = UpstreamLimits()
        self._pool = ConnectionPool(loop, limits, self._watchdog, Resolver(loop))
        upstream = Upstream(loop, self._pool)
        self._policies = PolicyServices(upstream, self.metrics, self._clock)
        self._memory = memory.Memory()
        self.overload = Overload(settings.queue_s, _memory_limit(settings))
        front_door = self._front_door(upstream, limits)
        self._edge = EdgeServer(front_door, _edge_limits(settings), self._watchdog)
        self._pressure = Pressure(loop, self.overload, self._memory, self._edge, self._watchdog, self.metrics.waited)
        self._stalls = StallWatch()
        self._edge.longest_request_s = _longest_s(self.live.snapshot)
        self._reloader = Reloader(loaded, self.live, self, self.metrics, self._clock)
        self._admin = AdminServer(application(self._sources()))
        self._reloading: asyncio.Task[None] | None = None
        self._register_gauges()

    def _front_door(self, upstream: Upstream, limits: UpstreamLimits) -> FrontDoor:
        parts = Parts(
            self.live, self.board, upstream, self._recorder, self._rng, self._clock, limits, Holders(), self._policies,
            self._tool_judge,
        )  # fmt: skip
        posts = {codec.path: ModelHandler(codec, parts).serve for codec in DIALECTS.values()}
        posts[count_tokens.PATH] = CountHandler(parts).serve
        return FrontDoor(posts, StoredResponses(parts).serve, parts, self.overload, self._memory.used_bytes)

    def _sources(self) -> Sources:
        return Sources(
            exposition=self.metrics.exposition,
            attempts=self._attempts_up_to_now,
            scored_decisions=self._scored_up_to_now,
            node_id=socket.gethostname(),
            status=self.status,
            is_ready=lambda: self.live.is_ready,
            snapshot=lambda: self.live.snapshot,
            settings=lambda: self._reloader.settings,
            recent=self._recent_up_to_now,
            board=self.board,
            clock=self._clock,
        )

    def _recent_up_to_now(self) -> RecentDecisions:
        self._recorder.digest()
        return self._recent

    def _attempts_up_to_now(self) -> Mapping[str, Mapping[str, int]]:
        self._recorder.digest()
        return self.metrics.attempts()

    def _scored_up_to_now(self, group: str) -> Mapping[str, int]:
        self._recorder.digest()
        return self.metrics.scored_decisions(group)

    # --- life

    async def start(self) -> None:
        """Open the record file and both listeners. Raises OSError when one of them cannot be had."""
        self._decisions.start()
        self._watchdog.start()
        self._watchdog.watch(self._recorder)
        self._watchdog.watch(self._tool_judge)
        self._watchdog.watch(self._pressure)
        self._watchdog.watch(self._stalls)
        self._pool.start()
        listen, admin_listen = self._reloader.settings.listen, self._reloader.settings.admin_listen
        await self._edge.start(listen.host, listen.port)
        await self._admin.start(admin_listen.host, admin_listen.port)
        self._reloading = asyncio.create_task(self._reloader.run())
        gc.collect()
        gc.freeze()  # what lives as long as the process need not be looked at again
        gc.set_threshold(50_000, 20, 50)  # requests make no cycles: looking for them every 700 objects is waste
        self._stalls.start()

    async def stop(self) -> None:
        """Readiness off, listener closed, running answers ended within the drain time, records written."""
        self.live.is_draining = True
        if self._reloading is not None:
            self._reloading.cancel()
        await self._edge.drain(self._reloader.settings.drain_s)
        self._pool.close()
        self._stalls.stop()
        self._watchdog.stop()
        await self._admin.stop()
        self._recorder.digest()
        self._decisions.close()
        self._memory.close()

    def hurry(self) -> None:
        """What still runs gets no more time: it ends as at the end of the drain time."""
        self._edge.hurry()

    @property
    def port(self) -> int:
        return self._edge.port

    @property
    def admin_port(self) -> int:
        return self._admin.port

    # --- another configuration

    def reload(self) -> None:
        """Read the configuration again, soon."""
        self._reloader.ask()

    def adopt(self, settings: Settings) -> None:
        """Part of `reload.Parts`: all settings but those that `NEEDS_RESTART` names."""
        self._edge.limits = _edge_limits(settings)  # of connections from now on
        # requests that began with earlier limits are still under way
        self._edge.longest_request_s = max(self._edge.longest_request_s, _longest_s(self.live.snapshot))
        self.overload.queue.limit_s = settings.queue_s
        self.overload.memory.limit_bytes = _memory_limit(settings)
        self.live.body_limit_bytes = settings.body_limit_bytes
        self._recorder.logs_requests = settings.log_requests
        self._decisions.max_bytes = settings.decisions_max_bytes
        self._recent.max_rows = settings.decisions_max_rows
        set_level(settings.log_level)
        forget_derived()
        self.tidy()

    def tidy(self) -> None:
        """Part of `reload.Parts`."""
        snapshot = self.live.snapshot
        self.board.keep((*snapshot.groups.values(), *snapshot.direct.values()))
        self._pool.keep(frozenset((*snapshot.providers.values(), *snapshot.services.values())))
        self._policies.keep(snapshot.services)

    def status(self) -> dict[str, object]:
        """What runs, since when, and what came of the last reload."""
        return {
            "version": __version__,
            "core": core(),
            "uptime_s": round(self._clock.now() - self._started_at, 3),
            "draining": self.live.is_draining,
            **self._reloader.status(),
        }

    # --- live state as metrics

    def _register_gauges(self) -> None:
        gauge = self.metrics.live_gauge
        gauge("in_flight", "Attempts on their way.", ("target",), self._in_flight)
        gauge("breaker_state", "0 closed, 0.5 half-open, 1 open.", ("target",), self._breakers)
        gauge("gate", "Probability that a target is admitted to a decision.", ("target",), self._gates)
        text = "Load per second at which a target begins to refuse, as learned; +Inf: not known."
        gauge("traffic_cap", text, ("target", "unit"), self._traffic_caps)
        text = "Attempts in flight above which load makes a target too slow, as learned; +Inf: not known."
        gauge("in_flight_limit", text, ("target",), self._in_flight_limits)
        text = "What a target charges, times its list price."
        gauge("price_factor", text, ("target",), self._price_factors)
        text = "Score of a target beside the others of its group; higher is better."
        gauge("adaptive_routing_target_score", text, ("group", "target"), self._target_scores)
        gauge("adaptive_routing_engaged", "1 while scores decide, 0 in fallback.", ("group",), self._engaged)
        text = "Seconds that a target is expected to take, as its group's strategy compares them."
        gauge("routing_latency_seconds", text, ("group", "target"), self._latencies)
        text = "Pauses of a target, by their cause."
        self.metrics.live_counter("routing_pauses", text, ("target", "cause"), self._pauses)
        gauge("connections", "Connections of callers.", (), lambda: [((), float(len(self._edge.connections)))])
        text = "Requests that were turned away, by what there was too little of."
        shed = self.overload.shed
        self.metrics.live_counter(
            "requests_shed", text, ("cause",), lambda: [((cause,), float(times)) for cause, times in shed.items()]
        )
        text = "Times that the event loop was held up for long."
        self.metrics.live_counter("loop_stalls", text, (), lambda: [((), float(self._stalls.stalls))])
        text = "Requests that outlived their deadline and were ended."
        self.metrics.live_counter("requests_overdue", text, (), lambda: [((), float(self._edge.overdue))])
        text = "Part of the requests that is admitted; below 1 while they wait too long for their turn."
        gauge("admitted_ratio", text, (), lambda: [((), self.overload.queue.ratio)])
        text = "What is refused for want of memory: 0 nothing, 1 long bodies, 2 requests, 3 connections."
        gauge("memory_step", text, (), lambda: [((), float(self.overload.memory.step))])
        text = "Memory that the gateway may use; +Inf: not limited."
        gauge("memory_limit_bytes", text, (), lambda: [((), float(self.overload.memory.limit_bytes or math.inf))])
        gauge("config_version", "Version of the configuration that is live.", (), self._config_version)
        gauge("records_dropped", "Decision records that were lost.", (), lambda: [((), float(self._decisions.dropped))])
        text = "Log lines that were left out because their cause had too many."
        self.metrics.live_counter("log_lines_left_out", text, (), lambda: [((), float(flood.dropped))])
        text = "Log lines that were lost because nobody took them from stdout in time."
        self.metrics.live_counter("log_lines_lost", text, (), lambda: [((), float(lost_lines()))])
        text = "1 while the disk takes no decision records."
        gauge("records_failing", text, (), lambda: [((), float(self._decisions.is_failing))])
        gauge("build_info", "Always 1.", ("version",), lambda: [((__version__,), 1.0)])

    def _targets(self) -> Iterator[Target]:
        seen: dict[str, Target] = {}
        for group in self.live.snapshot.groups.values():
            for member in group.members:
                seen[member.target.state_key] = member.target
        return iter(seen.values())

    def _in_flight(self) -> list[Sample]:
        return [((target.id,), float(self.board.in_flight(target))) for target in self._targets()]

    def _breakers(self) -> list[Sample]:
        now = self._clock.now()
        return [
            ((target.id,), BREAKER_VALUE[self.board.target_view(target, now).breaker]) for target in self._targets()
        ]

    def _pauses(self) -> list[Sample]:
        return [
            ((target.id, cause), float(times))
            for target in self._targets()
            for cause, times in self.board.pauses_begun(target).items()
        ]

    def _latencies(self) -> list[Sample]:
        now = self._clock.now()
        return [
            ((group.name, member.target.id), latency_s)
            for group in dict.fromkeys(self.live.snapshot.groups.values())
            for member, seen in zip(group.members, self.board.view(group, now).measured, strict=False)
            if (latency_s := seen.ttfb_s or seen.ttft_s) is not None
        ]

    def _gates(self) -> list[Sample]:
        now = self._clock.now()
        return [((target.id,), self.board.target_view(target, now).gate) for target in self._targets()]

    def _traffic_caps(self) -> list[Sample]:
        now = self._clock.now()
        return [
            ((target.id, unit), self.board.caps(target, now).get(unit, math.inf))
            for target in self._targets()
            for unit in LimitedUnit
        ]

    def _in_flight_limits(self) -> list[Sample]:
        now = self._clock.now()
        limits = [(target.id, self.board.learned(target, now).in_flight_limit) for target in self._targets()]
        return [((target_id,), math.inf if limit is None else limit) for target_id, limit in limits]

    def _price_factors(self) -> list[Sample]:
        now = self._clock.now()
        factors = [(target.id, self.board.learned(target, now).price_factor) for target in self._targets()]
        return [((target_id,), 1.0 if factor is None else factor) for target_id, factor in factors]

    def _standings(self) -> Iterator[tuple[str, tuple[str, ...], Verdict]]:
        now = self._clock.now()
        for group in dict.fromkeys(self.live.snapshot.groups.values()):
            found = standing(group, self.board.view(group, now))
            if found is not None:
                yield group.name, *found

    def _target_scores(self) -> list[Sample]:
        return [
            ((name, target_id), score)
            for name, target_ids, verdict in self._standings()
            for target_id, score in zip(target_ids, verdict.terms.get(SCORE, ()), strict=False)
            if score is not None
        ]

    def _engaged(self) -> list[Sample]:
        return [((name,), float(verdict.fallback is None)) for name, _, verdict in self._standings()]

    def _config_version(self) -> list[Sample]:
        return [((), float(self.live.snapshot.config_version))]


def _edge_limits(settings: Settings) -> EdgeLimits:
    return EdgeLimits(
        body_bytes=settings.body_limit_bytes,
        connections=min(settings.max_connections, descriptors.connections_within_limit()),
        strangers_per_address=settings.strangers_per_address,
        stream_keepalive_s=settings.stream_keepalive_s or math.inf,
    )


def _longest_s(snapshot: Snapshot) -> float:
    """Longest time that a request may take."""
    return max(snapshot.timeouts.total_s, snapshot.timeouts.total_stream_s)


def _memory_limit(settings: Settings) -> int | None:
    """In bytes; None: there is none."""
    return memory.limit_bytes() if settings.memory_bytes is None else settings.memory_bytes


async def serve(
    loaded: Loaded, *, on_ready: Callable[[App], None], duration_s: float | None = None, reloads: bool = True
) -> None:
    """Run until a signal comes, or for `duration_s`; a second signal ends the drain, a third one is sudden as usual.

    `reloads`: SIGHUP means another configuration. Else it ends the process, as when a terminal is closed.
    """
    descriptors.raise_limit()
    app = App(loaded)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _STOPPING:
        loop.add_signal_handler(number, _on_stop, app, stopped, loop)
    if reloads:
        loop.add_signal_handler(signal.SIGHUP, app.reload)
    try:
        await app.start()
        on_ready(app)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(duration_s):
                await stopped.wait()
    finally:
        stopped.set()
        log.info("stopping")
        await app.stop()
        for number in _STOPPING:
            loop.remove_signal_handler(number)


def _on_stop(app: App, stopped: asyncio.Event, loop: asyncio.AbstractEventLoop) -> None:
    if stopped.is_set():
        app.hurry()
        for number in _STOPPING:
            loop.remove_signal_handler(number)
    stopped.set()


def new_loop() -> asyncio.AbstractEventLoop:
    """The loop of uvloop where it exists, else asyncio's own."""
    try:
        import uvloop  # noqa: PLC0415  # absent on Windows
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
