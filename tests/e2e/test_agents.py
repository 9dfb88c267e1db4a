"""Claude Code and Codex complete a task of two tools, on targets of their own dialect and over each bridge."""

from collections import Counter
from pathlib import Path

import pytest

from pointsman.dialects.registry import DIALECTS
from pointsman.domain.request import Dialect
from tests.e2e.agent_task import DELEGATED, DONE, THOUGHT, Told, results_in, told, tools_in
from tests.e2e.agents import AGENTS, CLAUDE_CODE, CODEX, DELEGATING_CLAUDE_CODE, WRITTEN, Agent
from tests.e2e.compatible import CHAT, MESSAGES

CASES = [(agent, spoken) for agent in AGENTS for spoken in agent.targets]
STRICT = {"affinity": {"mode": "strict"}}
pytestmark = [pytest.mark.slow, pytest.mark.agents]


@pytest.fixture(
    scope="module", params=CASES, ids=[f"{agent.package}-{agent.model}-to_{spoken}" for agent, spoken in CASES]
)
def case(request: pytest.FixtureRequest) -> tuple[Agent, Dialect]:
    found: tuple[Agent, Dialect] = request.param
    return found


@pytest.fixture(scope="module")
def seen(case: tuple[Agent, Dialect], tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The task on one of two equal targets."""
    agent, spoken = case
    return told(tmp_path_factory.mktemp("task"), agent, spoken, spoken, strategy="round_robin", **STRICT)


def test_the_task_gets_done(seen: Told) -> None:
    assert (seen.status, seen.files) == (0, {"a.txt": WRITTEN, "b.txt": WRITTEN}), seen.output
    assert DONE in seen.output


def test_the_record_tells_how_it_was_asked_and_that_it_was_served(seen: Told, case: tuple[Agent, Dialect]) -> None:
    agent, spoken = case

    assert {record["facts"]["dialect"] for record in seen.records} == {agent.dialect}
    assert {record["status"] for record in seen.records} == {200}
    assert [len(record["attempts"]) for record in seen.records] == [1] * len(seen.asked)
    assert {request.path for request in seen.asked} == {f"/v1{DIALECTS[spoken].path}"}


def test_what_the_tools_gave_back_reaches_the_model(seen: Told) -> None:
    results = results_in(seen.asked[-1].json())

    assert len(results) == len(seen.asked) - 1
    assert "6 b.txt" in results[-1]
    assert not any("unsupported call" in result for result in results)


def test_every_tool_of_the_agent_is_offered_on_every_turn(seen: Told, case: tuple[Agent, Dialect]) -> None:
    agent, _ = case
    offered = [tools_in(request.json()) for request in seen.asked]

    names = {step.name for step in agent.steps(Path())}
    assert all(set(offered[0]) <= set(tools) for tools in offered)  # it may find more
    assert names < set(offered[-1])


@pytest.mark.bug("D-04")
def test_a_task_is_one_session_and_stays_on_one_target(seen: Told, case: tuple[Agent, Dialect]) -> None:
    agent, _ = case
    sessions = [record["facts"]["session"] for record in seen.records]

    assert {session["source"] for session in sessions} <= agent.sessions
    assert len({session["key"] for session in sessions}) == 1
    assert len(set(seen.served_by)) == 1


@pytest.mark.parametrize("spoken", [MESSAGES, CHAT])
def test_an_agent_of_the_agent_has_a_session_of_its_own(spoken: Dialect, tmp_path: Path) -> None:
    seen = told(tmp_path, DELEGATING_CLAUDE_CODE, spoken, **STRICT)

    assert (seen.status, seen.files) == (0, {"a.txt": WRITTEN, "b.txt": WRITTEN}), seen.output
    assert DELEGATED in results_in(seen.asked[-1].json())[0]
    sessions = [record["facts"]["session"] for record in seen.records]
    assert {session["source"] for session in sessions} == {"x-claude-code-session-id"}
    assert sorted(Counter(session["key"] for session in sessions).values()) == [1, 4]


@pytest.mark.bug("E-04")
@pytest.mark.parametrize(
    ("agent", "spoken"),
    [(agent, spoken) for agent in (CLAUDE_CODE, CODEX) for spoken in (agent.dialect, CHAT)],
    ids=lambda each: each.package if isinstance(each, Agent) else f"to_{each}",
)
def test_an_agent_knows_that_an_answer_broke_off_and_asks_again(agent: Agent, spoken: Dialect, tmp_path: Path) -> None:
    seen = told(tmp_path, agent, spoken, breaks_at=1)

    assert (seen.status, seen.files) == (0, {"a.txt": WRITTEN, "b.txt": WRITTEN}), seen.output
    outcomes = [record["attempts"][0]["outcome_class"] for record in seen.records]
    assert outcomes == ["ok", "broken_stream", "ok", "ok"]


def test_tools_that_come_over_a_bridge_are_those_of_the_agent(tmp_path: Path) -> None:
    offered = []
    for number, spoken in enumerate(CODEX.targets):
        folder = tmp_path / str(number)
        folder.mkdir()
        offered.append(tools_in(told(folder, CODEX, spoken).asked[0].json()))

    native, *bridged = offered
    assert bridged == [native] * len(bridged)


@pytest.mark.bug("G-09")
def test_a_session_that_moves_to_anthropic_leaves_thoughts_behind_that_nobody_signed(tmp_path: Path) -> None:
    seen = told(tmp_path, CLAUDE_CODE, CHAT, MESSAGES, fails_at=1, strategy="failover")

    assert (seen.status, seen.files) == (0, {"a.txt": WRITTEN, "b.txt": WRITTEN}), seen.output
    moved = [request for request in seen.asked if request.path.startswith("/v1/messages")]
    first = moved[0].body
    assert THOUGHT.encode() not in first
    assert len(results_in(moved[0].json())) == 1
