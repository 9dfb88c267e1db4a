"""Traffic that all sorts by latency: the fastest gets it, as long as it is that."""

import pytest

from pointsman.domain.preferences import Sort
from pointsman.routing.arrange import sorted_by
from pointsman.testing import builders
from tests.simulation.pool import Behaviour, Pool, always, between


def pool(sort: Sort, **scripts: object) -> Pool:
    names = {f"{name}/m": script for name, script in scripts.items()}
    return Pool(sorted_by(builders.group("chat", *names), sort), names)


@pytest.mark.parametrize("sort", [Sort.LATENCY, Sort.THROUGHPUT])
def test_fastest_target_serves_nearly_all(sort: Sort) -> None:
    sim = pool(sort, a=always(0.9, stream_s=2.0), b=always(0.3), c=always(0.6, stream_s=1.5))

    sim.run(120.0)

    assert sim.share("b/m", 30.0, 120.0) > 0.95


@pytest.mark.req("X-12")
def test_once_slow_target_is_found_again_in_bounded_time_though_nobody_asks_it() -> None:
    """What was learned of it fades toward the others; once it is nearly equal, weights draw, and it is measured."""
    sim = pool(Sort.LATENCY, a=between(0.0, 120.0, Behaviour(5.0), Behaviour(0.3)), b=always(0.6))

    sim.run(3_600.0)

    assert sim.share("a/m", 60.0, 300.0) < 0.05
    assert sim.share("a/m", 3_000.0, 3_600.0) > 0.9
