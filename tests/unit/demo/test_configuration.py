"""The configuration of the demo is one like any other."""

from pathlib import Path

import pytest

from pointsman.config.load import Loaded
from pointsman.demo.configuration import GROUP, Document
from pointsman.demo.events import LOOP_S
from pointsman.demo.providers import CHARACTERS
from pointsman.routing.strategies import ALONE

BASE_URLS = {character.name: f"http://127.0.0.1:{9000 + n}/v1" for n, character in enumerate(CHARACTERS)}


def written(folder: Path, *, port: int, strategy: str) -> Loaded:
    document = Document(folder, port, strategy, BASE_URLS)
    document.write()
    return document.load()


@pytest.mark.parametrize("strategy", ALONE)
def test_group_has_the_strategy_that_was_asked_for(strategy: str, tmp_path: Path) -> None:
    loaded = written(tmp_path, port=4000, strategy=strategy)

    assert loaded.snapshot.groups[GROUP].policy.strategy == strategy
    assert loaded.snapshot.groups[f"{GROUP}-failover"].policy.strategy == "failover"
    assert loaded.warnings == ()


@pytest.mark.parametrize(("port", "ports"), [(4000, (4000, 4001)), (0, (0, 0))])
def test_admin_listener_has_the_next_port(port: int, ports: tuple[int, int], tmp_path: Path) -> None:
    settings = written(tmp_path, port=port, strategy="weighted").settings

    assert (settings.listen.port, settings.admin_listen.port) == ports


def test_longest_pause_leaves_time_to_see_the_way_back(tmp_path: Path) -> None:
    cooldown = written(tmp_path, port=0, strategy="weighted").snapshot.groups[GROUP].policy.cooldown

    assert cooldown.max_s * (1 + cooldown.jitter_ratio) < LOOP_S / 4


def test_another_price_is_the_only_change_in_the_file(tmp_path: Path) -> None:
    document = Document(tmp_path, 4000, "cost", BASE_URLS)
    document.write()
    before = document.path.read_text()

    document.write({"thrifty": 20.0})

    changed = [line for line in document.path.read_text().splitlines() if line not in before.splitlines()]
    assert changed == ["    thrifty/simulated: {input: 2, output: 10}"]
    assert document.load().warnings == ()
