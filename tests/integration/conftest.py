"""The fixtures `gateway` and `run`: everything here runs on one loop of the kind that serves in production."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pointsman.app import new_loop
from tests.integration.harness import Gateway, run_gateway

Run: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture
def run() -> Iterator[Run]:
    """Runs a coroutine to its end and returns its result."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        yield runner.run


@pytest.fixture
def gateway(tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[Gateway]]:
    """`gateway(a, b, groups=..., cooldown=...)`: see `harness.run_gateway`."""
    return partial(run_gateway, tmp_path)
