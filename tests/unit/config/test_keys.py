"""Declared keys: which groups they open, and what is said about odd ones. Broken ones are in test_broken_files."""

from pathlib import Path

import pytest

from pointsman.config.load import Loaded
from pointsman.domain.request import Scope
from pointsman.testing import keys
from tests.unit.config.samples import HASH, LOCAL, VALID, load_text, problem

KEY = "pm_of-ci"
GROUPS = """\
models:
  chat: {aliases: [fast, openai/small], targets: [{model: local/a}]}
  code: {targets: [{model: local/b}]}
  code-large: {aliases: [openai/large], targets: [{model: local/c}]}
"""


def load_keys(folder: Path, *entries: str, groups: str = GROUPS) -> Loaded:
    declared = "".join(f"    - {entry}\n" for entry in entries)
    pepper = f"version: 1\nauth:\n  mode: keys\n  pepper: {keys.PEPPER}\n"
    return load_text(folder, pepper + (f"  keys:\n{declared}" if entries else "") + LOCAL + groups)


def declared(**fields: object) -> str:
    return str(keys.declaration(KEY, **fields))


def test_key_stands_for_the_caller_that_is_declared(tmp_path: Path) -> None:
    loaded = load_keys(tmp_path, declared(name="ci", scopes=["chat", "explain"], expires="1970-01-02T01:00:00+01:00"))

    assert loaded.snapshot.keys is not None
    found = loaded.snapshot.keys.find(KEY.encode())
    assert found is not None
    assert (found.caller.name, found.caller.scopes) == ("ci", {Scope.CHAT, Scope.EXPLAIN})
    assert found.expires_utc_s == 86_400


def test_key_may_chat_with_every_group_for_ever_unless_something_else_is_said(tmp_path: Path) -> None:
    loaded = load_keys(tmp_path, declared())

    assert loaded.snapshot.keys is not None
    found = loaded.snapshot.keys.find(KEY.encode())
    assert found is not None
    assert (found.caller.scopes, found.caller.groups, found.expires_utc_s) == ({Scope.CHAT}, None, None)


@pytest.mark.parametrize(
    ("models", "groups"),
    [
        (["*"], None),
        (["code", "*"], None),
        (["chat"], {"chat"}),
        (["fast"], {"chat"}),
        (["code*"], {"code", "code-large"}),
        (["code-*"], {"code-large"}),
        (["openai/*"], {"chat", "code-large"}),
        (["*l*"], {"chat", "code-large"}),
        (["code", "fast"], {"chat", "code"}),
        (["nothing*"], set()),
        ([], set()),
    ],
)
def test_patterns_open_whole_groups_by_any_of_their_names(
    tmp_path: Path, models: list[str], groups: set[str] | None
) -> None:
    loaded = load_keys(tmp_path, declared(models=models))

    assert loaded.snapshot.keys is not None
    found = loaded.snapshot.keys.find(KEY.encode())
    assert found is not None
    assert found.caller.groups == groups


def test_mode_none_has_no_keys(tmp_path: Path) -> None:
    assert load_text(tmp_path, VALID).snapshot.keys is None


def test_without_a_key_it_is_said_that_nobody_can_call(tmp_path: Path) -> None:
    (warning,) = load_keys(tmp_path).warnings

    assert (warning.path, warning.message) == ("auth.keys", "there is no key: nobody can call")
    assert "pointsman keys create --name NAME" in warning.fix


def test_pattern_that_fits_nothing_is_a_warning_since_the_group_may_be_to_come(tmp_path: Path) -> None:
    (warning,) = load_keys(tmp_path, declared(models=["chat", "later-*"])).warnings

    assert (warning.path, warning.line) == ("auth.keys[0].models[1]", 6)
    assert warning.message == "'later-*' fits no model group or alias"


def test_names_of_disabled_groups_are_known(tmp_path: Path) -> None:
    loaded = load_keys(tmp_path, declared(models=["code"]), groups=GROUPS.replace("code: {", "code: {enabled: false, "))

    assert loaded.warnings == ()


def test_hash_and_pepper_may_come_from_variables(tmp_path: Path) -> None:
    text = f"version: 1\nauth: {{mode: keys, pepper: '${{P}}', keys: [{{name: ci, hash: '${{H}}'}}]}}\n{LOCAL}{GROUPS}"

    loaded = load_text(tmp_path, text, {"P": keys.PEPPER, "H": str(keys.declaration(KEY)["hash"])})

    assert loaded.snapshot.keys is not None
    assert loaded.snapshot.keys.find(KEY.encode()) is not None


def test_hash_and_pepper_may_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "pepper").write_text(f"{keys.PEPPER}\n")
    (tmp_path / "hash").write_text(f"{keys.declaration(KEY)['hash']}\n")
    entry = f"{{name: ci, hash: 'file:{tmp_path}/hash'}}"
    text = f"version: 1\nauth: {{mode: keys, pepper: 'file:{tmp_path}/pepper', keys: [{entry}]}}\n{LOCAL}{GROUPS}"

    loaded = load_text(tmp_path, text)

    assert loaded.snapshot.keys is not None
    assert loaded.snapshot.keys.find(KEY.encode()) is not None


@pytest.mark.case("I14")
def test_settings_and_snapshot_show_neither_pepper_nor_hash(tmp_path: Path) -> None:
    shown = repr(load_keys(tmp_path, declared()))

    assert keys.PEPPER not in shown
    assert str(keys.declaration(KEY)["hash"])[-64:-40] not in shown
    assert HASH not in shown


# --- the admin token


def load_token(folder: Path, mode: str, token: str = KEY) -> Loaded:
    hashed = keys.declaration(token)["hash"]
    head = f"version: 1\nauth: {{mode: {mode}, pepper: {keys.PEPPER}, admin_token: '{hashed}'}}\n"
    return load_text(folder, f"{head}{LOCAL}{GROUPS}")


@pytest.mark.parametrize("mode", ["none", "keys"])
def test_admin_token_opens_whoever_may_call(tmp_path: Path, mode: str) -> None:
    token = load_token(tmp_path, mode).settings.admin_token

    assert token is not None
    assert token.fits(KEY.encode())
    assert not token.fits(KEY.encode() + b"x")


def test_admin_token_is_no_key_of_a_caller(tmp_path: Path) -> None:
    ring = load_token(tmp_path, "keys").snapshot.keys

    assert ring is not None
    assert ring.find(KEY.encode()) is None


@pytest.mark.case("I14")
def test_admin_token_shows_nothing_of_itself(tmp_path: Path) -> None:
    loaded = load_token(tmp_path, "none")

    hashed = str(keys.declaration(KEY)["hash"])
    assert hashed.removeprefix("hmac-sha256:") not in repr(loaded)
    assert keys.PEPPER not in repr(loaded)


@pytest.mark.parametrize("mode", ["none", "keys"])
def test_admin_token_whose_pepper_is_lost_is_refused(tmp_path: Path, mode: str) -> None:
    text = f"version: 1\nauth: {{mode: {mode}, admin_token: '{HASH}'}}\n{LOCAL}{GROUPS}"

    found = problem(tmp_path, text, {"XDG_STATE_HOME": str(tmp_path)})

    assert found.path == "auth.pepper"
    assert found.message.startswith("keys are declared, but there is no pepper at")


def test_hash_of_the_admin_token_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "hash").write_text(f"{keys.declaration(KEY)['hash']}\n")
    head = f"version: 1\nauth: {{mode: none, pepper: {keys.PEPPER}, admin_token: 'file:{tmp_path}/hash'}}\n"

    token = load_text(tmp_path, f"{head}{LOCAL}{GROUPS}").settings.admin_token

    assert token is not None
    assert token.fits(KEY.encode())
