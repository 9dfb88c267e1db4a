"""docs/architecture.md: the bounds it names are those of the code."""

import pytest

from pointsman.config.kinds import KINDS
from pointsman.domain.policy import Cooldown
from pointsman.http1.limits import UpstreamLimits
from pointsman.observability.decision_log import MAX_BATCHES, MAX_GATHERED
from tests.docs import pages

TEXT = " ".join(pages.prose(pages.text("docs/architecture.md")).split())

IDLE_S = sorted({kind.idle_connection_s for kind in KINDS.values()})
MOST_RECORDS = MAX_GATHERED * (MAX_BATCHES + 2)  # gathered, queued, and the batch that is being written


@pytest.mark.parametrize(
    "promise",
    [
        f"(up to {UpstreamLimits().held_bytes >> 20} MiB)",
        f"up to {Cooldown().jitter_ratio * 100:g} % longer by chance",
        f"{IDLE_S[0]:g} s or {IDLE_S[1]:g} s, by kind",
        f"until written; {MOST_RECORDS:,} at most",
    ],
)
def test_documented_bound_is_that_of_the_code(promise: str) -> None:
    assert promise in TEXT


def test_drawing_of_pauses_names_the_number_of_faults() -> None:
    (drawing,) = [block for block in pages.blocks(pages.text("docs/architecture.md"), "") if "half-open" in block]

    assert f"{Cooldown().fault_threshold} faults in a row" in drawing
