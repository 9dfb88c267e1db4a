"""The asyncio driver: does what the exchange says, and reports what happened on every way out."""

import asyncio
from collections.abc import Awaitable
from typing import Protocol

from pointsman.domain.opinion import Told
from pointsman.domain.outcome import Outcome
from pointsman.domain.ports import Clock
from pointsman.domain.target import Target
from pointsman.http1.client import WireFailure
from pointsman.routing.exchange import Consult, Exchange, Finish, Send
from pointsman.signals.board import SignalBoard
from pointsman.signals.target_state import Lease


class Sender(Protocol):
    """Sends attempts of one request; `Call` is the real one."""

    def send(self, target: Target, lease: Lease) -> Awaitable[WireFailure | None]: ...
    def consult(self, command: Consult) -> Awaitable[Told]:
        """What the policy service of the current group says."""
        ...

    def conclude(self, failure: WireFailure | None) -> Outcome:
        """The outcome of the attempt that has ended."""
        ...

    def abandoned(self, detail: str) -> Outcome:
        """The outcome of the attempt that was cut off."""
        ...


async def drive(exchange: Exchange, call: Sender, board: SignalBoard, clock: Clock) -> Finish:
    """Run one request to its end. Every attempt is recorded once, synchronously, also a cancelled one (I3, I4)."""
    caller, facts = exchange.ask.caller.name, exchange.ask.facts
    command = exchange.start(clock.now())
    while not isinstance(command, Finish):
        if not isinstance(command, Send):
            if isinstance(command, Consult):
                command = exchange.told(await call.consult(command), clock.now())
                continue
            await asyncio.sleep(command.until - clock.now())
            command = exchange.resume(clock.now())
            continue
        lease = board.started(command.target, caller, clock.now(), is_probe=command.is_probe, facts=facts)
        try:
            outcome = call.conclude(await call.send(command.target, lease))
        except BaseException as error:
            outcome = call.abandoned("caller_gone" if isinstance(error, asyncio.CancelledError) else "internal_error")
            board.record(lease, outcome, clock.now(), exchange.current)
            exchange.finished(outcome, clock.now())
            raise
        now = clock.now()
        board.record(lease, outcome, now, exchange.current)
        command = exchange.finished(outcome, now)
    return command
