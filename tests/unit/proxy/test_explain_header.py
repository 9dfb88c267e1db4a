"""The request header that asks for the decision, and the response header that tells it."""

import pytest

from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.request import Scope
from pointsman.http1.header_block import HeaderBlock
from pointsman.proxy import explain_header
from pointsman.proxy.auth import ANYONE
from pointsman.routing.exchange import Exchange
from pointsman.routing.explanation import MAX_LINE_CHARS
from pointsman.testing import builders
from tests.unit.routing.asking import NOW, Draws, HandBoard, paused_for


def headers(value: str) -> HeaderBlock:
    return HeaderBlock(f"\r\nhost: a\r\nX-Pointsman-Explain: {value}\r\n".encode())


@pytest.mark.parametrize("value", ["full", "FULL", " full "])
def test_caller_with_the_scope_may_ask(value: str) -> None:
    assert explain_header.is_asked(headers(value), builders.caller("alice", Scope.EXPLAIN))
    assert explain_header.is_asked(headers(value), ANYONE)


def test_caller_without_the_scope_is_refused_with_its_name() -> None:
    with pytest.raises(GatewayError, match="lacks the scope 'explain'") as raised:
        explain_header.is_asked(headers("full"), builders.caller("alice", Scope.CHAT))

    assert raised.value.kind is ErrorKind.PERMISSION_DENIED


@pytest.mark.parametrize("value", ["", "none", "full, full", "fulls"])
def test_other_values_are_refused(value: str) -> None:
    with pytest.raises(GatewayError, match="takes the value 'full' only") as raised:
        explain_header.is_asked(headers(value), ANYONE)

    assert raised.value.kind is ErrorKind.BAD_REQUEST


def test_nobody_else_asks() -> None:
    assert not explain_header.is_asked(HeaderBlock(b"\r\nhost: a\r\n"), ANYONE)


def exchange_of(*targets: str, board: HandBoard) -> Exchange:
    group = builders.group("chat", *targets, strategy="failover")
    return Exchange(builders.ask(), group, board, Draws(), began_at=NOW, deadline=NOW + 60)


def test_nothing_is_told_before_a_decision() -> None:
    assert explain_header.lines(exchange_of("a/m", board=HandBoard()), HandBoard(), NOW) == b""


def test_latest_decision_is_told() -> None:
    board = HandBoard({"c/m": paused_for(14)})
    exchange = exchange_of("a/m", "b/m", "c/m", board=board)
    exchange.start(NOW)
    exchange.finished(builders.outcome("upstream_fault", status=500), NOW)

    assert explain_header.lines(exchange, board, NOW) == (
        b"x-pointsman-explain: b/m chosen by failover: share 100% | a/m out: it was already tried for this request | "
        b"c/m out: it is paused, 14 s left (cause: faults)\r\n"
    )


def test_header_is_bounded_however_many_targets_there_are() -> None:
    exchange = exchange_of(*(f"provider-{number}/model" for number in range(1_000)), board=HandBoard())
    exchange.start(NOW)

    line = explain_header.lines(exchange, HandBoard(), NOW)

    assert len(line) <= MAX_LINE_CHARS + len(b"x-pointsman-explain: \r\n")
    assert line.count(b"\r\n") == 1
