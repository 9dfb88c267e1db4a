"""What time and failures are worth to a group."""

import pytest

from pointsman.domain.policy import SECONDS_WORTH, Market, Preset
from pointsman.routing.market.worth import reference_usd, worth
from pointsman.testing import builders

CHEAP, MIDDLE, DEAR = builders.price(1, 1), builders.price(2, 2), builders.price(9, 9)


def test_reference_is_a_mean_request_at_a_target_of_the_middle() -> None:
    assert reference_usd([DEAR, CHEAP, None, MIDDLE], 1_000, 500) == pytest.approx(0.003)


def test_reference_without_any_price() -> None:
    assert reference_usd([None, None], 1_000, 200) == 0.0008


@pytest.mark.trap("14")
def test_free_models_leave_time_a_value() -> None:
    assert reference_usd([builders.price(0, 0)], 1_000, 200) == 1e-5


@pytest.mark.parametrize(
    ("preset", "ttft", "decode"),
    [("batch", 0.02, 0.002), ("economy", 0.1, 0.01), ("balanced", 0.5, 0.05), ("interactive", 1.5, 0.1),
     ("realtime", 4.0, 0.2)],
)  # fmt: skip
def test_presets(preset: str, ttft: float, decode: float) -> None:
    found = worth(Market(preset=Preset(preset)), 0.01)

    assert found.ttft_usd_per_s == pytest.approx(0.01 * ttft)
    assert found.decode_usd_per_s == pytest.approx(0.01 * decode)


def test_there_is_no_other_preset_and_balanced_is_the_usual_one() -> None:
    assert set(SECONDS_WORTH) == set(Preset)
    assert Market().preset is Preset.BALANCED


def test_hand_set_worth_comes_before_the_preset_and_decode_counts_a_tenth() -> None:
    found = worth(Market(preset=Preset.REALTIME, seconds_worth=2.0), 0.01)

    assert (found.ttft_usd_per_s, found.decode_usd_per_s) == (pytest.approx(0.02), pytest.approx(0.002))


def test_amount_comes_before_everything() -> None:
    found = worth(Market(seconds_worth=2.0, usd_per_second=0.5), 0.01)

    assert (found.ttft_usd_per_s, found.decode_usd_per_s) == (0.5, pytest.approx(0.05))


def test_penalties_are_parts_of_the_reference() -> None:
    found = worth(Market(), 0.01)

    penalties = (found.fault_usd, found.rejection_usd, found.broken_usd, found.flag_usd)
    assert penalties == (0.01, 0.0025, 0.005, 0.1)
