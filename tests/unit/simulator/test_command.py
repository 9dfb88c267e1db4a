"""`pointsman simulate`, without a terminal."""

from pathlib import Path

import pytest
from msgspec import structs

from pointsman.domain.errors import PointsmanError
from pointsman.simulator.command import Wanted, listing, simulate
from pointsman.simulator.names import chosen, is_literal
from pointsman.simulator.scenario import shipped

SOME = Wanted(("steady",), ("market", "random"), seeds=1, replicas=1, requests=200, permute=False)


def told(wanted: Wanted) -> tuple[bool, str]:
    lines = list[str]()
    return simulate(wanted, lines.append, lambda *_: None), "\n".join(lines)


def test_one_table_with_the_policies_that_were_asked_for_and_the_reference() -> None:
    _, text = told(SOME)

    assert text.startswith("steady: Nothing goes wrong.\n")
    assert [line.split()[0] for line in text.splitlines()[5:8]] == ["clairvoyant", "market", "random"]
    assert text.count("clairvoyant") == 2  # and in the legend


def test_expectation_that_is_not_met_makes_the_difference() -> None:
    assert told(structs.replace(SOME, scenarios=("overload",)))[0]
    assert not told(SOME)[0]  # 200 requests are too few to learn from


def test_permuted_scenario_is_one_table_with_the_worst_target() -> None:
    _, text = told(structs.replace(SOME, scenarios=("slow",), permute=True))

    assert "worst %" in text
    assert text.count("policy") == 1


def test_steps_count_every_run() -> None:
    steps = list[tuple[int, int, str]]()

    simulate(structs.replace(SOME, seeds=2), lambda _: None, lambda *step: steps.append(step))

    assert [(done, count) for done, count, _ in steps] == [(number, 6) for number in range(1, 7)]
    assert steps[0][2] == "steady, market, seed 1"


def test_processes_make_no_difference_but_in_time() -> None:
    alone, together = told(structs.replace(SOME, seeds=2)), told(structs.replace(SOME, seeds=2, jobs=2))

    assert together == alone


def test_whoever_breaks_off_does_not_wait_for_the_rest() -> None:
    def broken_off(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(structs.replace(SOME, jobs=2, seeds=50), lambda _: None, broken_off)


def test_policy_that_there_is_not_is_refused_before_anything_is_run() -> None:
    with pytest.raises(PointsmanError, match=r"there is no policy 'markt'\. Did you mean 'market'"):
        told(structs.replace(SOME, compare=("markt",)))


def test_all_policies_are_ours_those_of_the_scenario_and_the_rebuilds() -> None:
    names = chosen(("all",), ("mine",))

    assert names[:5] == ("market", "p2c", "blend", "dynamic_score", "mine")
    assert all(is_literal(name) for name in names[5:])
    assert len(names) == 17


def test_reference_may_be_named_but_is_run_once() -> None:
    assert chosen(("clairvoyant", "random"), ()) == ("random",)


def test_scenarios_are_listed_with_their_descriptions() -> None:
    lines = listing().splitlines()

    assert len(lines) == len(shipped())
    assert "steady             Nothing goes wrong." in lines


def test_plots_go_into_a_file(tmp_path: Path) -> None:
    told(structs.replace(SOME, html=tmp_path / "plots.html"))

    assert (tmp_path / "plots.html").read_text(encoding="utf-8").count("<svg") == 2


def test_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match=r"cannot write .*Name another file with --html\."):
        told(structs.replace(SOME, html=tmp_path / "no" / "plots.html"))
