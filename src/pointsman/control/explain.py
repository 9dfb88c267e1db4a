"""`POST /api/v1/explain` and `pointsman explain`: what would become of a request. Nothing is sent, nothing is kept."""

import random
from enum import StrEnum

from msgspec import Struct

from pointsman.dialects.registry import DIALECTS
from pointsman.dialects.text_size import with_text_size
from pointsman.domain.ask import Ask
from pointsman.domain.errors import GatewayError
from pointsman.domain.request import Caller, Dialect, RequestFacts, Scope
from pointsman.domain.snapshot import Snapshot
from pointsman.routing.explain import Board, Explained, explain, refused
from pointsman.signals.board import SignalBoard

MAX_SEED = 2**32 - 1
DEFAULT_DIALECT = Dialect.OPENAI_CHAT

_WHO = Caller(name="explain", scopes=frozenset(Scope))  # may use every group: it is about routing, not about keys


class State(StrEnum):
    """What is supposed to be known about the targets."""

    LIVE = "live"  # what the gateway has learned, as it is now
    FRESH = "fresh"  # nothing, as after a start


class Question(Struct, frozen=True):
    """A request as a caller would send it, and the circumstances."""

    body: bytes
    dialect: Dialect
    seed: int  # of the draw, if the strategy draws


class Explanation(Struct, frozen=True):
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
        facts = _facts(question, snapshot)
    except GatewayError as error:
        explained = refused(error)
    else:
        explained = explain(Ask("explain", _WHO, facts, snapshot), known, rng, now)
    return Explanation(snapshot.config_version, state, question.seed, explained)


def _facts(question: Question, snapshot: Snapshot) -> RequestFacts:
    """As the gateway would derive them. Raises GatewayError (400)."""
    parsed = DIALECTS[question.dialect].read_request(question.body)
    group = snapshot.groups.get(parsed.facts.model)
    is_sized = group is not None and group.policy.compares_prices
    return with_text_size(parsed.facts, parsed.body) if is_sized else parsed.facts
