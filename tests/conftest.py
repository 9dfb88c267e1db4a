"""What holds for every test."""

import os

from hypothesis import settings

from pointsman.core import Core, core

# PYTHONPATH decides which form of the core is tested: a run that is meant for the compiled one must not miss it
if core() is not Core(os.environ.get("EXPECTED_CORE", Core.INTERPRETED)):
    raise RuntimeError(f"These tests would run over the {core()} core, and were meant for the other one.")

# the same examples on every run; no time limit, which a busy machine would break
settings.register_profile("seeded", derandomize=True, deadline=None)
settings.load_profile("seeded")
