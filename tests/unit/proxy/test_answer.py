"""What every answer tells beside its content."""

import pytest

from pointsman.dialects.openai_chat import OpenAIChat
from pointsman.domain.outcome import LimitedUnit, Outcome, ToldLimit
from pointsman.http1.header_block import HeaderBlock
from pointsman.http1.limits import UpstreamLimits
from pointsman.http1.response_head import ResponseHead
from pointsman.proxy.unary import UnaryAnswer
from pointsman.signals.target_state import Lease, TargetState
from pointsman.testing import FakeClock, builders
from tests.unit.signals.pausing import Draws

NOTHING_LEFT = b"\r\nx-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 30s\r\n"
CHAT = b'{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"}]}'
TOLD = (ToldLimit(LimitedUnit.REQUESTS, 0.0, 30.0),)


def answered(lease: Lease | None, clock: FakeClock, status: int = 200, body: bytes = CHAT) -> Outcome:
    answer = UnaryAnswer(OpenAIChat(), UpstreamLimits(), clock, builders.provider("a"), lease)
    answer.on_head(ResponseHead(status, HeaderBlock(NOTHING_LEFT)))
    answer.on_data(body)
    return answer.conclude(None)


def lease_of(state: TargetState) -> Lease:
    return state.begin("alice", 0.0, is_probe=False)


def test_head_of_a_success_is_read_now_and_then_of_each_target() -> None:
    clock, one, other = FakeClock(), TargetState(), TargetState()

    first = answered(lease_of(one), clock)
    second = answered(lease_of(one), clock)
    of_another = answered(lease_of(other), clock)
    clock.advance(0.1)
    later = answered(lease_of(one), clock)

    assert [each.told_limits for each in (first, second, of_another, later)] == [TOLD, (), TOLD, TOLD]


@pytest.mark.parametrize("status", [429, 500])
def test_head_of_a_failure_is_always_read(status: int) -> None:
    clock, state = FakeClock(), TargetState()

    told = [answered(lease_of(state), clock, status, b"{}").told_limits for _ in range(3)]

    assert told == [TOLD] * 3


def test_every_head_is_read_while_limits_are_near() -> None:
    clock, state = FakeClock(), TargetState()
    lease, draws = lease_of(state), Draws()
    outcome = answered(lease, clock)
    assert state.end(lease, outcome, clock.now())
    state.judge(lease, outcome, clock.now(), draws, builders.policy().cooldown)

    assert answered(lease_of(state), clock).told_limits == TOLD
