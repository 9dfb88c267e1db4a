"""Processes of a run are watched and ended, and their CPU time is read exactly."""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from benchmarks.cpu import available_cores, calibration_ms, pinned, process_cpu_ns, process_tree, tree_cpu_ns
from benchmarks.load import ClosedLoop, LoadError
from benchmarks.measure import Round, Window, measure
from benchmarks.payloads import chat_body, http_request
from benchmarks.processes import ProcessError, free_ports, running

CORE = available_cores().subject
REQUEST = http_request(chat_body(1024))
SHORT = Window(warmup_s=0.05, measured_s=0.2)


def mock(port: int) -> list[str]:
    return [sys.executable, "-m", "benchmarks.upstream", str(port)]


def relay(port: int, upstream_port: int) -> list[str]:
    return [sys.executable, "-m", "benchmarks.relay", str(port), str(upstream_port)]


def script(text: str) -> list[str]:
    return [sys.executable, "-c", text]


# --- processes


def test_process_runs_for_as_long_as_its_block() -> None:
    (port,) = free_ports(1)

    with running("mock", mock(port), core=CORE, port=port) as child:
        child.check()
        pid = child.pid

    assert not Path(f"/proc/{pid}").exists()


def test_process_that_dies_at_its_start_is_reported_with_its_last_words() -> None:
    (port,) = free_ports(1)

    with pytest.raises(ProcessError, match=r"(?s)relay ended with status 3; its last output:\nno luck"):
        with running("relay", script("print('no luck'); raise SystemExit(3)"), core=CORE, port=port):
            pass


def test_process_that_has_died_fails_its_check() -> None:
    (port,) = free_ports(1)

    with running("mock", mock(port), core=CORE, port=port) as child:
        os.kill(child.pid, 9)

        with pytest.raises(ProcessError, match="mock ended with status -9"):
            child.check(grace_s=5.0)


def test_process_can_be_awaited_on_any_path_and_status() -> None:
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]

    with running("files", command, port=port, path="/missing", status=404) as child:
        child.check()


def test_killed_process_is_gone_at_once() -> None:
    (port,) = free_ports(1)

    with running("mock", mock(port), port=port) as child:
        child.kill()

        assert not Path(f"/proc/{child.pid}").exists()


def test_free_ports_differ() -> None:
    assert len(set(free_ports(20))) == 20


# --- CPU time


def test_cpu_time_of_a_process_grows_with_its_work() -> None:
    before_ns, begin_ns = process_cpu_ns(os.getpid()), time.process_time_ns()
    calibration_ms()
    worked_ns = time.process_time_ns() - begin_ns

    assert process_cpu_ns(os.getpid()) - before_ns >= worked_ns > 0


def test_process_tree_holds_children_behind_their_parent() -> None:
    (port,) = free_ports(1)

    with running("mock", mock(port), core=CORE, port=port) as child:
        tree = process_tree(os.getpid())
        times_ns = tree_cpu_ns(child.pid)

    assert tree[0] == os.getpid()
    assert child.pid in tree
    assert times_ns[child.pid] > 0


def test_pinning_holds_for_its_block_only() -> None:
    before = os.sched_getaffinity(0)

    with pinned(CORE):
        inside = os.sched_getaffinity(0)

    assert (inside, os.sched_getaffinity(0)) == ({CORE}, before)


# --- a round


def test_round_counts_requests_and_the_subjects_cpu_time() -> None:
    port, upstream_port = free_ports(2)

    async def scenario() -> Round:
        return await measure(ClosedLoop(port, REQUEST, 2), subject=subject, mock=provider, window=SHORT)

    with running("mock", mock(upstream_port), core=CORE, port=upstream_port) as provider:
        with running("relay", relay(port, upstream_port), core=CORE, port=port) as subject:
            found = asyncio.run(scenario())

    assert found.units > 2
    assert found.cpu_us_per_unit is not None
    assert 1 < found.cpu_us_per_unit < 100_000
    assert 0 < found.sample_p50_us <= found.sample_p99_us


def test_round_without_a_subject_has_no_cpu_figure() -> None:
    (port,) = free_ports(1)

    async def scenario() -> Round:
        return await measure(ClosedLoop(port, REQUEST, 1), subject=None, mock=provider, window=SHORT)

    with running("mock", mock(port), core=CORE, port=port) as provider:
        found = asyncio.run(scenario())

    assert found.cpu_us_per_unit is None
    assert found.units > 0


def test_round_in_which_the_process_dies_names_the_process_not_the_echo() -> None:
    (port,) = free_ports(1)

    async def scenario() -> None:
        load = ClosedLoop(port, REQUEST, 1)
        asyncio.get_running_loop().call_later(0.1, os.kill, provider.pid, 9)
        await measure(load, subject=None, mock=provider, window=Window(0.0, 10.0))

    with running("mock", mock(port), core=CORE, port=port) as provider:
        with pytest.raises(ProcessError, match="mock ended with status -9"):
            asyncio.run(scenario())


def test_round_with_a_bad_answer_fails_although_all_processes_live() -> None:
    port, upstream_port = free_ports(2)  # nobody listens on the second: the relay answers 502

    async def scenario() -> None:
        await measure(ClosedLoop(port, REQUEST, 1), subject=None, mock=subject, window=SHORT)

    with running("relay", relay(port, upstream_port), core=CORE, port=port) as subject:
        with pytest.raises(LoadError, match=r"not a 200: HTTP/1\.1 502"):
            asyncio.run(scenario())
