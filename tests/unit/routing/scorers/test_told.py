"""The highest score that somebody outside has given."""

import pytest

from pointsman.domain.decision import DecisionMode
from pointsman.domain.opinion import FallbackReason
from pointsman.routing.scorers import SCORE, SCORERS, Contest, Opinion, Verdict
from pointsman.testing import builders

WEIGHTS = (3.0, 1.0, 2.0)


def told(opinion: Opinion | None) -> Verdict:
    group = builders.group("chat", "a/m", "b/m", "c/m", strategy="plugin")
    view = builders.group_view(*(builders.view(),) * 3)
    estimates = builders.estimates(group)
    return SCORERS["told"](
        Contest(group, view, (0, 1, 2), WEIGHTS, view.measured, estimates, stream=True, opinion=opinion)
    )


def test_highest_score_serves() -> None:
    found = told((0.5, 2.0, 1.0))

    assert found.weights == (0.0, 1.0, 0.0)
    assert found.modes == (DecisionMode.PLUGIN,) * 3
    assert found.terms == {SCORE: (0.5, 2.0, 1.0)}
    assert found.fallback is None


def test_equal_scores_are_equally_likely_whatever_their_weights() -> None:
    assert told((1.0, 1.0, 0.0)).weights == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("opinion", "reason"),
    [
        (None, FallbackReason.NOT_ASKED),
        (FallbackReason.RAISED, FallbackReason.RAISED),
        (FallbackReason.BAD_ANSWER, FallbackReason.BAD_ANSWER),
        ((0.0, 0.0, 0.0), FallbackReason.NO_OPINION),
    ],
)
def test_without_a_score_weights_decide(opinion: Opinion | None, reason: FallbackReason) -> None:
    found = told(opinion)

    assert found.weights == WEIGHTS
    assert (found.modes[0], found.fallback) == (DecisionMode.FALLBACK, reason)
