"""The file of the pepper: made once, whole, for its owner only; never made anew while keys depend on it."""

import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pointsman.config.load import Loaded, load
from pointsman.config.pepper import kept_pepper, pepper_path
from pointsman.config.problems import ConfigError, Problem
from pointsman.testing import keys
from tests.unit.config.samples import CHAT, LOCAL, NAME

KEY = "pm_of-ci"


def load_keys(folder: Path, *declarations: dict[str, object], auth: str = "", keeps_pepper: bool = False) -> Loaded:
    path = folder / NAME
    path.write_text(f"version: 1\nauth: {{mode: keys, {auth}keys: {list(declarations)}}}\n{LOCAL}{CHAT}")
    return load(path, environ={"XDG_STATE_HOME": str(folder)}, keeps_pepper=keeps_pepper)


def problem(folder: Path, *declarations: dict[str, object]) -> Problem:
    with pytest.raises(ConfigError) as raised:
        load_keys(folder, *declarations, keeps_pepper=True)
    (found,) = raised.value.problems
    return found


def place(folder: Path) -> Path:
    return pepper_path({"XDG_STATE_HOME": str(folder)})


def put(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = place(folder)
    path.parent.mkdir()
    path.write_text(text)
    path.chmod(mode)
    return path


def test_pepper_is_made_when_serving_begins_and_no_key_needs_an_older_one(tmp_path: Path) -> None:
    load_keys(tmp_path, keeps_pepper=True)

    path = place(tmp_path)
    assert re.fullmatch(r"[0-9a-f]{64}\n", path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [found.name for found in path.parent.iterdir()] == ["pepper"]


def test_check_makes_no_pepper(tmp_path: Path) -> None:
    load_keys(tmp_path)

    assert not place(tmp_path).exists()


def test_pepper_that_is_there_is_used_and_left_alone(tmp_path: Path) -> None:
    path = put(tmp_path, f"{keys.PEPPER}\n")

    loaded = load_keys(tmp_path, keys.declaration(KEY), keeps_pepper=True)

    assert loaded.snapshot.keys is not None
    assert loaded.snapshot.keys.find(KEY.encode()) is not None
    assert path.read_text() == f"{keys.PEPPER}\n"


@pytest.mark.parametrize("keeps_pepper", [True, False])
def test_keys_without_the_pepper_they_were_made_with_are_an_error(tmp_path: Path, keeps_pepper: bool) -> None:
    with pytest.raises(ConfigError) as raised:
        load_keys(tmp_path, keys.declaration(KEY), keeps_pepper=keeps_pepper)

    (found,) = raised.value.problems
    assert found.path == "auth.pepper"
    assert found.message == f"keys are declared, but there is no pepper at '{place(tmp_path)}'"
    assert "`pointsman keys create`" in found.fix
    assert not place(tmp_path).exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o777])
def test_pepper_that_others_can_read_or_change_is_refused(tmp_path: Path, mode: int) -> None:
    path = put(tmp_path, keys.PEPPER, mode)

    found = problem(tmp_path)

    assert found.message == f"the pepper at '{path}' can be read or changed by others"
    assert found.fix == f"Run: chmod 600 {path}"


@pytest.mark.parametrize("text", ["", "\n", "short", "two words of some length", "x" * 20 + "\n" + "y" * 20])
def test_odd_pepper_is_refused_and_not_repeated(tmp_path: Path, text: str) -> None:
    put(tmp_path, text)

    found = problem(tmp_path)

    assert "a pepper has at least 16 visible ASCII characters" in found.message
    assert not text.strip() or text.strip() not in str(found).replace(str(tmp_path), "")


def test_pepper_that_is_no_file_is_refused(tmp_path: Path) -> None:
    place(tmp_path).mkdir(parents=True)

    assert problem(tmp_path).message.startswith("cannot read ")


def test_pepper_that_is_no_text_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "").write_bytes(b"\xff" * 32)

    assert problem(tmp_path).message.endswith(": not UTF-8 text")


def test_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "pointsman").write_text("a file where the folder should be")

    with pytest.raises(ConfigError) as raised:
        kept_pepper(place(tmp_path))

    assert "cannot write" in str(raised.value)
    assert "set `auth.pepper`" in str(raised.value)


def test_all_who_make_the_pepper_at_once_get_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        found = {made.reveal() for made in pool.map(lambda _: kept_pepper(place(tmp_path)), range(64))}

    assert found == {place(tmp_path).read_text().rstrip()}


def test_other_faults_of_the_file_come_before_a_pepper_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        load_keys(tmp_path, auth="x: 1, ", keeps_pepper=True)

    assert not place(tmp_path).exists()


def test_pepper_of_the_configuration_makes_the_file_needless(tmp_path: Path) -> None:
    load_keys(tmp_path, keys.declaration(KEY), auth=f"pepper: {keys.PEPPER}, ", keeps_pepper=True)

    assert not place(tmp_path).exists()
