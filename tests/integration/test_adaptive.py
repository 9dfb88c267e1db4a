"""The strategy `adaptive` over real sockets: its one policy, and the switch that turns it off."""

from collections import Counter
from typing import Any

import pytest

from pointsman.testing import Chat, FakeProvider
from tests.integration.callers import ask_all, asks
from tests.integration.harness import weighted
from tests.integration.test_explain import look

FAST, SLOW = Chat("ok", delay_s=0.002), Chat("ok", delay_s=0.05)
ON = {"enabled": True, "blend": {"min_samples": 20, "exploration_ratio": 0, "load_weight": 0}}
PATH = "/api/v1/adaptive-routing-telemetry"


@pytest.mark.req("X-14", "R-001", "R-032", "R-034", "R-040", "R-041", "R-056", "R-061")
def test_switch_turns_the_policy_on_and_off_without_a_restart(run: Any, gateway: Any) -> None:
    async def scenario() -> None:
        async with FakeProvider(name="a", default=SLOW) as a, FakeProvider(name="b", default=FAST) as b:
            groups = {"chat": weighted((a, b), (70, 30), strategy="adaptive")}
            async with gateway(a, b, groups=groups) as gw:
                await ask_all(gw.base_url, asks(200, stream=True), concurrency=10)
                off = len(a.log) / 200
                (route,) = (await look(gw, PATH))["routes"]
                assert 0.6 < off < 0.8
                assert (route["engaged"], route["nodes"][0]["fallback_reason"]) == (False, "disabled")
                assert route["nodes"][0]["decisions"]["fallback"] == 200

                assert await gw.reload(adaptive=ON) == "ok"
                before = len(a.log)
                await ask_all(gw.base_url, asks(100, stream=True), concurrency=2)
                (route,) = (await look(gw, PATH))["routes"]
                assert len(a.log) - before < 10  # what was measured while it was off counts
                assert (route["engaged"], route["selector"]) == (True, "blend")
                decisions = Counter(route["nodes"][0]["decisions"])
                assert decisions["blend"] == 100
                scores = gw.samples("adaptive_routing_target_score")
                told = {f"{t['provider']}/{t['upstream_model']}": t["score"] for t in route["nodes"][0]["targets"]}
                shown = {f'{{group="chat",target="{name}"}}': score for name, score in told.items()}
                assert scores == pytest.approx(shown, rel=1e-3)  # time has passed between the two looks

                assert await gw.reload(adaptive={**ON, "enabled": False}) == "ok"
                before = len(a.log)
                await ask_all(gw.base_url, asks(200, stream=True), concurrency=10)
                assert 0.6 < (len(a.log) - before) / 200 < 0.8

    run(scenario())
