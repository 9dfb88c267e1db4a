"""The demo's view of a gateway against what the gateway says of itself."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pointsman.demo.picture import Callers, Observer, Picture
from pointsman.demo.records import RecordFile
from pointsman.testing import FakeProvider, Status
from tests.integration.callers import ask_all, asks
from tests.integration.harness import DECISIONS_FILE, Gateway, weighted

TARGETS = ("a/m-a", "b/m-b")


def attempts_of(gateway: Gateway) -> dict[str, float]:
    """By target, as its metrics have them."""
    samples = gateway.samples("attempts_total").items()
    return {name: sum(value for labels, value in samples if f'"{name}"' in labels) for name in TARGETS}


def test_shares_attempts_and_failovers_are_those_of_the_gateway(run: Any, gateway: Any, tmp_path: Path) -> None:
    count = 200

    async def scenario() -> tuple[Picture, dict[str, float], float]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            a.script(Status(500), Status(503))
            async with gateway(a, b, groups={"chat": weighted((a, b), (70, 30))}) as gw:
                observer = Observer(TARGETS, began_at=0.0)
                with closing(RecordFile(tmp_path / DECISIONS_FILE)) as records:
                    await ask_all(gw.base_url, asks(count, stream=True))
                    await gw.stop()  # so that all records are written
                    for record in records.news():
                        observer.record(record, now=0.0)
                picture = observer.picture(Callers(), now=0.0)
                return picture, attempts_of(gw), sum(gw.samples("failovers_total").values())

    picture, attempts, failovers = run(scenario())

    total = sum(attempts.values())
    assert {row.target_id: row.attempts for row in picture.rows} == attempts
    assert {row.target_id: row.share for row in picture.rows} == pytest.approx(
        {name: value / total for name, value in attempts.items()}
    )
    assert picture.failovers == failovers > 0
    assert total == count + failovers
