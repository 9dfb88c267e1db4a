"""What one decision costs, with all that its record needs: `make bench-decide`.

A ratio to a loop of plain Python that is timed in the same run means the same on every machine.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence

from msgspec import Struct
from rich.console import Console
from rich.table import Table

from pointsman.domain.target import ModelGroup
from pointsman.domain.view import GroupView, Measured
from pointsman.routing.router import decide
from pointsman.routing.strategies import STRATEGIES
from pointsman.testing import builders

TARGETS = (2, 10, 30)
_STRATEGIES = tuple(name for name, row in STRATEGIES.items() if row.score is not None)
_REFERENCE_STEPS = 1_000  # additions and multiplications: some 40 us
_REQUESTS = 200  # each with a name of its own, so that no draw is like another
_ROUNDS = 25
_GUARDED = ("market", 10)
_MAX_RATIO = 2.0  # 100 us where the reference takes 50


class Cost(Struct, frozen=True):
    """Medians of all rounds, in microseconds."""

    strategy: str
    targets: int
    decision_us: float
    reference_us: float

    @property
    def ratio(self) -> float:
        return self.decision_us / self.reference_us


def reference() -> float:
    """A fixed piece of work."""
    total = 0.0
    for step in range(_REFERENCE_STEPS):
        total += step * 0.5
    return total


def costs(
    strategies: Sequence[str] = _STRATEGIES, targets: Sequence[int] = TARGETS, rounds: int = _ROUNDS
) -> list[Cost]:
    """Decision and reference take turns, so that both meet the same machine."""
    return [_cost(strategy, count, rounds) for strategy in strategies for count in targets]


def _cost(strategy: str, count: int, rounds: int) -> Cost:
    run = _decisions(strategy, count)
    run()
    found = [(_timed_us(run) / _REQUESTS, min(_timed_us(reference) for _ in range(5))) for _ in range(rounds)]
    decisions, references = zip(*found, strict=True)
    return Cost(strategy, count, statistics.median(decisions), statistics.median(references))


def _decisions(strategy: str, count: int) -> Callable[[], None]:
    rng = random.Random(count)
    group, view = situation(strategy, count, rng)
    lengths = builders.lengths(group)
    asks = [builders.ask(request_id=f"req-{number}", stream=True) for number in range(_REQUESTS)]

    def run() -> None:
        for ask in asks:
            decide(ask, group, view, rng=rng, lengths=lengths)

    return run


def situation(strategy: str, count: int, rng: random.Random) -> tuple[ModelGroup, GroupView]:
    """Targets that differ in everything, all of them available."""
    ids = [f"provider-{number}/model" for number in range(count)]
    prices = {target_id: builders.price(rng.uniform(0.1, 3.0), rng.uniform(0.5, 10.0)) for target_id in ids}
    group = builders.group("chat", *ids, strategy=strategy, prices=prices)
    measured = tuple(_measured(rng) for _ in ids)
    return group, builders.group_view(*[builders.view()] * count, measured=measured, served=1_000)


def _measured(rng: random.Random) -> Measured:
    return builders.measured(
        rng.randrange(20),
        samples=100,
        ttft_s=rng.uniform(0.2, 2.0),
        unary_s=rng.uniform(1.0, 9.0),
        ttfb_s=rng.uniform(0.1, 1.0),
        failure_ratio=rng.uniform(0.0, 0.05),
        rate_limited_ratio=rng.uniform(0.0, 0.05),
        decode_tps=rng.uniform(20.0, 150.0),
        fault_s=1.0,
        rejection_s=0.2,
        ttft_error=0.05,
        decode_error=0.02,
        failure_error=0.01,
        rate_limited_error=0.01,
    )


def _timed_us(work: Callable[[], object]) -> float:
    begin_ns = time.thread_time_ns()  # what others do with the core does not count
    work()
    return (time.thread_time_ns() - begin_ns) / 1_000.0


def table(found: Sequence[Cost]) -> Table:
    """For people."""
    shown = Table("strategy", "targets", "decision (us)", "reference (us)", "ratio", title="Median cost of a decision")
    for cost in found:
        shown.add_row(
            cost.strategy, str(cost.targets), f"{cost.decision_us:.1f}", f"{cost.reference_us:.1f}", f"{cost.ratio:.2f}"
        )
    return shown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--guard", action="store_true", help="fail if a decision of `market` costs too much")
    is_guarded = parser.parse_args().guard
    found = costs()
    Console().print(table(found))
    (guarded,) = [cost for cost in found if (cost.strategy, cost.targets) == _GUARDED]
    if is_guarded and guarded.ratio > _MAX_RATIO:
        print(
            f"a decision of market costs {guarded.ratio:.2f} times the reference, above {_MAX_RATIO}", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
