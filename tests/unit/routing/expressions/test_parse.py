"""What is no expression is refused, with its place and with what to do."""

import pytest

from pointsman.routing.expressions.compiled import compiled
from pointsman.routing.expressions.parse import parse
from pointsman.routing.expressions.tree import ARITY, MAX_BYTES, ExpressionError, ScoreName

BAD = {
    # code, and what it is made of
    "().__class__": ("character 1: `.` reaches into something, and scores have no parts", "Use numbers, scores"),
    "cost_score.real": ("character 1: `.` reaches into something, and scores have no parts", "Use numbers, scores"),
    "__import__('os')": ("character 1: there is no function `__import__`", "Functions are min, max"),
    "eval('1')": ("character 1: there is no function `eval`", "Functions are min, max"),
    "(lambda: 1)()": ("character 1: only functions of the list can be called", "Functions are min, max"),
    "lambda: 1": ("character 1: functions cannot be made here", "Use numbers, scores"),
    "(x := 1)": ("character 2: nothing can be assigned", "Use numbers, scores"),
    "x = 1": ("character 3: cannot be read", "Use numbers, scores"),
    "cost_score; 1": ("character 11: cannot be read", "Use numbers, scores"),
    "[1, 2]": ("character 1: lists are not possible", "Use numbers, scores"),
    "{1: 2}": ("character 1: mappings are not possible", "Use numbers, scores"),
    "{1, 2}": ("character 1: sets are not possible", "Use numbers, scores"),
    "cost_score[0]": ("character 1: `[...]` reaches into something", "Use numbers, scores"),
    "[x for x in y]": ("character 1: loops are not possible", "Use numbers, scores"),
    "f'{cost_score}'": ("character 1: texts are not possible", "Use numbers, scores"),
    "await cost_score": ("character 1: is not possible", "Use numbers, scores"),
    "cost_score, 1": ("character 1: only one value is possible", "Use numbers, scores"),
    # names
    "0.5 * cots_score": ("character 7: there is no score `cots_score`", "Did you mean cost_score?"),
    "price": ("character 1: there is no score `price`", "Scores are cost_score, latency_score"),
    "nan": ("character 1: there is no score `nan`", "Scores are cost_score"),
    "inf": ("character 1: there is no score `inf`", "Scores are cost_score"),
    "clmp(cost_score, 0, 1)": ("character 1: there is no function `clmp`", "Did you mean clamp?"),
    "1 + min": ("character 5: `min` is a function", "Write min(...)"),
    # numbers
    "9 ** 9 ** 9": ("character 11: an exponent must be a number from -4 to 4", "Write such a number"),
    "cost_score ** latency_score": ("character 15: an exponent must be a number", "Write such a number"),
    "1e999": ("character 1: is too large a number", "Write 1e+09 at most."),
    "1" + "0" * 400: ("character 1: is too large a number", "Write 1e+09 at most."),
    "1j": ("character 1: is no number", "Write a number"),
    "'a'": ("character 1: is no number", "Write a number"),
    "True": ("character 1: is no number", "Write a number"),
    "None": ("character 1: is no number", "Write a number"),
    # operators
    "cost_score ^ 2": ("character 11: there is no operator `^`", "Write ** for a power."),
    "cost_score // 2": ("character 11: there is no operator `//`", "Write / for a quotient."),
    "cost_score % 2": ("character 11: there is no operator `%`", "Use numbers, scores"),
    "~cost_score": ("character 1: there is no operator `~`", "Write not."),
    "1 if cost_score is 1 else 0": ("character 16: there is no operator `is`", "Write == to compare."),
    "1 if 1 < cost_score in 2 else 0": ("character 20: there is no operator `in`", "Compare with == and or."),
    # numbers and conditions are two things
    "cost_score > 0.5": ("character 1: is true or false, where a number is needed", "Make a number of it"),
    "1 + (cost_score > 0.5)": ("character 6: is true or false, where a number is needed", "Make a number of it"),
    "1 if cost_score else 0": ("character 6: is a number, where something true or false", "Compare it with"),
    "1 if not cost_score else 0": ("character 10: is a number, where something true or false", "Compare it with"),
    "1 if cost_score and 1 else 0": ("character 6: is a number, where something true or false", "Compare it with"),
    # arguments
    "clamp(cost_score)": ("character 1: clamp() takes 3 arguments, not 1", "Write clamp(a, least, most)."),
    "sqrt(1, 2)": ("character 1: sqrt() takes 1 argument, not 2", "Write sqrt(a)."),
    "max()": ("character 1: max() takes 2 or more arguments, not 0", "Write max(a, b)."),
    "clamp(1, 0, most=2)": ("character 1: clamp() takes no named arguments", "Leave the name out."),
    "min(1, *cost_score)": ("character 8: `*` cannot spread arguments", "Use numbers, scores"),
    "coalesce(1, 2)": ("character 10: coalesce() takes scores, and a stand-in", "Write coalesce("),
    # size and form
    "": ("character 1: is empty", "Write what a target scores"),
    " \n ": ("character 1: is empty", "Write what a target scores"),
    "cost_score if": ("cannot be read", "Use numbers, scores"),
    "cost_score\n+ latency_score)": ("character 27: cannot be read (unmatched ')')", "Use numbers, scores"),
    "cost_score  # cheap": ("character 13: `#` begins a comment", "Write comments outside"),
    "c\u00f6st_score": ("character 2: character U+00F6 is not possible", "Write plain ASCII."),
    "cost_score\x00": ("character 11: character U+0000 is not possible", "Write plain ASCII."),
    "-" * 1_999 + "1": ("nested", "Write several terms instead."),
    "(" * 10_000 + "1" + ")" * 10_000: ("has 20001 characters, and 2000 are the most", "Write several terms"),
    "(" * 900 + "1" + ")" * 900: ("cannot be read (too many nested parentheses)", "Use numbers"),
    "min(" + "1, " * 250 + "1)": ("has 252 parts, and 200 are the most", "Write several terms instead."),
    "cost_score" * 100_000: ("has 1000000 characters, and 2000 are the most", "Write several terms instead."),
    # values
    "cost_score / 0": ("character 1: always divides by 0", "Divide by something else."),
    "1 / cost_score": ("character 1: may get as high as 1e+09", "Add something to what is divided by"),
    "cost_score + sqrt(-1)": ("character 14: is the root of something that is always negative", "Turn its sign."),
    "cost_score + log1p(-2)": ("character 14: is the logarithm of nothing above 0", "Raise its argument"),
    "exp(1000 * cost_score)": ("character 1: exp() of more than 230", "Write smaller numbers."),
    "(-1) ** 0.5": ("has no value: no such power exists", "Change the exponent"),
    "1e9 ** 4 * 1e9 ** 4 * 1e9 ** 4": ("may get larger than any number that makes sense", "Write smaller"),
    "clamp(cost_score, 1, 0)": ("character 1: clamp() has its limits the wrong way round", "Write clamp("),
    "-cost_score": ("character 1: can never be above 0", "Turn the sign"),
    "0 * cost_score": ("character 1: can never be above 0", "Turn the sign"),
}


@pytest.mark.req("D-039")
@pytest.mark.bug("N-11")
@pytest.mark.parametrize("text", BAD, ids=[text[:30] for text in BAD])
def test_bad_expression_is_refused_with_its_place_and_what_to_do(text: str) -> None:
    message, fix = BAD[text]

    with pytest.raises(ExpressionError) as refused:
        compiled(text)

    assert message in str(refused.value)
    assert str(refused.value).startswith("character ")
    assert refused.value.fix.startswith(fix)


@pytest.mark.req("D-039")
@pytest.mark.parametrize(
    "text",
    [
        "0.45 * cost_score + 0.25 * latency_score + 0.20 * throughput_score + 0.10 * reliability_score",
        "\n  cost_score\n  + latency_score\n",
        "(1 if not cost_score > 0.5 and 0.1 < load_score <= 0.9 or cache_score == 1 else 0.5)",
        "min(cost_score, 1) + max(0, latency_score) + abs(-1) + clamp(load_score, 0, 0.5) + sqrt(cost_score)",
        "log1p(cost_score) + exp(-latency_score) + sigmoid(5 * load_score - 2) + lerp(0, 1, cache_score)",
        "step(0.5, eval_quality_score) + coalesce(latency_score, throughput_score, 0.2) + cost_score ** -0 + 2 ** -1",
    ],
)
def test_grammar_has_what_people_need(text: str) -> None:
    assert compiled(text).most > 0.0


@pytest.mark.parametrize("name", list(ScoreName))
def test_every_score_can_be_named(name: ScoreName) -> None:
    assert compiled(name.value).names == (name.value,)


@pytest.mark.parametrize("name", sorted(ARITY))
def test_every_function_says_how_it_is_written(name: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        parse(f"{name}()")

    example = refused.value.fix.removeprefix("Write ").removesuffix(".")
    assert example.startswith(f"{name}(")


@pytest.mark.bug("N-11")
def test_longest_expression_is_read() -> None:
    text = "cost_score + 1 ".ljust(MAX_BYTES)

    assert compiled(text).most == 2.0
