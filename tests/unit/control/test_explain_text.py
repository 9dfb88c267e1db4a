"""An explanation on a terminal."""

from msgspec import structs

from pointsman.control.explain import Explanation, Question, State, answer
from pointsman.control.explain_text import RESTS_ON, text
from pointsman.domain.request import Dialect
from pointsman.domain.target import ModelGroup
from pointsman.routing.explanation import TargetRow
from pointsman.testing import builders
from tests.unit.routing.asking import HandBoard, paused_for

GROUP = builders.group("chat", ("a/m", 70), ("long-name/m", 30), ("c/m", 0))


def explained(group: ModelGroup = GROUP, model: str = "chat") -> Explanation:
    body = f'{{"model":"{model}","messages":[]}}'.encode()
    return answer(Question(body, Dialect.OPENAI_CHAT, 5), builders.snapshot([group], config_version=3), None, 0.0)


def test_table_marks_the_chosen_one_and_says_why_the_others_are_not() -> None:
    assert text(explained()).splitlines() == [
        "chat: weighted because configured",
        "",
        "   target       weight  share  state   why not",
        ">  a/m          70      70%    closed",
        "   long-name/m  30      30%    closed",
        "   c/m          0       -      closed  its weight is 0",
        "",
        "a/m chosen by weighted: share 70% | long-name/m share 30% | c/m out: its weight is 0",
        f"decided on {RESTS_ON[State.FRESH]}; configuration version 3, draw 5",
    ]


def test_live_state_is_told_as_what_the_gateway_knows() -> None:
    shown = text(structs.replace(explained(), state=State.LIVE))

    assert shown.endswith("decided on what the gateway knows now; configuration version 3, draw 5")


def test_numbers_to_come_get_columns_of_their_own() -> None:
    numbers, state = {"share": 1.0, "cost_usd": 0.0012}, {"breaker": "open", "paused_for_s": 14.0, "in_flight": 2}
    row = TargetRow("a/m", 1.0, is_picked=True, excluded_by=None, because=None, numbers=numbers, state=state)
    usual = explained()
    other = structs.replace(usual.explained.targets[2], target="c/m")
    shown = structs.replace(usual, explained=structs.replace(usual.explained, targets=(row, other)))

    assert text(shown).splitlines()[2:5] == [
        "   target  weight  share  cost        state                               why not",
        ">  a/m     1       100%   0.0012 USD  open, paused for 14 s, in flight 2",
        "   c/m     0       -      -           closed                              its weight is 0",
    ]


def test_number_that_is_part_of_the_state_has_no_column() -> None:
    numbers, state = {"share": 1.0, "in_flight": 2}, {"breaker": "open", "in_flight": 2}
    row = TargetRow("a/m", 1.0, is_picked=True, excluded_by=None, because=None, numbers=numbers, state=state)
    usual = explained()
    shown = structs.replace(usual, explained=structs.replace(usual.explained, targets=(row,)))

    assert text(shown).splitlines()[2:4] == [
        "   target  weight  share  state              why not",
        ">  a/m     1       100%   open, in flight 2",
    ]


def test_refusal_before_any_decision_has_no_table() -> None:
    first, *rest = text(explained(model="chta")).splitlines()

    assert first == (
        "the request would be refused with 404 model_not_found: There is no model 'chta'. Did you mean 'chat'?"
    )
    assert len(rest) == 1


def test_refusal_after_a_decision_comes_with_its_reasons() -> None:
    lines = text(explained(builders.group("chat", ("a/m", 0)))).splitlines()

    assert "  a/m     0       closed  its weight is 0" in lines
    assert any(line.startswith("the request would be refused with 400 no_eligible_target: ") for line in lines)


class Board(HandBoard):
    def in_flight(self, target: object) -> int:
        return 0


def test_wait_is_told_with_its_length() -> None:
    board = Board({"a/m": paused_for(4), "long-name/m": paused_for(9)})
    body = b'{"model":"chat","messages":[]}'

    found = answer(Question(body, Dialect.OPENAI_CHAT, 5), builders.snapshot([GROUP]), board, 1_000.0)

    assert "the request would wait 4 s and look again" in text(found).splitlines()
