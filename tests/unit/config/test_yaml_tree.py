"""YAML to plain data with positions; stricter than YAML."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.config.yaml_tree import MAX_DEPTH, MAX_NODES, Fault, parse

_SYNTAX = "Check the indentation"


def _fault(text: str) -> Fault:
    tree = parse(text)
    assert len(tree.faults) == 1, tree.faults
    return tree.faults[0]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", {}),
        ("# nothing but a comment\n", {}),
        ("---\n", {}),
        ("null", {}),
        ("5", 5),
        ("[a, 1, true, null, 1.5]", ["a", 1, True, None, 1.5]),
        ("a: {b: [c, {d: e}]}", {"a": {"b": ["c", {"d": "e"}]}}),
        (
            "a: yes\nb: off\nc: 010\nd: 1:30\ne: 2026-10-04",
            {"a": "yes", "b": "off", "c": "010", "d": "1:30", "e": "2026-10-04"},
        ),
        ("a: '5'\nb: \"true\"\nc: |\n  6\n", {"a": "5", "b": "true", "c": "6\n"}),
        ("1: a\ntrue: b\nnull: c", {"1": "a", "true": "b", "null": "c"}),
        ("a: &x [1, 2]\nb: *x", {"a": [1, 2], "b": [1, 2]}),
        ("a: &x 1\nb: &x 2\nc: *x", {"a": 1, "b": 2, "c": 2}),
    ],
)
def test_text_becomes_plain_data(text: str, data: object) -> None:
    tree = parse(text)

    assert tree.data == data
    assert not tree.faults


def test_an_alias_is_a_copy_that_can_be_changed_alone() -> None:
    data = parse("a: &x [1]\nb: *x").data

    assert isinstance(data, dict)
    assert data["a"] is not data["b"]


def test_positions_are_those_of_keys_and_of_list_items() -> None:
    tree = parse("a: 1\nb:\n  - c: 2\n  -   d\n")

    assert tree.spots == {("a",): (1, 1), ("b",): (2, 1), ("b", 0): (3, 5), ("b", 0, "c"): (3, 5), ("b", 1): (4, 7)}


@pytest.mark.parametrize(
    ("text", "spot", "message", "fix"),
    [
        ("a: [1", (2, 1), "this is not valid YAML", _SYNTAX),
        ("a: b: c", (1, 5), "this is not valid YAML", _SYNTAX),
        ("a: 'b", (1, 6), "this is not valid YAML", _SYNTAX),
        ("a:\n\tb: c", (2, 1), "this is not valid YAML", _SYNTAX),
        ("%YAML 9.9\n---\na: b", (1, 1), "this is not valid YAML", _SYNTAX),
        ("a: \x07", (1, 1), "it has a character that YAML forbids", _SYNTAX),
        ("a: \ud800", (1, 1), "it has a character that YAML forbids", _SYNTAX),
        ("a: 1\n---\nb: 2", (2, 1), "there is a second document", "remove the line `---`"),
        ("a: !!int '1'", (1, 4), "tags are not supported", "Remove the `!...`"),
        ("a: !x {}", (1, 4), "tags are not supported", "Remove the `!...`"),
        ("? [a]\n: 1", (1, 3), "a key must be plain text", "in quotes"),
        ("? {a: b}\n: 1", (1, 3), "a key must be plain text", "in quotes"),
        ("&x a: 1", (1, 1), "a key must be plain text", "in quotes"),
        ("!!str a: 1", (1, 1), "a key must be plain text", "in quotes"),
        ("a: &x 1\n*x : 1", (2, 1), "a key must be plain text", "in quotes"),
        ("a: *x", (1, 4), "this alias has no anchor", "Define the anchor"),
        ("a: &x [*x]", (1, 8), "this alias has no anchor", "Define the anchor"),
    ],
)
def test_what_cannot_be_read_ends_the_reading_at_its_place(
    text: str, spot: tuple[int, int], message: str, fix: str
) -> None:
    fault = _fault(text)

    assert (fault.path, fault.spot) == ((), spot)
    assert message in fault.message
    assert fix in fault.fix


def test_the_name_of_an_unknown_alias_is_not_shown() -> None:
    fault = _fault("api_key: *sk-secret")

    assert "secret" not in fault.message + fault.fix


def test_a_key_that_is_there_twice_is_named_with_both_places() -> None:
    tree = parse("a:\n  b: 1\n  b: 2\n")

    assert tree.faults == (
        Fault(("a", "b"), (3, 3), "the key 'b' is there twice", "Keep one of the two; the other is in line 2."),
    )
    assert tree.data == {"a": {"b": 1}}


def test_a_merge_key_is_refused_and_the_rest_is_read() -> None:
    tree = parse("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n")

    assert [(fault.path, fault.message) for fault in tree.faults] == [(("c", "<<"), "merge keys are not supported")]
    assert tree.data == {"a": {"b": 1}, "c": {"d": 2}}


def test_all_doubled_keys_come_at_once() -> None:
    assert [fault.path for fault in parse("a: 1\na: 2\nb: 1\nb: 2\n").faults] == [("a",), ("b",)]


@pytest.mark.parametrize(("depth", "faults"), [(MAX_DEPTH, 0), (MAX_DEPTH + 1, 1), (5000, 1)])
def test_nesting_has_a_bound(depth: int, faults: int) -> None:
    assert len(parse("[" * depth + "1" + "]" * depth).faults) == faults


@pytest.mark.parametrize(("items", "faults"), [(MAX_NODES - 1, 0), (MAX_NODES, 1)])
def test_the_number_of_values_has_a_bound(items: int, faults: int) -> None:
    assert len(parse(f"[{'1,' * items}]").faults) == faults


@pytest.mark.case("T93")
def test_aliases_of_aliases_count_with_everything_they_stand_for() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 10)]

    fault = _fault("\n".join(lines))

    assert fault.message == "more than 10,000 values, aliases expanded"
    assert fault.spot[0] == 4


def test_an_alias_counts_as_many_values_as_its_anchor() -> None:
    anchored = f"[&x [{'1,' * 4998}], *x"  # 1 + 4999 + 4999

    assert not parse(f"{anchored}, 1]").faults
    assert parse(f"{anchored}, 1, 1]").faults


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.one_of(st.text(), st.text(alphabet="ab:-[]{}&*!|>'\"#%,? \n\t", max_size=40)))
def test_no_text_raises(text: str) -> None:
    tree = parse(text)

    assert tree.data is not None
    assert all(line >= 1 and column >= 1 for line, column in [*tree.spots.values(), *(f.spot for f in tree.faults)])
