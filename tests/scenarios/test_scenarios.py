"""Every scenario holds."""

from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET

from pointsman.routing.arrange import arranged
from pointsman.routing.router import decide
from pointsman.testing import builders
from tests.scenarios.player import FixedDraw, Player
from tests.scenarios.scenario import Scenario, load, load_all, summary, view_of

ALL = load_all(Path(__file__).parent)
DECISIONS = {f"{file}: {item.scenario}": item for file, item in ALL if item.decision is not UNSET}
STORIES = {f"{file}: {item.scenario}": item for file, item in ALL if item.story is not UNSET}
GOOD = """\
- scenario: one target
  group: {targets: {a/m: 1}}
  decision: {picked: a/m}
"""


@pytest.mark.parametrize("scenario", DECISIONS.values(), ids=DECISIONS)
def test_decision_is_as_told(scenario: Scenario) -> None:
    demands, expected = scenario.request.build(), scenario.decision
    group = arranged(scenario.group.build(), demands.preferences)
    view = builders.group_view(*[view_of(scenario.state.get(member.target.id)) for member in group.members])
    lengths = builders.lengths(group, scenario.length.input, scenario.length.output)
    tried = frozenset(scenario.tried)

    ask = builders.ask(demands=demands)
    decision = decide(ask, group, view, rng=FixedDraw(scenario.draw), tried=tried, lengths=lengths)

    found = summary(decision)
    assert expected is not UNSET
    assert found.picked == expected.picked
    assert expected.mode in {UNSET, found.mode}
    assert expected.shares is UNSET or found.shares == pytest.approx(expected.shares, abs=1e-5)
    assert expected.excluded is UNSET or found.excluded == expected.excluded


@pytest.mark.parametrize("scenario", STORIES.values(), ids=STORIES)
def test_story_goes_as_told(scenario: Scenario) -> None:
    player = Player(scenario)

    assert scenario.story is not UNSET
    for number, step in enumerate(scenario.story, 1):
        try:
            player.play(step)
        except AssertionError as error:
            raise AssertionError(f"line {number}, {step}: {error}") from error


def test_scenarios_have_names_of_their_own() -> None:
    assert len(DECISIONS) + len(STORIES) == len(ALL) > 20


@pytest.mark.parametrize("wrong", ["picked: a/m, modus: x", "picked: a/m, mode: sideways", "mode: weighted"])
def test_decision_with_an_unknown_or_missing_key_is_refused(wrong: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"decision"):
        load(GOOD.replace("picked: a/m", wrong))


def test_scenario_with_an_unknown_key_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="hint"):
        load(GOOD + "  hint: none\n")


def test_scenario_with_a_misspelt_limit_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="max_attemps"):
        load(GOOD.replace("{targets: {a/m: 1}}", "{targets: {a/m: 1}, retry: {max_attemps: 2}}"))


def test_scenario_about_a_target_that_it_does_not_have_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="no target z/m"):
        load(GOOD + "  tried: [z/m]\n")


def test_scenario_without_a_point_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="either a decision or a story"):
        load(GOOD.replace("decision: {picked: a/m}", "draw: 0.5"))
