"""The demo's performance: traffic flows, events happen, the screen tells."""

import asyncio
import contextlib

import typer

from pointsman.app import App
from pointsman.demo import events, story, table
from pointsman.demo.configuration import GROUP, Document
from pointsman.demo.picture import WINDOW_S, Callers, Kind, Observer, Picture
from pointsman.demo.providers import Fleet
from pointsman.demo.records import RecordFile
from pointsman.demo.screen import Screen
from pointsman.demo.traffic import RATE_PER_S, Traffic
from pointsman.demo.welcome import Place
from pointsman.http1.clock import SystemClock

EFFECT_S = (
    8.0  # after an event: by then most of what the shares are of is younger than it, and a new file has been read
)
TICK_S = 0.25  # smooth to the eye; the whole demo, traffic included, takes about 4 % of a core


async def perform(app: App, fleet: Fleet, document: Document, place: Place, screen: Screen) -> None:
    """Until the gateway begins to stop; ends with a summary."""
    traffic = Traffic(place.base_url, is_over=lambda: app.live.is_draining)
    with contextlib.closing(RecordFile(place.records)) as records:
        show = _Show(app, fleet, document, traffic, records)
        async with asyncio.TaskGroup() as tasks:
            flow = tasks.create_task(traffic.flow())
            with screen:
                while not app.live.is_draining:
                    screen.show(show.next_picture())
                    await asyncio.sleep(TICK_S)
                last = show.next_picture()
                screen.show(last)
            flow.cancel()
    typer.echo(table.summary(last))


class _Show:
    """Moves the story on, and looks at the gateway."""

    def __init__(self, app: App, fleet: Fleet, document: Document, traffic: Traffic, records: RecordFile) -> None:
        self._app, self._fleet, self._traffic, self._records = app, fleet, traffic, records
        self._document, self._price_ratios = document, dict[str, float]()
        self._shares: dict[str, float] = {}  # by provider, in the latest picture
        self._busiest = ""  # the provider, when the story last asked
        self._awaited: list[tuple[float, str, float]] = []  # when a share is compared, whose, and what it was
        self._now = SystemClock.now  # the gateway's own clock, too
        self._targets = [member.target for member in app.live.snapshot.groups[GROUP].members]
        self._began_at = self._now()
        self._elapsed_s = 0.0
        self._observer = Observer([target.id for target in self._targets], self._began_at)
        self._observer.tell(f"traffic begins: {RATE_PER_S:g} requests per second", Kind.EVENT, self._began_at)

    def next_picture(self) -> Picture:
        """Let happen what is due, and see what the gateway has made of it."""
        now, observer = self._now(), self._observer
        for at_s, event in events.due(self._elapsed_s, now - self._began_at):
            provider = self._named(event.provider)
            self._happen(event, provider)
            observer.tell(f"{provider} {event.text}", Kind.EVENT, self._began_at + at_s)
            if at_s >= WINDOW_S:  # else the share before is one of a few requests
                self._awaited.append((at_s + EFFECT_S, provider, self._shares.get(provider, 0.0)))
        self._elapsed_s = now - self._began_at
        for record in self._records.news():
            observer.record(record, now)
        observer.look({target.id: self._app.board.target_view(target, now) for target in self._targets}, now)
        self._tell_shifts(now)
        picture = observer.picture(Callers(self._traffic.requests, self._traffic.failed), now)
        self._shares = {story.name_of(row.target_id): row.share for row in picture.rows}
        return picture

    def _named(self, provider: str) -> str:
        if provider == events.BUSIEST:
            self._busiest = max(self._shares, key=self._shares.__getitem__)
        return self._busiest if provider in {events.BUSIEST, events.THE_SAME} else provider

    def _happen(self, event: events.Event, provider: str) -> None:
        if event.change is not None:
            event.change(self._fleet.profiles[provider])
        if event.price_ratio is not None:
            self._price_ratios[provider] = event.price_ratio
            self._document.write(self._price_ratios)

    def _tell_shifts(self, now: float) -> None:
        """What the gateway has made of earlier events."""
        while self._awaited and self._awaited[0][0] <= self._elapsed_s:
            _, provider, before = self._awaited.pop(0)
            text = story.of_shift(provider, before, self._shares.get(provider, 0.0))
            if text is not None:
                self._observer.tell(text, Kind.STATE, now)
