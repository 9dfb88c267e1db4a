"""The configuration while the process runs: read again when asked to or when its file changes, swapped as a whole.

Reading is work for a thread; the swap is a few assignments on the loop, between two requests' steps. A request keeps
the snapshot it began with, and a file that is refused changes nothing.
"""

import asyncio
import contextlib
import logging
import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Protocol

from msgspec import structs

from pointsman.config.carry_over import carried_over, is_same
from pointsman.config.file_watch import FileWatch
from pointsman.config.load import Loaded, Source
from pointsman.config.problems import ConfigError
from pointsman.config.settings import NEEDS_RESTART, Settings
from pointsman.config.values import is_loopback
from pointsman.domain.ports import Clock
from pointsman.domain.snapshot import Snapshot
from pointsman.domain.value import Value
from pointsman.observability.metrics import Metrics, Sample
from pointsman.observability.times import rfc3339
from pointsman.proxy.live import Live

log = logging.getLogger(__name__)

WATCH_S = 1.0  # soon enough for a person who has just saved the file; a look costs one `stat`
_OPEN_DOOR = "auth.mode: none would serve everybody at {address} until a restart. Restart the gateway instead."
_OPEN_ADMIN = "without auth.admin_token everybody could read at {address} until a restart. Restart the gateway instead."
_SWITCH_S = 0.0005  # Python's own 5 ms would hold up every read of every request while a file is compiled


class Trigger(StrEnum):
    """Why the file was read."""

    SIGNAL = "signal"
    WATCH = "watch"


class Result(StrEnum):
    """What came of it."""

    OK = "ok"  # another configuration is live
    UNCHANGED = "unchanged"  # nothing that can change at run time is different
    REFUSED = "refused"  # the old one keeps serving


class Reload(Value):
    """One time the file was read again."""

    at: str  # RFC 3339, UTC
    trigger: Trigger
    result: Result
    problems: tuple[str, ...] = ()  # all of a refused file


class Parts(Protocol):
    """What a reload changes besides the snapshot; nothing of it waits."""

    def adopt(self, settings: Settings) -> None:
        """Another snapshot is live, and these settings with it."""
        ...

    def tidy(self) -> None:
        """Drop what only earlier snapshots needed, as far as no request uses it."""
        ...


class Reloader:
    """Owns the settings and replaces what is live."""

    def __init__(
        self, loaded: Loaded, live: Live, parts: Parts, metrics: Metrics, clock: Clock, *, watch_s: float = WATCH_S
    ) -> None:
        self._source, self._watch, self._watch_s = loaded.source, FileWatch(loaded.source.path), watch_s
        self._live, self._parts, self._metrics, self._clock = live, parts, metrics, clock
        self._asked = asyncio.Event()
        self._live_since_utc = clock.utc()
        self._needs_restart: tuple[str, ...] = ()  # keys of the file that differ from what runs
        self.settings = loaded.settings
        self.last: Reload | None = None
        self._register_metrics()

    def ask(self) -> None:
        """Read the file again soon. Asking ten times before that is asking once."""
        self._asked.set()

    def status(self) -> dict[str, object]:
        """For operators, in the types of JSON."""
        return {
            "config_version": self._live.snapshot.config_version,
            "config_file": str(self._source.path),
            "config_loaded_at": rfc3339(self._live_since_utc),
            "needs_restart": self._needs_restart,
            "last_reload": None if self.last is None else structs.asdict(self.last),
        }

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                trigger = await self._trigger()
                self._parts.tidy()
                if trigger is not None:
                    await self._reload(trigger)
            except Exception:  # e.g. no further thread can be had: the next look may be luckier
                log.exception("a reload failed in the gateway itself")

    async def _trigger(self) -> Trigger | None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._watch_s):
                await self._asked.wait()
        if self._asked.is_set():
            self._asked.clear()
            return Trigger.SIGNAL
        return Trigger.WATCH if await asyncio.to_thread(self._watch.has_changed) else None

    async def _reload(self, trigger: Trigger) -> None:
        try:
            loaded = await asyncio.to_thread(_loaded, self._source, self._watch, self._live.snapshot)
        except ConfigError as error:
            self._refuse(trigger, tuple(map(str, error.problems)))
        except Exception as error:  # noqa: BLE001  # a fault of ours; its text may quote the file, secrets included
            check = f"`pointsman check {self._source.path}` shows it"
            self._refuse(trigger, (f"the file cannot be read because of {type(error).__name__}; {check}",))
        else:
            if opened := _opened(loaded, self.settings):
                self._refuse(trigger, opened)
            else:
                self._accept(trigger, loaded)

    def _refuse(self, trigger: Trigger, problems: tuple[str, ...]) -> None:
        self._end(trigger, Result.REFUSED, problems)
        text = "the configuration is refused, version %d keeps serving"
        log.error(text, self._live.snapshot.config_version, extra=self._fields(problems=problems))

    def _accept(self, trigger: Trigger, loaded: Loaded) -> None:
        settings, self._needs_restart = split(loaded.settings, self.settings)
        is_new = settings != self.settings or not is_same(loaded.snapshot, self._live.snapshot)
        if is_new:
            self._live.snapshot, self.settings = loaded.snapshot, settings
            self._parts.adopt(settings)
            self._live_since_utc = self._clock.utc()
        self._end(trigger, Result.OK if is_new else Result.UNCHANGED)
        text = "configuration version %d is live" if is_new else "the configuration is unchanged, version %d is live"
        fields = self._fields(warnings=tuple(map(str, loaded.warnings)))
        log.info(text, self._live.snapshot.config_version, extra=fields)
        if self._needs_restart:
            log.warning("a restart is needed for %s", ", ".join(self._needs_restart), extra=fields)

    def _end(self, trigger: Trigger, result: Result, problems: tuple[str, ...] = ()) -> None:
        self.last = Reload(rfc3339(self._clock.utc()), trigger, result, problems)
        self._metrics.reloaded(result)

    def _fields(self, **more: tuple[str, ...]) -> dict[str, dict[str, object]]:
        version, last = self._live.snapshot.config_version, self.last
        told = {} if last is None else {"trigger": last.trigger, "result": last.result}
        return {"fields": {"config_version": version, **told, "needs_restart": self._needs_restart, **more}}

    def _register_metrics(self) -> None:
        gauge = self._metrics.live_gauge
        text = "When the configuration that is live was read, in seconds since 1970."
        gauge("config_loaded_timestamp_seconds", text, (), lambda: [((), self._live_since_utc)])
        gauge("config_refused", "1 while the file, as it was last read, is refused.", (), self._refused)
        for result in Result:
            self._metrics.reloaded(result, times=0)

    def _refused(self) -> list[Sample]:
        return [((), float(self.last is not None and self.last.result is Result.REFUSED))]


def _opened(loaded: Loaded, running: Settings) -> tuple[str, ...]:
    """Doors to the network that would stand open, since the addresses stay what they are."""
    doors = (
        (loaded.snapshot.keys is None, _OPEN_DOOR, running.listen),
        (loaded.settings.admin_token is None, _OPEN_ADMIN, running.admin_listen),
    )
    return tuple(
        text.format(address=address) for is_open, text, address in doors if is_open and not is_loopback(address.host)
    )


def split(wanted: Settings, running: Settings) -> tuple[Settings, tuple[str, ...]]:
    """What can be had without a restart, and the keys of the file that cannot."""
    fixed = {field: getattr(running, field) for field in NEEDS_RESTART}
    missed = tuple(key for field, key in NEEDS_RESTART.items() if getattr(wanted, field) != fixed[field])
    return structs.replace(wanted, **fixed), missed


def _loaded(source: Source, watch: FileWatch, old: Snapshot) -> Loaded:
    """In a thread: the file as it is now. What is written after the note is a change of its own."""
    with _generous():
        watch.note()
        loaded = source.load(old.config_version + 1)
        return structs.replace(loaded, snapshot=carried_over(loaded.snapshot, old))


@contextlib.contextmanager
def _generous() -> Iterator[None]:
    """Whoever waits for the interpreter gets it soon."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
