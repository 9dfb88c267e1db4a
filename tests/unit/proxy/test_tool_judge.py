"""Answers wait to be judged, within bounds, and are judged on the tick."""

import json
from random import Random

import pytest

from pointsman.dialects.codec import ParsedRequest
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.request import Dialect
from pointsman.proxy.tool_judge import ToolJudge
from pointsman.signals.board import SignalBoard
from pointsman.testing import builders, chat
from pointsman.testing.chat import ToolCall

MARKET = builders.group("chat", "a/m", "b/m", strategy="market")
TARGET = MARKET.members[0].target
TOOL = {"type": "function", "function": {"name": "weather"}}
BROKEN = json.dumps(chat.completion("", to=chat.NOTHING_SPECIAL, tool_calls=[ToolCall("wether", "{}", "c")])).encode()


def asked(**fields: object) -> ParsedRequest:
    body = {"model": "m", "messages": [], "tools": [TOOL], **fields}
    return DIALECTS[Dialect.OPENAI_CHAT].read_request(json.dumps(body).encode())


def judge() -> tuple[ToolJudge, SignalBoard]:
    board = SignalBoard(Random(1))
    board.keep([MARKET])
    return ToolJudge(board), board


def broken_ratio(board: SignalBoard, now: float = 5.0) -> float:
    return board.view(MARKET, now).measured[0].broken_ratio


@pytest.mark.req("O-041")
def test_answers_are_judged_on_the_next_tick_and_not_before() -> None:
    found, board = judge()
    before = broken_ratio(board)

    found.note(asked(), TARGET, MARKET, (BROKEN,))

    assert broken_ratio(board) == before
    found.check(5.0)
    assert broken_ratio(board) > 10 * before


@pytest.mark.parametrize(
    ("strategy", "listens"), [("market", True), ("failover", False), ("p2c", False), ("dynamic_score", False)]
)
def test_only_strategies_that_go_by_it_have_answers_judged(strategy: str, listens: bool) -> None:
    found, _ = judge()

    assert found.listens(asked(), builders.group("chat", "a/m", strategy=strategy)) is listens


def test_requests_that_nobody_can_judge_are_passed_over() -> None:
    found, _ = judge()
    many = [{**TOOL, "description": "x" * 300_000}]
    embeddings = DIALECTS[Dialect.OPENAI_EMBEDDINGS].read_request(b'{"model":"m","input":"x"}')

    assert not found.listens(asked(tools=many), MARKET)
    assert not found.listens(embeddings, MARKET)


def test_long_answers_and_floods_are_dropped_and_not_kept() -> None:
    found, _ = judge()
    found.note(asked(), TARGET, MARKET, (b"x" * 2_000_000,))
    found.note(asked(), TARGET, MARKET, ())
    assert not found._waiting

    for _ in range(100):
        found.note(asked(), TARGET, MARKET, (b"x" * 1_000_000,))

    assert 10 < len(found._waiting) < 20
    found.check(5.0)
    assert 10 < len(found._waiting) < 20
    for _ in range(30):
        found.check(5.0)
    assert (len(found._waiting), found._waiting_bytes) == (0, 0)
