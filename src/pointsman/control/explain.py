"""`POST /api/v1/explain` and `pointsman explain`: what would become of a request. Nothing is sent, nothing is kept."""

import random
from enum import StrEnum

from pointsman.dialects.closer_look import looked_at
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.ask import Ask
from pointsman.domain.errors import GatewayError
from pointsman.domain.request import Caller, Dialect, Scope
from pointsman.domain.snapshot import Snapshot
from pointsman.domain.value import Value
from pointsman.routing import resolve
from pointsman.routing.explain import Board, Explained, explain, refused
from pointsman.signals.board import SignalBoard

MAX_SEED = 2**32 - 1
DEFAULT_DIALECT = Dialect.OPENAI_CHAT

_WHO = Caller(name="explain", scopes=frozenset(Scope))  # may use every group: it is about routing, not about keys


class State(StrEnum):
    """What is supposed to be known about the targets."""

    LIVE = "live"  # what the gateway has learned, as it is now
    FRESH = "fresh"  # nothing, as after a start


class Question(Value):
    """A request as a caller would send it, and the circumstances."""

    body: bytes
    dialect: Dialect
    seed: int  # of the draw, if the strategy draws


class Explanation(Value):
    """The answer, and what it rests on."""

    config_version: int
    state: State
    seed: int
    explained: Explained


def answer(question: Question, snapshot: Snapshot, board: Board | None, now: float) -> Explanation:
    """What would become of the request; `board` None: with a fresh one."""
    rng = random.Random(question.seed)  # noqa: S311  # a draw that can be repeated
    state = State.FRESH if board is None else State.LIVE
    known = SignalBoard(rng) if board is None else board
    try:
        ask = _ask(question, snapshot)
    except GatewayError as error:
        explained = refused(error)
    else:
        explained = explain(ask, known, rng, now)
    return Explanation(snapshot.config_version, state, question.seed, explained)


def _ask(question: Question, snapshot: Snapshot) -> Ask:
    """The request as the gateway would see it, but for its headers. Raises GatewayError (400)."""
    codec = DIALECTS[question.dialect]
    parsed = codec.read_request(question.body)
    ask = Ask(f"explain-{question.seed}", _WHO, parsed.facts, snapshot, epoch=question.seed)
    try:
        group = resolve.group_for(ask)
    except GatewayError:
        return ask  # of a model that there is not: the explanation is that
    return looked_at(ask, group, codec, parsed, {}, parsed.preferences)
