"""All policies over all seeds, and what that says: means, intervals, regret."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from statistics import mean, stdev

from msgspec import Struct

from pointsman.simulator.baselines.registry import CLAIRVOYANT
from pointsman.simulator.metrics import Metrics, metrics
from pointsman.simulator.plan import Plan
from pointsman.simulator.runs import arrivals, run, value_of
from pointsman.simulator.workers import MapRuns

# of Student's t distribution, two-sided 95 %, by number of seeds
_T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
_T_MANY = 2.228  # of eleven; a little too wide for more

Progress = Callable[[str, str, int], None]  # plan, policy and seed that have just been run


class Estimate(Struct, frozen=True):
    """A mean over seeds, and half of its 95 % confidence interval; None: one seed tells no interval."""

    value: float
    half: float | None


class Row(Struct, frozen=True):
    """One policy in one plan. Tuples are by seed."""

    plan: str
    policy: str
    regrets: tuple[float, ...]  # adjusted price beyond the clairvoyant's, as a ratio
    runs: tuple[Metrics, ...]

    @property
    def regret(self) -> Estimate:
        return estimate(self.regrets)


class Summary(Struct, frozen=True):
    """One policy over all plans of a table: the same trouble at one target after the other."""

    policy: str
    rows: tuple[Row, ...]

    @property
    def regret(self) -> Estimate:
        """Of each seed the mean over plans."""
        return estimate([mean(by_plan) for by_plan in zip(*[row.regrets for row in self.rows], strict=True)])

    @property
    def worst(self) -> Row:
        """The plan with the highest regret."""
        return max(self.rows, key=lambda row: row.regret.value)

    def of(self, name: str) -> float | None:
        """The mean of one of the metrics; None: there is nothing to tell. Never (inf) in one run is never."""
        runs = [each for row in self.rows for each in row.runs]
        values = [value for each in runs if (value := getattr(each, name)) is not None]
        return mean(values) if values else None


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """One for each policy."""
    names = dict.fromkeys([row.policy for row in rows])
    return [Summary(name, tuple([row for row in rows if row.policy == name])) for name in names]


def estimate(values: Sequence[float]) -> Estimate:
    middle = mean(values)
    if len(values) < 2 or math.isinf(middle):
        return Estimate(middle, None)
    return Estimate(middle, _T.get(len(values), _T_MANY) * stdev(values) / math.sqrt(len(values)))


class _Run(Struct, frozen=True):
    plan: Plan
    policy: str
    seed: int
    replicas: int


def compare(
    plans: Sequence[Plan],
    policies: Sequence[str],
    *,
    seeds: int,
    replicas: int,
    progress: Progress,
    map_runs: MapRuns = map,
) -> Iterator[Row]:
    """The clairvoyant comes last in each plan."""
    for plan in plans:
        found: dict[str, list[Metrics]] = {name: [] for name in (*policies, CLAIRVOYANT)}
        wanted = [_Run(plan, name, seed, replicas) for seed, name in product(range(1, seeds + 1), found)]
        for each, measured in zip(wanted, map_runs(_measured, wanted), strict=True):
            found[each.policy].append(measured)
            progress(plan.name, each.policy, each.seed)
        best = [each.adjusted_usd for each in found[CLAIRVOYANT]]
        for name, runs in found.items():
            regrets = tuple([each.adjusted_usd / usd - 1.0 for each, usd in zip(runs, best, strict=True)])
            yield Row(plan.name, name, regrets, tuple(runs))


def _measured(wanted: _Run) -> Metrics:
    requests = arrivals(wanted.plan, wanted.seed)
    worth = value_of(wanted.plan, requests)
    served = run(wanted.plan, wanted.policy, requests, worth, seed=wanted.seed, replicas=wanted.replicas)
    return metrics(served, worth, wanted.plan.spell)
