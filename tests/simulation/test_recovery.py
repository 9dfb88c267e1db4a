"""A target that is well again gets traffic again, although every request belongs to a session that is elsewhere."""

from random import Random

import pytest

from pointsman.domain.decision import DecisionMode
from pointsman.domain.policy import MARKET, STRICT, Affinity, AffinityMode, Cooldown
from pointsman.domain.view import Breaker
from pointsman.routing.exchange import Exchange, Send
from pointsman.signals.board import SignalBoard
from pointsman.signals.pauses import PROBE_PATIENCE_S
from pointsman.testing import builders

BEGIN_S = 1_000.0
GAP_S = 1.0  # between requests
HELD_S = 60.0
PRICES = {"a/m": builders.price(), "b/m": builders.price()}
MODES = [("strict", "p2c"), ("prefix", "failover"), ("economic", "cost"), ("economic", "market")]


@pytest.mark.bug("A-10", "A-14", "D-01")
@pytest.mark.parametrize("cooldown", [STRICT, MARKET], ids=["strict", "market"])
@pytest.mark.parametrize(("mode", "strategy"), MODES)
def test_sessions_that_are_elsewhere_do_not_keep_a_target_from_recovering(
    mode: str, strategy: str, cooldown: Cooldown
) -> None:
    affinity = Affinity(AffinityMode(mode), ttl_s=3_600.0)
    group = builders.group("chat", "a/m", "b/m", strategy=strategy, prices=PRICES, affinity=affinity, cooldown=cooldown)
    board, rng, session = SignalBoard(Random(1)), Random(2), builders.session()
    board.settle(group, "alice", session, group.members[1].target, BEGIN_S)
    first = board.started(group.members[0].target, "alice", BEGIN_S, is_probe=False)
    board.record(first, builders.outcome("rate_limited", status=429, retry_after_s=HELD_S), BEGIN_S, group)
    longest_s = HELD_S * (1.0 + cooldown.jitter_ratio) + PROBE_PATIENCE_S + GAP_S * cooldown.closing_successes
    modes, now = [], BEGIN_S

    while now <= BEGIN_S + longest_s:
        ask = builders.ask(session=session)
        exchange = Exchange(ask, group, board, rng, began_at=now, deadline=now + 60.0)
        command = exchange.start(now)
        assert isinstance(command, Send)
        lease = board.started(command.target, "alice", now, is_probe=command.is_probe, facts=ask.facts)
        served = builders.outcome(status=200, ttfb_s=0.3, ttft_s=0.3, duration_s=0.5)
        board.record(lease, served, now, group)
        exchange.finished(served, now)
        modes.append(exchange.last_mode)
        now += GAP_S

    assert board.target_view(group.members[0].target, now).breaker is Breaker.CLOSED
    assert modes.count(DecisionMode.PROBE) == cooldown.closing_successes
    assert set(modes) == {DecisionMode.PINNED, DecisionMode.PROBE}
    assert board.home(group, "alice", session, now) == 1
