"""What failures of one target cost: its own score, its own traffic, and the time of few requests."""

from random import Random

import pytest

from pointsman.routing.router import standing
from pointsman.testing import builders
from tests.simulation.pool import Pool, always

IDS = ("a/m", "b/m", "c/m")
PRICES = dict.fromkeys(IDS, builders.price())


def attempt(sim: Pool, target_id: str, now: float, took_s: float) -> None:
    """`a` fails, the others answer."""
    if target_id == "a/m":
        ended = builders.outcome("upstream_fault", status=500, duration_s=took_s)
    else:
        ended = builders.outcome(status=200, ttfb_s=took_s, ttft_s=took_s, duration_s=took_s)
    facts = builders.facts(stream=True)
    lease = sim.board.started(builders.target(target_id), "alice", now, is_probe=False, facts=facts)
    sim.board.record(lease, ended, now + took_s, sim.group)


@pytest.mark.req("X-06")
@pytest.mark.parametrize("strategy", ["p2c", "blend", "market"])
def test_backup_that_rescues_a_hundred_requests_loses_no_score(strategy: str) -> None:
    """The same calls to `b` and `c`, once as rescues of what `a` has failed, and once for themselves."""
    group, terms = builders.group("chat", *IDS, strategy=strategy, prices=PRICES), []
    for called in (IDS, IDS[1:]):
        sim, rng = Pool(group, dict.fromkeys(IDS, always())), Random(3)
        sim.board.keep([group])
        for second, took_s in enumerate([0.3 * rng.lognormvariate(0, 0.1) for _ in range(100)]):
            for target_id in called:
                attempt(sim, target_id, sim.now + second, took_s)
        found = standing(group, sim.board.view(group, sim.now + 100.0))
        assert found is not None
        terms.append({name: values[1] for name, values in found[1].terms.items() if name != "chance"})

    assert terms[0] == pytest.approx(terms[1])


@pytest.mark.bug("A-19")
def test_every_dead_target_of_a_chain_is_remembered_and_not_only_the_first() -> None:
    """Each of the first three requests pays for both; from then on nobody waits for either."""
    group = builders.group("chat", "a/m", "b/m", "c/m", strategy="failover")
    sim = Pool(group, {"a/m": always(None), "b/m": always(None), "c/m": always(0.3)}, rate_per_s=1 / 45)

    sim.run(131.0)
    sim._gap_s = 0.5
    before = len(sim.picks)
    sim.run(8.0)

    assert [name for _, name in sim.picks[:9]] == ["a/m", "b/m", "c/m"] * 3
    assert {name for _, name in sim.picks[before:]} == {"c/m"}
