"""What holds for every test."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import settings

from pointsman.core import Core, core
from tests.cases import FIGURE, pytest_addoption, pytest_collection_modifyitems, pytest_terminal_summary

__all__ = ["pytest_addoption", "pytest_collection_modifyitems", "pytest_terminal_summary"]

# PYTHONPATH decides which form of the core is tested: a run that is meant for the compiled one must not miss it
if core() is not Core(os.environ.get("EXPECTED_CORE", Core.INTERPRETED)):
    raise RuntimeError(f"These tests would run over the {core()} core, and were meant for the other one.")

# the same examples on every run; no time limit, which a busy machine would break
settings.register_profile("seeded", derandomize=True, deadline=None)
settings.load_profile("seeded")


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Any:
    """`figure("p99 7 ms")`: what was measured, for the table of cases."""
    return partial(record_property, FIGURE)
