"""Reading the configuration again: what is swapped, what is refused, what is told."""

import asyncio
import gc
import logging
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from msgspec import Struct, structs

from pointsman.app import new_loop
from pointsman.config.load import Loaded, Source, load
from pointsman.config.settings import NEEDS_RESTART, Settings
from pointsman.domain.snapshot import Snapshot
from pointsman.domain.target import ModelGroup, Provider, Target
from pointsman.observability.metrics import Metrics
from pointsman.proxy.live import Live
from pointsman.reload import Reload, Reloader, Result, Trigger, split
from pointsman.testing import keys
from pointsman.testing.clock import FakeClock

PATIENCE_S = 5.0
NEVER_S = 1_000.0  # between two looks at the file
TEXT = """\
version: 1
auth: {mode: none}
providers: {a: {kind: vllm, base_url: 'http://127.0.0.1:8000/v1', api_key: sk-5ecret}}
models: {chat: {targets: [{model: a/one}]}}
"""
BROKEN = TEXT.replace("models:", "modles:").replace("vllm", "vlllm")
OTHER_SETTINGS = "server: {listen: 127.0.0.1:5000, drain: 5s}\n"

Run: TypeAlias = Callable[[Callable[["Desk"], Awaitable[None]]], "Desk"]


class Desk:
    """A reloader and everything it changes."""

    def __init__(self, file: Path, watch_s: float) -> None:
        file.write_text(TEXT)
        loaded = load(file, environ={"HOME": "/home/somebody"})
        self.file, self.metrics, self.clock = file, Metrics(), FakeClock()
        self.live = Live(loaded.snapshot)
        self.adopted: list[Settings] = []
        self.tidied = 0
        self.reloader = Reloader(loaded, self.live, self, self.metrics, self.clock, watch_s=watch_s)

    def adopt(self, settings: Settings) -> None:
        self.adopted.append(settings)

    def tidy(self) -> None:
        self.tidied += 1

    async def reload(self, text: str) -> Reload:
        """What came of new content."""
        before = self.reloader.last
        self.file.write_text(text)
        self.reloader.ask()
        await until(lambda: self.reloader.last is not before)
        assert self.reloader.last is not None
        return self.reloader.last

    @property
    def version(self) -> int:
        return self.live.snapshot.config_version

    @property
    def targets(self) -> list[str]:
        return [member.target.id for member in self.live.snapshot.groups["chat"].members]

    def sample(self, name: str) -> float:
        lines = self.metrics.exposition().decode().splitlines()
        (value,) = [line.rpartition(" ")[2] for line in lines if line.startswith(f"pointsman_{name} ")]
        return float(value)


async def until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_true():
            await asyncio.sleep(0.001)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return lambda story: running(tmp_path / "pointsman.yaml", NEVER_S, story)


@pytest.fixture
def watched(tmp_path: Path) -> Run:
    """As `run`, with a look at the file every few milliseconds."""
    return lambda story: running(tmp_path / "pointsman.yaml", 0.005, story)


def running(file: Path, watch_s: float, story: Callable[[Desk], Awaitable[None]]) -> Desk:
    async def scenario() -> Desk:
        desk = Desk(file, watch_s)
        task = asyncio.create_task(desk.reloader.run())
        try:
            await story(desk)
        finally:
            task.cancel()
        return desk

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(scenario())


# --- keys of callers


KEYED = TEXT.replace(
    "{mode: none}", str(keys.section(keys.declaration("pm_one"), keys.declaration("pm_two", name="b")))
)


def test_key_that_is_no_longer_declared_is_gone_with_the_swap(run: Run) -> None:
    async def story(desk: Desk) -> None:
        await desk.reload(KEYED)
        await desk.reload(TEXT.replace("{mode: none}", str(keys.section(keys.declaration("pm_one")))))

    ring = run(story).live.snapshot.keys

    assert ring is not None
    assert (ring.find(b"pm_one") is not None, ring.find(b"pm_two")) == (True, None)


def test_same_keys_are_no_other_configuration(run: Run) -> None:
    async def story(desk: Desk) -> None:
        await desk.reload(KEYED)

        assert (await desk.reload(KEYED + "\n# a comment\n")).result is Result.UNCHANGED

    assert run(story).version == 2


@pytest.mark.bug("J-02")
@pytest.mark.parametrize(("host", "result"), [("0.0.0.0", Result.REFUSED), ("127.0.0.1", Result.OK)])  # noqa: S104
def test_open_door_is_refused_while_the_network_still_reaches_it(run: Run, host: str, result: Result) -> None:
    async def story(desk: Desk) -> None:
        await desk.reload(KEYED)
        listen = structs.replace(desk.reloader.settings.listen, host=host)
        desk.reloader.settings = structs.replace(desk.reloader.settings, listen=listen)

        reload = await desk.reload(TEXT)

        assert reload.result is result
        assert (desk.live.snapshot.keys is None) is (result is Result.OK)
        if result is Result.REFUSED:
            assert reload.problems == (
                "auth.mode: none would serve everybody at 0.0.0.0:4000 until a restart. Restart the gateway instead.",
            )

    run(story)


def test_open_admin_listener_is_refused_while_the_network_still_reaches_it(run: Run) -> None:
    token = keys.declaration("pm_admin_x")["hash"]
    guarded = TEXT.replace("{mode: none}", f"{{mode: none, pepper: {keys.PEPPER}, admin_token: '{token}'}}")

    async def story(desk: Desk) -> None:
        await desk.reload(guarded)
        admin_listen = structs.replace(desk.reloader.settings.admin_listen, host="0.0.0.0")  # noqa: S104
        desk.reloader.settings = structs.replace(desk.reloader.settings, admin_listen=admin_listen)

        (problem,) = (await desk.reload(TEXT)).problems
        assert problem.startswith("without auth.admin_token everybody could read at 0.0.0.0:4001 until a restart.")
        assert desk.reloader.settings.admin_token is not None

    run(story)


# --- swapping


def test_valid_file_is_swapped_in_and_the_version_rises_by_one(run: Run) -> None:
    async def story(desk: Desk) -> None:
        reload = await desk.reload(TEXT.replace("a/one", "a/two"))

        assert (reload.trigger, reload.result, reload.problems) == (Trigger.SIGNAL, Result.OK, ())

    desk = run(story)

    assert (desk.version, desk.targets, len(desk.adopted)) == (2, ["a/two"], 1)


@pytest.mark.req("R-034")
def test_parts_that_did_not_change_are_the_same_objects(run: Run) -> None:
    before: list[Provider] = []

    async def story(desk: Desk) -> None:
        before.append(desk.live.snapshot.providers["a"])
        await desk.reload(TEXT.replace("a/one", "a/two"))

    desk = run(story)

    assert desk.live.snapshot.providers["a"] is before[0]


@pytest.mark.parametrize("text", [TEXT, f"# the same in other words\n{TEXT}"], ids=["as it was", "a comment more"])
def test_file_that_says_the_same_changes_nothing_and_says_so(
    run: Run, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    before: list[Snapshot] = []

    async def story(desk: Desk) -> None:
        before.append(desk.live.snapshot)
        with caplog.at_level(logging.INFO):
            reload = await desk.reload(text)

        assert reload.result is Result.UNCHANGED

    desk = run(story)

    assert desk.live.snapshot is before[0]
    assert desk.adopted == []
    assert "unchanged, version 1 is live" in caplog.text


def test_secret_that_is_another_in_its_own_file_is_a_change(run: Run, tmp_path: Path) -> None:
    secret = tmp_path / "key"
    text = TEXT.replace("sk-5ecret", f"file:{secret}")

    async def story(desk: Desk) -> None:
        secret.write_text("one")
        await desk.reload(text)
        secret.write_text("two")
        await desk.reload(text)

    desk = run(story)

    key = desk.live.snapshot.providers["a"].api_key
    assert key is not None
    assert (desk.version, key.reveal()) == (3, "two")


def test_asking_again_before_the_file_was_read_is_asking_once(run: Run) -> None:
    async def story(desk: Desk) -> None:
        for _ in range(10):
            desk.reloader.ask()
        await desk.reload(TEXT)

    desk = run(story)

    assert desk.sample('reloads_total{result="unchanged"}') == 1


def test_asking_while_the_file_is_read_reads_it_once_more(run: Run) -> None:
    """Nobody knows which content the running one saw."""
    slow: list[Slow] = []

    async def story(desk: Desk) -> None:
        slow.append(Slow(desk.reloader._source))
        desk.reloader._source = slow[0]
        desk.reloader.ask()
        await until(slow[0].began.is_set)
        desk.file.write_text(TEXT.replace("a/one", "a/last"))
        for _ in range(10):
            desk.reloader.ask()
        slow[0].may_end.set()
        await until(lambda: desk.targets == ["a/last"])

    run(story)

    assert slow[0].times == 2


class Slow(Source):
    """Takes its time for the first load, with the file as it was at its beginning."""

    def __init__(self, source: Source) -> None:
        self.path, self._source = source.path, source
        self.began, self.may_end, self.times = threading.Event(), threading.Event(), 0

    def load(self, config_version: int) -> Loaded:
        self.times += 1
        loaded = self._source.load(config_version)
        self.began.set()
        self.may_end.wait(PATIENCE_S)
        return loaded


# --- refusing


@pytest.mark.bug("J-04")
@pytest.mark.case("I17", "T93")
def test_broken_file_is_refused_with_all_its_problems_and_the_old_one_stays(run: Run) -> None:
    before: list[Snapshot] = []

    async def story(desk: Desk) -> None:
        before.append(desk.live.snapshot)
        reload = await desk.reload(BROKEN)

        assert reload.result is Result.REFUSED
        assert len(reload.problems) == 2
        assert all(f"{desk.file}:" in problem for problem in reload.problems)
        assert "Did you mean 'models'?" in "".join(reload.problems)

    desk = run(story)

    assert desk.live.snapshot is before[0]
    assert desk.adopted == []


@pytest.mark.case("T93")
@pytest.mark.parametrize(
    "text",
    ["", "version: 1\nmodels: [\n", TEXT.replace("sk-5ecret", "${NOT_SET}"), "\x00", "a: " * 100, "[" * 5000],
    ids=["empty", "cut off", "unset variable", "NUL", "garbage", "deep"],
)
def test_whatever_is_in_the_file_the_next_good_one_is_taken(run: Run, text: str) -> None:
    async def story(desk: Desk) -> None:
        assert (await desk.reload(text)).result is Result.REFUSED
        assert (await desk.reload(TEXT.replace("a/one", "a/two"))).result is Result.OK

    assert run(story).version == 2


def test_file_that_is_gone_is_refused(run: Run) -> None:
    async def story(desk: Desk) -> None:
        desk.file.unlink()
        desk.reloader.ask()
        await until(lambda: desk.reloader.last is not None)

        assert desk.reloader.last is not None
        assert "cannot read the file" in desk.reloader.last.problems[0]

    assert run(story).version == 1


@pytest.mark.case("I14", "T98")
def test_secret_of_a_refused_file_is_told_nowhere(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    async def story(desk: Desk) -> None:
        await desk.reload(BROKEN.replace("api_key:", "apikey: sk-5ecret, headers: [sk-5ecret], api_key:"))

    desk = run(story)

    told = f"{desk.reloader.status()} {caplog.text} {[vars(record) for record in caplog.records]}"
    assert "sk-5ecret" not in told
    assert "apikey" in told


def test_fault_of_the_reader_is_a_refusal_that_quotes_nothing(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    async def story(desk: Desk) -> None:
        desk.reloader._source = Faulty(desk.file)  # type: ignore[assignment]
        reload = await desk.reload(TEXT)

        assert reload.result is Result.REFUSED
        assert "ZeroDivisionError" in reload.problems[0]
        assert f"`pointsman check {desk.file}`" in reload.problems[0]

    run(story)

    assert "sk-5ecret" not in f"{[vars(record) for record in caplog.records]}"


class Faulty:
    """A source with a fault of ours."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, config_version: int) -> None:
        raise ZeroDivisionError("sk-5ecret")


def test_part_that_fails_is_told_and_the_next_reload_works(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    async def story(desk: Desk) -> None:
        tidy, desk.tidy = desk.tidy, lambda: 1 // 0  # type: ignore[method-assign,assignment,return-value]
        desk.reloader.ask()
        await until(lambda: "a reload failed in the gateway itself" in caplog.text)
        desk.tidy = tidy  # type: ignore[method-assign]
        await desk.reload(TEXT.replace("a/one", "a/two"))

    assert run(story).version == 2


# --- settings


def test_settings_that_can_change_do_and_the_others_are_named(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    async def story(desk: Desk) -> None:
        await desk.reload(TEXT + OTHER_SETTINGS)

    desk = run(story)

    (adopted,) = desk.adopted
    assert (adopted.drain_s, str(adopted.listen)) == (5.0, "127.0.0.1:4000")
    assert desk.reloader.settings == adopted
    assert desk.version == 2
    assert desk.reloader.status()["needs_restart"] == ("server.listen",)
    assert "a restart is needed for server.listen" in caplog.text


def test_change_that_needs_a_restart_alone_swaps_nothing(run: Run) -> None:
    async def story(desk: Desk) -> None:
        reload = await desk.reload(TEXT + "server: {listen: 127.0.0.1:5000}\n")

        assert reload.result is Result.UNCHANGED

    desk = run(story)

    assert (desk.version, desk.adopted) == (1, [])
    assert desk.reloader.status()["needs_restart"] == ("server.listen",)


def test_restart_is_no_longer_needed_once_the_file_is_as_it_was(run: Run) -> None:
    async def story(desk: Desk) -> None:
        await desk.reload(TEXT + OTHER_SETTINGS)
        await desk.reload(TEXT)

    assert run(story).reloader.status()["needs_restart"] == ()


@pytest.mark.parametrize("field", Settings.__struct_fields__)
def test_every_setting_either_changes_or_needs_a_restart(field: str, tmp_path: Path) -> None:
    file = tmp_path / "pointsman.yaml"
    file.write_text(TEXT)
    running = load(file, environ={"HOME": "/h"}).settings
    wanted = structs.replace(running, **{field: "another"})

    settings, missed = split(wanted, running)

    if field in NEEDS_RESTART:
        assert (settings, missed) == (running, (NEEDS_RESTART[field],))
    else:
        assert (settings, missed) == (wanted, ())


# --- watching


def test_new_content_is_taken_without_being_asked(watched: Run) -> None:
    async def story(desk: Desk) -> None:
        desk.file.write_text(TEXT.replace("a/one", "a/two"))
        await until(lambda: desk.targets == ["a/two"])

        assert desk.reloader.last is not None
        assert desk.reloader.last.trigger is Trigger.WATCH

    watched(story)


def test_watch_reads_a_broken_file_once(watched: Run) -> None:
    async def story(desk: Desk) -> None:
        desk.file.write_text(BROKEN)
        await until(lambda: desk.reloader.last is not None)
        seen = desk.tidied
        await until(lambda: desk.tidied > seen + 5)

    assert watched(story).sample('reloads_total{result="refused"}') == 1


def test_watch_says_nothing_of_a_file_that_was_touched(watched: Run, caplog: pytest.LogCaptureFixture) -> None:
    async def story(desk: Desk) -> None:
        desk.file.write_text(TEXT)
        seen = desk.tidied
        await until(lambda: desk.tidied > seen + 5)

    with caplog.at_level(logging.INFO):
        desk = watched(story)

    assert desk.reloader.last is None
    assert caplog.records == []


def test_content_that_was_asked_for_is_not_taken_twice(watched: Run) -> None:
    async def story(desk: Desk) -> None:
        await desk.reload(TEXT.replace("a/one", "a/two"))
        seen = desk.tidied
        await until(lambda: desk.tidied > seen + 5)

    desk = watched(story)

    assert desk.sample('reloads_total{result="ok"}') == 1
    assert desk.sample('reloads_total{result="unchanged"}') == 0


def test_every_look_tidies_up(watched: Run) -> None:
    async def story(desk: Desk) -> None:
        await until(lambda: desk.tidied > 3)

    watched(story)


# --- telling


def test_status_before_any_reload(run: Run) -> None:
    async def story(desk: Desk) -> None:
        await asyncio.sleep(0)

    desk = run(story)

    assert desk.reloader.status() == {
        "config_version": 1,
        "config_file": str(desk.file),
        "config_loaded_at": "2027-01-15T08:00:00.000Z",
        "needs_restart": (),
        "last_reload": None,
    }


def test_status_keeps_the_time_of_what_is_live_while_a_file_is_refused(run: Run) -> None:
    async def story(desk: Desk) -> None:
        desk.clock.advance(60)
        await desk.reload(TEXT.replace("a/one", "a/two"))
        desk.clock.advance(60)
        await desk.reload("version: 2\n")

    desk = run(story)

    status = desk.reloader.status()
    assert (status["config_version"], status["config_loaded_at"]) == (2, "2027-01-15T08:01:00.000Z")
    last = status["last_reload"]
    assert isinstance(last, dict)
    assert (last["at"], last["trigger"], last["result"]) == ("2027-01-15T08:02:00.000Z", "signal", "refused")
    assert last["problems"]


def test_metrics_count_results_and_show_whether_the_file_is_refused(run: Run) -> None:
    refused: list[float] = []

    async def story(desk: Desk) -> None:
        for text in (BROKEN, TEXT, TEXT.replace("a/one", "a/two"), BROKEN):
            desk.clock.advance(60)
            await desk.reload(text)
            refused.append(desk.sample("config_refused"))

    desk = run(story)

    counts = {result: desk.sample(f'reloads_total{{result="{result}"}}') for result in Result}
    assert counts == {"ok": 1, "unchanged": 1, "refused": 2}
    assert refused == [1, 0, 0, 1]
    assert desk.sample("config_loaded_timestamp_seconds") == 1_800_000_180


def test_counts_are_there_before_anything_happens(run: Run) -> None:
    async def story(desk: Desk) -> None:
        await asyncio.sleep(0)

    desk = run(story)

    assert [desk.sample(f'reloads_total{{result="{result}"}}') for result in Result] == [0, 0, 0]


def test_log_line_of_a_refusal_has_every_problem(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    async def story(desk: Desk) -> None:
        await desk.reload(BROKEN)

    desk = run(story)

    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert record.getMessage() == "the configuration is refused, version 1 keeps serving"
    assert desk.reloader.last is not None
    assert vars(record)["fields"] == {
        "config_version": 1,
        "trigger": "signal",
        "result": "refused",
        "needs_restart": (),
        "problems": desk.reloader.last.problems,
    }


def test_warnings_of_a_file_are_told_when_it_is_taken(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    async def story(desk: Desk) -> None:
        await desk.reload(
            TEXT.replace("{kind: vllm, base_url: 'http://127.0.0.1:8000/v1', api_key: sk-5ecret}", "{kind: openai}")
        )

    with caplog.at_level(logging.INFO):
        run(story)

    (record,) = caplog.records
    (warning,) = vars(record)["fields"]["warnings"]
    assert "OPENAI_API_KEY" in warning


# --- leaks


@pytest.mark.slow
@pytest.mark.bug("L-03")
@pytest.mark.case("I26")
def test_a_thousand_reloads_leave_nothing_of_the_earlier_ones(run: Run) -> None:
    counts: list[dict[str, int]] = []

    async def story(desk: Desk) -> None:
        tasks = asyncio.all_tasks()
        for number in range(1000):
            await desk.reload(TEXT.replace("a/one", f"a/m-{number}").replace("sk-", f"sk-{number}-"))
            if number in {10, 999}:
                counts.append(alive())

        assert asyncio.all_tasks() == tasks

    desk = run(story)

    assert desk.version == 1001
    assert counts[0] == counts[1]


def alive() -> dict[str, int]:
    gc.collect()
    kinds: tuple[type[Struct], ...] = (Snapshot, ModelGroup, Provider, Target)
    found = gc.get_objects()
    return {kind.__name__: sum(type(each) is kind for each in found) for kind in kinds}
