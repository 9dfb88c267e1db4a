"""Measures the gateway beside the bare relay, in neighbouring rounds of one run, and prints one table.

Ratios bind, absolute figures inform. What else runs on the machine, or on the other hyperthread of a rented core, moves
absolutes by half within a second; so there are many short rounds and the median of their ratios counts.
"""

import argparse
import asyncio
import os
import platform
import shlex
import signal
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import msgspec
import uvloop
import yaml
from msgspec import Struct

from benchmarks.cases import CASES, Case
from benchmarks.cpu import Cores, available_cores, calibration_ms, pinned
from benchmarks.guard import record, rises
from benchmarks.load import LoadError
from benchmarks.measure import Round, Window, measure
from benchmarks.payloads import MODEL
from benchmarks.processes import Child, ProcessError, free_ports, running
from benchmarks.report import Machine, Result, rows_of, write
from benchmarks.stats import spread
from benchmarks.upstream import listen
from pointsman.core import core

GATE_FAILED = 1
RUN_FAILED = 2
_GATEWAY_COMMAND = "{python} -m pointsman serve --config {config}"
_WEIGHTS = {"a": 50, "b": 30, "c": 20}


class Options(Struct, frozen=True):
    """What the command line asks for."""

    cases: tuple[Case, ...]
    rounds: int
    window: Window
    gateway_command: str


class Site(Struct, frozen=True):
    """Everything that runs, and where to reach it."""

    upstream_ports: list[int]  # of the mock, which is part of this process
    subjects: Mapping[str, Child | None]  # by name; None: the mock itself
    ports: Mapping[str, int]


def gateway_config(port: int, admin_port: int, upstream_ports: list[int], folder: Path) -> dict[str, object]:
    """A gateway with weighted routing over three providers, records and metrics on."""
    targets = [{"model": f"{name}/m", "weight": weight} for name, weight in _WEIGHTS.items()]
    providers = {
        name: {"kind": "vllm", "base_url": f"http://127.0.0.1:{upstream_port}/v1"}
        for name, upstream_port in zip(_WEIGHTS, upstream_ports, strict=True)
    }
    return {
        "version": 1,
        "server": {"listen": f"127.0.0.1:{port}", "admin_listen": f"127.0.0.1:{admin_port}"},
        "auth": {"mode": "none"},
        "records": {"decisions": {"path": str(folder / "decisions.jsonl")}},
        "providers": providers,
        "models": {MODEL: {"strategy": "weighted", "targets": targets}},
    }


def build_site(stack: ExitStack, options: Options, cores: Cores) -> Site:
    """Starts relay and gateway; the stack ends them."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
    *upstreams, relay_port, gateway_port, admin_port = free_ports(len(_WEIGHTS) + 3)
    config = folder / "bench.yaml"
    config.write_text(yaml.safe_dump(gateway_config(gateway_port, admin_port, upstreams, folder)))
    fields = {"python": sys.executable, "config": config, "port": gateway_port, "upstream_port": upstreams[0]}
    gateway_command = [part.format(**fields) for part in shlex.split(options.gateway_command)]
    relay_command = [sys.executable, "-m", "benchmarks.relay", str(relay_port), str(upstreams[0])]
    relay = stack.enter_context(running("relay", relay_command, core=cores.subject, port=relay_port))
    gateway = stack.enter_context(running("gateway", gateway_command, core=cores.subject, port=gateway_port))
    return Site(
        upstreams,
        {"direct": None, "relay": relay, "gateway": gateway},
        {"direct": upstreams[0], "relay": relay_port, "gateway": gateway_port},
    )


def keep_awake() -> None:
    """Never let the loop sleep: to wake a sleeping peer costs the sender as much as half a request.

    Who is slower would pay for it more often, and be charged with time that is the other core's.
    """
    loop = asyncio.get_running_loop()

    def again() -> None:
        loop.call_soon(again)

    again()


async def run_case(case: Case, site: Site, options: Options) -> dict[str, list[Round]]:
    """All rounds of a case: the contestants in turn, so that neighbours see the same machine."""
    servers = await listen(site.upstream_ports)
    keep_awake()
    names = [name for name in site.subjects if name != "direct" or case.with_direct]
    rounds: dict[str, list[Round]] = {name: [] for name in names}
    for number in range(options.rounds):
        for name in names:
            load = case.load(site.ports[name], options.window)
            try:
                found = await measure(load, subject=site.subjects[name], mock=None, window=options.window)
            except LoadError as error:
                raise LoadError(f"{case.title}, {name}: {error}") from error
            rounds[name].append(found)
            shown = found.sample_p50_us if found.cpu_us_per_unit is None else found.cpu_us_per_unit
            sys.stderr.write(f"{case.title}, round {number + 1}/{options.rounds}, {name}: {shown:.1f} us\n")
    for server in servers:
        server.close()
    return rounds


def run(options: Options) -> Result:
    """The whole run. Raises LoadError or ProcessError if anything but the expected answer came back."""
    cores = available_cores()
    load_average = os.getloadavg()
    calibrations: list[float] = []
    rows = []
    with ExitStack() as stack:
        site = build_site(stack, options, cores)
        for case in options.cases:
            calibrations.append(_calibrate(cores))
            with pinned(cores.load):
                rows += rows_of(case, uvloop.run(run_case(case, site, options)))
        calibrations.append(_calibrate(cores))
    machine = Machine(
        os.cpu_count() or 1, cores.subject, cores.load, platform.python_version(), core(), load_average,
        os.getloadavg(), spread(calibrations),
    )  # fmt: skip
    return Result(rows, machine)


def _calibrate(cores: Cores) -> float:
    with pinned(cores.subject):
        return calibration_ms()


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.2, help="measured time of a round")
    parser.add_argument("--warmup", type=float, default=0.4, help="seconds before each measured time")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each case and contestant")
    parser.add_argument("--only", choices=CASES, action="append", help="run only this case; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value there, too")
    parser.add_argument("--gate", action="store_true", help="exit with 1 if a figure is above its limit")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the ratios there, to be guarded")
    parser.add_argument("--guard", type=Path, metavar="FILE", help="exit with 1 if a ratio is far above the one there")
    parser.add_argument(
        "--gateway", default=_GATEWAY_COMMAND, metavar="COMMAND",
        help="command under test; may use {python}, {config}, {port} and {upstream_port}",
    )  # fmt: skip
    found = parser.parse_args(arguments)
    if found.rounds < 1 or found.seconds <= 0 or found.warmup < 0:
        parser.error("--rounds must be at least 1, --seconds above 0, --warmup not below 0")
    return found


def main() -> int:
    """Entry point of `make bench`; the exit code."""
    arguments = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(RUN_FAILED))  # unwinds, so that no child is left behind
    options = Options(
        tuple(CASES[key] for key in arguments.only or CASES),
        arguments.rounds,
        Window(arguments.warmup, arguments.seconds),
        arguments.gateway,
    )
    try:
        result = run(options)
    except (LoadError, ProcessError) as error:
        sys.stderr.write(f"benchmark failed: {error}\n")
        return RUN_FAILED
    write(result, sys.stdout)
    if arguments.json is not None:
        arguments.json.write_bytes(msgspec.json.format(msgspec.json.encode(result)) + b"\n")
    if arguments.record is not None:
        record(result, arguments.record)
    risen = [] if arguments.guard is None else rises(result, arguments.guard)
    sys.stderr.writelines(risen)
    is_above = arguments.gate and any(row.is_above_limit for row in result.rows)
    return GATE_FAILED if risen or is_above else 0


if __name__ == "__main__":
    sys.exit(main())
