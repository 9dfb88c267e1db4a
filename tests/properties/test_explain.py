"""Explaining a request changes nothing, whatever the board has seen."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from pointsman.control.explain import Question, answer
from pointsman.domain.outcome import Outcome, OutcomeClass, Usage
from pointsman.domain.request import Dialect, Script
from pointsman.domain.snapshot import Snapshot
from pointsman.routing import strategies as routing_strategies
from pointsman.routing.exchange import Exchange, Finish, Send
from pointsman.signals.board import SignalBoard
from pointsman.testing import builders

STRATEGIES = tuple(routing_strategies.STRATEGIES)
BODIES = (
    b'{"model":"chat","messages":[]}',
    b'{"model":"chat","stream":true,"tools":[{}],"messages":[]}',
    b'{"model":"other","messages":[]}',
    b'{"model":"nobodys","messages":[]}',
    b'{"model":',
    b"",
)
THOROUGH = settings(max_examples=150)

outcomes = st.builds(
    Outcome,
    outcome_class=st.sampled_from(OutcomeClass),
    confirmed=st.booleans(),
    usage=st.none() | st.just(Usage(input_tokens=20, output_tokens=5)),
    retry_after_s=st.none() | st.floats(0.0, 60.0),
)


class History(Struct):
    """What happened to a board: requests with the outcomes of their attempts, and what is in flight since."""

    strategy: str
    weights: list[float]
    requests: list[list[Outcome]]
    pauses_s: list[float]  # time between two requests
    in_flight: int


histories = st.builds(
    History,
    strategy=st.sampled_from(STRATEGIES),
    weights=st.lists(st.sampled_from([0.0, 1.0, 3.0]), min_size=1, max_size=5).filter(any),
    requests=st.lists(st.lists(outcomes, max_size=3), max_size=12),
    pauses_s=st.lists(st.floats(0.0, 90.0), min_size=12, max_size=12),
    in_flight=st.integers(0, 3),
)


def played(history: History) -> tuple[SignalBoard, Snapshot, float]:
    """A board with that history, as the gateway would have made it."""
    members = [(f"{number}/m", weight) for number, weight in enumerate(history.weights)]
    group = builders.group("chat", *members, strategy=history.strategy)
    config, rng, now = builders.snapshot([group, builders.group("other", "z/m")]), random.Random(1), 1_000.0
    board, ask = SignalBoard(rng), builders.ask(config=config, text_chars=80, script=Script.LATIN)
    for answers, pause_s in zip(history.requests, history.pauses_s, strict=False):
        now += pause_s
        exchange = Exchange(ask, group, board, rng, began_at=now, deadline=now + 60)
        command, left = exchange.start(now), list(answers)
        while isinstance(command, Send) and left:
            lease = board.started(command.target, "alice", now, is_probe=command.is_probe)
            outcome = left.pop(0)
            board.record(lease, outcome, now, group)
            command = exchange.finished(outcome, now)
        if isinstance(command, Send | Finish):
            continue
        now = command.until
    for _ in range(history.in_flight):
        board.started(group.members[0].target, "bob", now, is_probe=False)
    return board, config, now


def contents(item: object, seen: frozenset[int] = frozenset()) -> Any:
    """Everything an object consists of, to its last slot."""
    if id(item) in seen:
        return "again"
    within = seen | {id(item)}
    if isinstance(item, dict):
        return {str(key): contents(value, within) for key, value in item.items()}
    if isinstance(item, list | tuple | set | frozenset):
        return (
            sorted((contents(each, within) for each in item), key=repr)
            if isinstance(item, set | frozenset)
            else [contents(each, within) for each in item]
        )
    if isinstance(item, random.Random):
        return item.getstate()
    fields = getattr(item, "__struct_fields__", None) or getattr(type(item), "__slots__", None)
    if fields is None:
        fields = vars(item) if hasattr(item, "__dict__") else None
    if fields is None or isinstance(item, str):
        return item
    return {name: contents(getattr(item, name), within) for name in fields}


@pytest.mark.interpreted
@pytest.mark.req("X-13")
@given(history=histories, body=st.sampled_from(BODIES), seed=st.integers(0, 2**32 - 1), later_s=st.floats(0.0, 400.0))
@THOROUGH
def test_explaining_changes_nothing_and_says_the_same_again(
    history: History, body: bytes, seed: int, later_s: float
) -> None:
    board, config, now = played(history)
    question, before = Question(body, Dialect.OPENAI_CHAT, seed), contents(board)

    first, second = (answer(question, config, board, now + later_s) for _ in range(2))

    assert contents(board) == before
    assert first == second


@pytest.mark.interpreted
def test_the_comparison_sees_a_change() -> None:
    board, config, now = played(History("round_robin", [1.0, 1.0], [[]], [0.0], 0))
    before = contents(board)

    Exchange(
        builders.ask(config=config), config.groups["chat"], board, random.Random(2), began_at=now, deadline=now + 9
    ).start(now)

    assert contents(board) != before
