"""What a provider says it charges."""

import json

import pytest
from msgspec import Raw

from pointsman.dialects.anthropic_messages import AnthropicMessages
from pointsman.dialects.charge import charged_usd
from pointsman.dialects.openai_wire import read_payload
from pointsman.dialects.openai_wire import usage as chat_usage
from pointsman.dialects.responses_wire import usage as responses_usage
from pointsman.domain.outcome import Usage


def said(cost: object = None, is_byok: object = None, details: object = None) -> float | None:
    cost_raw, byok_raw, details_raw = [Raw(json.dumps(part).encode()) for part in (cost, is_byok, details)]
    return charged_usd(cost_raw, byok_raw, details_raw)


def test_cost_is_what_is_charged() -> None:
    assert said(0.0123) == 0.0123
    assert said(0) == 0.0
    assert said(0.95, False, {"upstream_inference_cost": 0.9}) == 0.95  # which is in the cost already


def test_with_a_key_of_ones_own_the_bill_of_the_upstream_is_a_part_of_it() -> None:
    assert said(0.05, True, {"upstream_inference_cost": 0.95}) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "untold",
    [
        (),
        ("0.1",),
        (True,),
        ({"total_cost": 0.1},),  # of another provider, who means something else
        (-0.1,),
        (1e400,),
        (0.05, True),
        (0.05, True, {"upstream_inference_cost": None}),
        (0.05, True, "free"),
    ],
)
def test_what_cannot_be_trusted_is_not_known(untold: tuple[object, ...]) -> None:
    assert said(*untold) is None


def test_odd_cost_does_not_cost_the_counts_of_tokens() -> None:
    payload = read_payload(b'{"usage": {"prompt_tokens": 3, "completion_tokens": 4, "cost": {"odd": true}}}')

    assert chat_usage(payload.usage) == Usage(3, 4)


def test_it_is_read_in_every_dialect() -> None:
    payload = read_payload(b'{"usage": {"prompt_tokens": 3, "completion_tokens": 4, "cost": 0.5}}')
    answer = {"content": [{"type": "text", "text": "x"}], "usage": {"input_tokens": 3, "output_tokens": 4, "cost": 0.5}}
    message = AnthropicMessages().read_answer(
        json.dumps({"type": "message", "stop_reason": "end_turn", **answer}).encode()
    )

    assert chat_usage(payload.usage) == Usage(3, 4, charged_usd=0.5)
    assert responses_usage(Raw(b'{"input_tokens": 3, "output_tokens": 4, "cost": 0.5}')) == Usage(3, 4, charged_usd=0.5)
    assert message.usage == Usage(3, 4, charged_usd=0.5)
