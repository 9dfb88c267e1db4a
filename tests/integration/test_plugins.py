"""Plugins inside a running gateway: what they say is done, and what they break breaks nothing."""

import logging
from pathlib import Path
from typing import Any

import pytest

from pointsman.testing import FakeProvider, Status
from pointsman.testing.wire import Reply
from tests.integration.callers import ask_all, asks
from tests.integration.harness import weighted
from tests.packages import install

CODE = """
class Plugin:
    api_version = 1

    def __init__(self, options):
        self.best = options["best"]

    def scores(self, question, *, now, rng):
        if self.best == "raise":
            raise RuntimeError("sk-secret of " + question.caller)
        if self.best == "nan":
            return {candidate.id: float("nan") for candidate in question.candidates}
        return [self.best]
"""
COUNT = 20


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, {"best": "plugin_best:Plugin"}, {"plugin_best": CODE}))


def groups(*providers: FakeProvider, best: str) -> dict[str, object]:
    plugin = {"name": "best", "options": {"best": best}}
    return {"chat": weighted(providers, (1, 1), strategy="plugin", plugin=plugin)}


async def served(gateway: Any, best: str, *, b_answers: Any = None) -> tuple[list[Reply], int, list[dict[str, Any]]]:
    """Replies, requests that b got, and records."""
    async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
        b.default = b_answers or b.default
        async with gateway(a, b, groups=groups(a, b, best=best)) as gw:
            replies = await ask_all(gw.base_url, asks(COUNT, stream=True), concurrency=4)
            return replies, len(b.log), await gw.records()


def test_traffic_goes_where_the_plugin_says(run: Any, gateway: Any) -> None:
    replies, to_b, records = run(served(gateway, "b/m-b"))

    assert ({reply.status for reply in replies}, to_b) == ({200}, COUNT)
    assert {record["strategy"] for record in records} == {"plugin"}
    assert records[0]["decisions"][0]["scores"]["terms"] == {"score": [0.0, 1.0]}


def test_failed_attempt_goes_on_to_another_target(run: Any, gateway: Any) -> None:
    replies, _, records = run(served(gateway, "b/m-b", b_answers=Status(500)))

    assert {reply.status for reply in replies} == {200}
    assert records[0]["attempts"][0]["target_id"] == "b/m-b"
    assert records[0]["attempts"][-1]["target_id"] == "a/m-a"


@pytest.mark.parametrize(("best", "reason"), [("raise", "raised"), ("nan", "bad_answer"), ("c/m", "bad_answer")])
def test_broken_plugin_breaks_no_request(
    run: Any, gateway: Any, best: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        replies, to_b, records = run(served(gateway, best))

    assert {reply.status for reply in replies} == {200}
    assert 0 < to_b < COUNT
    assert {record["decisions"][0]["mode"] for record in records} == {"fallback"}
    assert {record["decisions"][0]["scores"]["fallback"] for record in records} == {reason}
    assert len(caplog.records) == 1
    assert "secret" not in caplog.text


@pytest.mark.req("R-034")
def test_reload_changes_options_and_a_plugin_that_is_refused_changes_nothing(run: Any, gateway: Any) -> None:
    async def scenario() -> tuple[list[str], int, int]:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b:
            async with gateway(a, b, groups=groups(a, b, best="a/m-a")) as gw:
                same = await gw.reload(models=groups(a, b, best="a/m-a"))
                other = await gw.reload(models=groups(a, b, best="b/m-b"))
                broken = {"chat": weighted((a, b), (1, 1), strategy="plugin", plugin={"name": "best"})}
                refused = await gw.reload(models=broken)
                await ask_all(gw.base_url, asks(COUNT, stream=False), concurrency=4)
                return [same, other, refused], len(a.log), len(b.log)

    results, to_a, to_b = run(scenario())

    assert results == ["unchanged", "ok", "refused"]
    assert (to_a, to_b) == (0, COUNT)
