"""What metrics tell of the choices of a group, after one outage."""

from typing import Any

import pytest

from pointsman.testing import FakeProvider, Status
from pointsman.testing.wire import chat_request
from tests.integration.callers import ask
from tests.integration.harness import weighted

# all go to the first target as long as it is there
P2C = {"strategy": "p2c", "routing_policy": {"p2c": {"min_weight_fraction": 0}}}


@pytest.mark.req("G-086")
def test_metrics_tell_who_was_picked_left_out_and_paused_and_how_fast_it_is(run: Any, gateway: Any) -> None:
    names = ("routing_selections_total", "routing_exclusions_total", "routing_pauses_total", "routing_latency_seconds")

    async def scenario() -> list[dict[str, float]]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            groups = {"chat": weighted((a, b), (1, 0.000001), **P2C)}
            async with gateway(a, b, groups=groups) as gw:
                a.script(Status(429, retry_after=60))
                for _ in range(3):
                    assert (await ask(gw.base_url, chat_request("chat"))).status == 200
                await gw.quiet()
                return [gw.samples(name) for name in names]

    selections, exclusions, pauses, latencies = run(scenario())

    assert selections == {'{group="chat",target="a/m-a"}': 1, '{group="chat",target="b/m-b"}': 3}
    assert exclusions == {
        '{group="chat",rule="tried",target="a/m-a"}': 1,
        '{group="chat",rule="paused",target="a/m-a"}': 2,
    }
    assert pauses == {'{cause="rate_limit",target="a/m-a"}': 1}
    assert list(latencies) == ['{group="chat",target="b/m-b"}']
    assert 0 < latencies['{group="chat",target="b/m-b"}'] < 1
