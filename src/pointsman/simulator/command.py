"""What `pointsman simulate` does."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from pointsman.config.problems import nearest
from pointsman.domain.errors import PointsmanError
from pointsman.simulator import report
from pointsman.simulator.compare import Summary, compare, summaries
from pointsman.simulator.names import ALL, chosen, known_policies
from pointsman.simulator.plan import Plan
from pointsman.simulator.plot import Chapter, page
from pointsman.simulator.runs import arrivals
from pointsman.simulator.scenario import load, shipped
from pointsman.simulator.workers import workers

Say = Callable[[str], None]
Step = Callable[[int, int, str], None]  # runs done, all runs, what has just been run


class UnknownPolicyError(PointsmanError):
    """`--compare` names a policy that there is not."""


class UnwritableError(PointsmanError):
    """The plots cannot be written."""


class Wanted(Struct, frozen=True):
    """The options of the command."""

    scenarios: tuple[str, ...]
    compare: tuple[str, ...]  # empty: as the scenario says, else all
    seeds: int
    replicas: int
    requests: int | None  # None: as many as the scenario has
    permute: bool
    html: Path | None = None  # where plots go, too; None: nowhere
    jobs: int = 1  # processes


def listing() -> str:
    """All scenarios of the package."""
    found = shipped()
    width = max(map(len, found))
    return "\n".join(f"{name:{width}}  {description}" for name, description in found.items())


def simulate(wanted: Wanted, say: Say, step: Step) -> bool:
    """Run and tell; False: an expectation is not met. Raises PointsmanError.

    Before anything is run, unless it is about a trace: that is read when it is its turn.
    """
    names = tuple(shipped()) if wanted.scenarios == (ALL,) else wanted.scenarios
    jobs = [_job(wanted, load(name)) for name in names]
    progress, is_met, chapters = _Progress(step, sum([job.runs for job in jobs])), True, list[Chapter]()
    with workers(wanted.jobs) as map_runs:
        for number, job in enumerate(jobs):
            if number:
                say("")
            rows = compare(
                job.plans, job.policies,
                seeds=wanted.seeds, replicas=wanted.replicas, progress=progress, map_runs=map_runs,
            )  # fmt: skip
            found = report.order(summaries(list(rows)))
            chapters.append(_chapter(job, found, wanted))
            say(f"{chapters[-1].title}\n\n{chapters[-1].table}")
            for verdict in report.verdicts(job.plan, found):
                say(verdict.text)
                is_met &= verdict.is_met
    say("\n" + report.LEGEND)
    if wanted.html is not None:
        _write(wanted.html, page(chapters, report.LEGEND))
    return is_met


class _Progress:
    """Counts runs."""

    def __init__(self, step: Step, runs: int) -> None:
        self._step, self._runs, self._done = step, runs, 0

    def __call__(self, plan: str, policy: str, seed: int) -> None:
        self._done += 1
        self._step(self._done, self._runs, f"{plan}, {policy}, seed {seed}")


class _Job(Struct, frozen=True):
    plan: Plan
    plans: tuple[Plan, ...]
    policies: tuple[str, ...]
    runs: int


def _job(wanted: Wanted, plan: Plan) -> _Job:
    scaled = plan if wanted.requests is None else plan.scaled(wanted.requests)
    plans = tuple(scaled.permuted()) if wanted.permute else (scaled,)
    try:
        policies = chosen(wanted.compare or plan.compare or (ALL,), plan.policies)
    except ValueError as error:
        name, known = str(error), known_policies(plan.policies)
        raise UnknownPolicyError(f"there is no policy '{name}'. {nearest(name, known)}") from None
    return _Job(scaled, plans, policies, len(plans) * (len(policies) + 1) * wanted.seeds)


def _chapter(job: _Job, found: Sequence[Summary], wanted: Wanted) -> Chapter:
    requests = len(arrivals(job.plan, 1)) * len(job.plans)
    title = report.title(job.plan, wanted.seeds, wanted.replicas, requests)
    return Chapter(title, report.table(found), tuple(found))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UnwritableError(f"cannot write {path}: {error.strerror}. Name another file with --html.") from error
