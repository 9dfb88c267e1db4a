"""Changes of an endpoint."""

import math

import pytest

from pointsman.simulator.profile import Change


@pytest.mark.parametrize(
    ("name", "value", "is_trouble"),
    [
        ("slow", 5.0, True),
        ("slow", 0.5, False),
        ("price_factor", 3.0, True),
        ("price_factor", 0.3, False),
        ("error_ratio", 0.3, True),
        ("break_ratio", 0.3, True),
        ("black_hole", True, True),
        ("stalls", True, True),
        ("cache_ttl_s", 300.0, False),
        ("max_rps", 2.0, False),
        ("absent", True, False),
    ],
)
def test_trouble_is_what_makes_a_target_worse(name: str, value: object, is_trouble: bool) -> None:
    assert Change(0.0, math.inf, "a", ((name, value),)).is_trouble is is_trouble
