"""What would become of a request."""

import pytest

from pointsman.control.explain import Question, answer
from pointsman.domain.request import Dialect
from pointsman.testing import builders

SNAPSHOT = builders.snapshot([builders.group("chat", "a/m", "b/m", strategy="market")])
ONE_TURN = b'{"model": "chat", "messages": [{"role": "user", "content": "hi"}]}'
TWO_TURNS = (
    b'{"model": "chat", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}'
)


def picked(body: bytes, seed: int) -> str | None:
    return answer(Question(body, Dialect.OPENAI_CHAT, seed), SNAPSHOT, None, now=0.0).explained.picked


@pytest.mark.parametrize("body", [ONE_TURN, TWO_TURNS])
def test_seed_is_the_draw_also_of_a_strategy_that_draws_by_request_or_session(body: bytes) -> None:
    picks = [picked(body, seed) for seed in range(40)]

    assert picks == [picked(body, seed) for seed in range(40)]
    assert set(picks) == {"a/m", "b/m"}
