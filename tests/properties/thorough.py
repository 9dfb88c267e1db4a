"""How many cases a property is tried with: few on every change, as many as are wanted in `make properties`."""

import os

from hypothesis import settings

CASES = os.environ.get("PROPERTY_CASES")


def thorough(usual: int, **more: int) -> settings:
    """The same cases on every run; `usual` of them unless PROPERTY_CASES says another number."""
    return settings(max_examples=int(CASES or usual), deadline=None, derandomize=True, **more)
