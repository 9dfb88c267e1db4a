"""Whatever the gateway writes to takes nothing: every request is served all the same."""

import asyncio
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.processes import free_ports, running
from pointsman.testing import Chat, FakeProvider
from pointsman.testing.wire import Wire, chat_request
from tests.e2e.served import play, served
from tests.integration.callers import ask, ask_all
from tests.integration.harness import write_configuration

SCRAPE = b"GET /metrics HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n"
PIPE_BYTES = 64 << 10  # what the kernel holds of a pipe
NO_LIMIT = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


async def sample(admin_url: str, name: str) -> float:
    lines = (await ask(admin_url, SCRAPE)).body.decode().splitlines()
    return next(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"pointsman_{name} "))


async def becomes(admin_url: str, name: str, value: float) -> None:
    async with asyncio.timeout(10.0):
        while await sample(admin_url, name) != value:
            await asyncio.sleep(0.05)


@pytest.mark.case("T84", "I10", "I32")
def test_disk_without_room_for_records_costs_no_request_and_no_record(tmp_path: Path, figure: Any) -> None:
    async def story() -> tuple[list[int], float, list[dict[str, Any]]]:
        async with served(tmp_path) as gateway:
            statuses = [(await ask(gateway.base_url, chat_request("chat"))).status]
            await asyncio.sleep(0.3)  # the record of the first one is on disk
            room = len(gateway.lines()) + 100
            resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
            statuses += [reply.status for reply in await ask_all(gateway.base_url, [chat_request("chat")] * 500)]
            await becomes(gateway.admin_url, "records_failing", 1)
            statuses += [reply.status for reply in await ask_all(gateway.base_url, [chat_request("chat")] * 500)]
            resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, NO_LIMIT)
            await becomes(gateway.admin_url, "records_failing", 0)
            dropped = await sample(gateway.admin_url, "records_dropped")
            gateway.process.stop()
            return statuses, dropped, gateway.records()

    statuses, dropped, records = play(story)

    figure(f"{statuses.count(200)} of {len(statuses)} served, {len(records)} records, {dropped:.0f} dropped")
    assert statuses == [200] * 1_001
    assert len(records) + dropped == 1_001
    assert dropped == 0


@pytest.mark.case("T87", "I32")
def test_log_that_nobody_reads_delays_no_request_and_no_end(tmp_path: Path, figure: Any) -> None:
    async def story() -> tuple[list[float], int, float]:
        port, admin_port = free_ports(2)
        file, pipe = tmp_path / "pointsman.yaml", tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        listen = {"listen": f"127.0.0.1:{port}", "admin_listen": f"127.0.0.1:{admin_port}"}
        async with FakeProvider(name="a", default=Chat("fine")) as a:
            write_configuration(file, a, server=listen, logs={"requests": True})
            command = f'exec "{sys.executable}" -m pointsman serve --config "{file}" >"{pipe}" 2>&1'
            with running("gateway", ["sh", "-c", command], port=port) as process:
                took_s = []
                async with await Wire.open(f"http://127.0.0.1:{port}/v1") as wire:
                    for _ in range(1_000):  # more lines than a pipe holds
                        began = time.monotonic()
                        wire.send(chat_request("chat"))
                        assert (await wire.reply(10.0)).status == 200
                        took_s.append(time.monotonic() - began)
                held = len(os.read(reader, 2 * PIPE_BYTES))
                process.send(signal.SIGTERM)
                began = time.monotonic()
                await asyncio.to_thread(process.wait, 15.0)
                os.close(reader)
                return took_s, held, time.monotonic() - began

    took_s, held, ended_s = play(story)

    early, late = sorted(took_s[:200])[198], sorted(took_s[-200:])[198]
    figure(f"p99 {early * 1000:.1f} ms before the pipe was full, {late * 1000:.1f} ms after; ended in {ended_s:.1f} s")
    assert held >= PIPE_BYTES // 2
    assert late < early + 0.25
