"""A scenario, ready to be run: values only."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import structs

from pointsman.config.schema import PriceEntry
from pointsman.domain.value import Value
from pointsman.simulator.profile import Change, Profile
from pointsman.simulator.schema import ExpectSection, PolicySection
from pointsman.simulator.workload import Workload


class Trace(Value):
    """Recorded requests."""

    path: Path
    speed: float


class Spell(Value):
    """A time of trouble."""

    targets: tuple[str, ...]
    begin_s: float
    end_s: float  # inf: for good


class Plan(Value):
    """All times are seconds since the beginning."""

    name: str
    description: str
    workload: Workload
    trace: Trace | None
    profiles: Mapping[str, Profile]  # in the order of the pool
    prices: Mapping[str, PriceEntry]
    changes: tuple[Change, ...]
    first_content_s: float
    idle_s: float
    attempts: int
    policies: Mapping[str, PolicySection]
    compare: tuple[str, ...]
    expect: ExpectSection

    def scaled(self, requests: int) -> "Plan":
        """About so many requests: all times of workload and timeline shrink or grow alike."""
        factor = requests / (self.workload.rate_per_s * self.workload.duration_s)
        workload = structs.replace(self.workload, duration_s=self.workload.duration_s * factor)
        changes = tuple([
            structs.replace(change, begin_s=change.begin_s * factor, end_s=change.end_s * factor)
            for change in self.changes
        ])  # fmt: skip
        return structs.replace(self, workload=workload, changes=changes)

    @property
    def victim(self) -> str | None:
        """The one target that all trouble is about; None: there is none, or there are several."""
        troubled = {change.target for change in self.changes if change.is_trouble}
        return troubled.pop() if len(troubled) == 1 else None

    def permuted(self) -> Iterator["Plan"]:
        """The same trouble for each target in turn: who does not use one would get off lightly."""
        if self.victim is None:
            yield self
            return
        for name in self.profiles:
            changes = tuple([
                structs.replace(change, target=name) if change.is_trouble else change for change in self.changes
            ])  # fmt: skip
            yield structs.replace(self, name=f"{self.name}:{name}", changes=changes)

    @property
    def spell(self) -> Spell | None:
        """The first trouble that begins after the beginning."""
        later = [change for change in self.changes if change.begin_s > 0.0 and change.is_trouble]
        if not later:
            return None
        begin_s = min(change.begin_s for change in later)
        first = [change for change in later if change.begin_s == begin_s]
        targets = tuple(dict.fromkeys([change.target for change in first]))
        return Spell(targets, begin_s, max([change.end_s for change in first]))

    def moments(self) -> list[float]:
        """When something changes, the beginning included."""
        times = {time for change in self.changes for time in (change.begin_s, change.end_s)}
        return sorted({0.0, *[time for time in times if 0.0 < time < math.inf]})

    def profiles_at(self, at_s: float) -> dict[str, Profile]:
        """A later change of the list wins over an earlier one."""
        found = dict(self.profiles)
        for change in self.changes:
            if change.begin_s <= at_s < change.end_s:
                found[change.target] = structs.replace(found[change.target], **dict(change.fields))
        return found
