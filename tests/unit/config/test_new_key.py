"""Keys that are made: their form, and the line that declares them."""

import re
import zlib
from pathlib import Path

import pytest

from pointsman.config.new_key import NewKey, create_admin_token, create_key, new_secret
from pointsman.config.pepper import pepper_path
from pointsman.config.problems import ConfigError
from pointsman.domain.access import CallerKey
from pointsman.domain.request import Scope
from pointsman.testing import keys
from tests.unit.config.samples import CHAT, HASH, HEAD, LOCAL, NAME, load_text

NOW_UTC_S = 1_800_000_000.0
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
GUARDED = f"version: 1\nauth:\n  mode: keys\n  pepper: {keys.PEPPER}\n  keys:\n"


def create(folder: Path, text: str = GUARDED + LOCAL + CHAT, **wanted: object) -> NewKey:
    path = folder / NAME
    path.write_text(text)
    return create_key(path, {"name": "ci", **wanted}, environ=environ(folder), now_utc_s=NOW_UTC_S)


def environ(folder: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(folder)}


def found_by(key: NewKey, folder: Path, text: str = GUARDED) -> CallerKey:
    """What the key finds in a file with its declaration."""
    loaded = load_text(folder, f"{text}    {key.declaration}\n{LOCAL}{CHAT}", environ(folder))
    assert loaded.snapshot.keys is not None
    found = loaded.snapshot.keys.find(key.secret.reveal().encode())
    assert found is not None
    return found


def refusal(folder: Path, text: str = GUARDED + LOCAL + CHAT, **wanted: object) -> str:
    with pytest.raises(ConfigError) as raised:
        create(folder, text, **wanted)
    return str(raised.value)


def test_key_has_a_prefix_256_random_bits_and_a_checksum() -> None:
    secret = new_secret().reveal()

    assert re.fullmatch(r"pm_[0-9A-Za-z]{49}", secret)
    body, check = secret[3:-6], secret[-6:]
    assert 62 ** len(body) > 2**256
    assert sum(DIGITS.index(digit) * 62**power for power, digit in enumerate(reversed(check))) == zlib.crc32(
        body.encode()
    )


def test_no_key_is_made_twice() -> None:
    assert len({new_secret().reveal() for _ in range(1_000)}) == 1_000


def test_line_that_is_printed_declares_the_key(tmp_path: Path) -> None:
    key = create(tmp_path, name="team/ci", models=["cha*"], scopes=["explain"], expires="2027-01-31T18:00:00Z")

    found = found_by(key, tmp_path)

    assert (found.caller.name, found.caller.groups, found.caller.scopes) == ("team/ci", {"chat"}, {Scope.EXPLAIN})
    assert found.expires_utc_s == 1_801_418_400


@pytest.mark.parametrize("name", ["true", "1", "null", "1e5", "-", "a:b@c"])
def test_name_that_yaml_could_take_for_something_else_stays_a_name(tmp_path: Path, name: str) -> None:
    assert found_by(create(tmp_path, name=name), tmp_path).caller.name == name


def test_line_holds_every_field_with_its_default(tmp_path: Path) -> None:
    line = create(tmp_path).declaration

    expected = (
        r'- \{name: "ci", hash: "hmac-sha256:[0-9a-f]{64}", models: \["\*"\], scopes: \["chat"\], expires: null\}'
    )
    assert re.fullmatch(expected, line)


@pytest.mark.case("I14")
def test_new_key_shows_its_secret_only_when_asked(tmp_path: Path) -> None:
    key = create(tmp_path)

    assert key.secret.reveal() not in f"{key!r}{key.declaration}"
    assert keys.PEPPER not in f"{key!r}"


def test_first_key_makes_the_pepper_that_later_ones_use(tmp_path: Path) -> None:
    unpeppered = "version: 1\nauth:\n  mode: keys\n  keys:\n"

    first = create(tmp_path, unpeppered + LOCAL + CHAT)
    second = create(tmp_path, f"{unpeppered}    {first.declaration}\n{LOCAL}{CHAT}", name="two")

    assert first.pepper_path == second.pepper_path == pepper_path(environ(tmp_path))
    assert found_by(first, tmp_path, unpeppered).caller.name == "ci"
    assert found_by(second, tmp_path, unpeppered).caller.name == "two"


def test_no_pepper_is_made_while_declared_keys_need_another(tmp_path: Path) -> None:
    declared = f"version: 1\nauth: {{mode: keys, keys: [{keys.declaration('other', name='old')}]}}\n{LOCAL}{CHAT}"

    assert "keys are declared, but there is no pepper" in refusal(tmp_path, declared)
    assert not pepper_path(environ(tmp_path)).exists()


@pytest.mark.parametrize("head", [HEAD, "version: 1\n", "version: 1\nauth: {mode: keys}\n"])
def test_key_can_be_made_before_keys_are_switched_on(tmp_path: Path, head: str) -> None:
    assert create(tmp_path, head + LOCAL + CHAT).secret


def test_faults_that_do_not_concern_keys_do_not_matter(tmp_path: Path) -> None:
    text = GUARDED + "server: {listn: 1}\nproviders: {a: {kind: openai, api_key: '${NOT_SET}'}}\n"

    assert create(tmp_path, text).secret


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"name": "a b"}, "--name: auth.keys[1].name: names of keys have 1-100 characters"),
        ({"name": "old"}, "--name: auth.keys[1].name: the same name as keys[0]."),
        ({"models": ["chat", "chta"]}, "--models: auth.keys[1].models[1]: unknown model"),
        ({"scopes": ["all"]}, "--scope: auth.keys[1].scopes[0]: must be one of: chat, steer, explain."),
        ({"expires": "tomorrow"}, "--expires: auth.keys[1].expires: must be an instant with its offset"),
        ({"expires": "2020-01-01T00:00:00Z"}, "--expires: auth.keys[1].expires: is over already."),
    ],
)
def test_faulty_option_is_named_with_its_fix(tmp_path: Path, wanted: dict[str, object], said: str) -> None:
    text = f"{GUARDED}    - {keys.declaration('other', name='old')}\n{LOCAL}{CHAT}"

    assert refusal(tmp_path, text, **wanted).startswith(said)


@pytest.mark.parametrize("text", ["auth: 5\nversion: 1\n", "auth: {keys: 5}\nversion: 1\n", "]"])
def test_file_without_a_place_for_keys_is_refused(tmp_path: Path, text: str) -> None:
    assert NAME in refusal(tmp_path, text)


# --- the admin token


def test_admin_token_is_known_by_its_beginning_and_opens_where_it_is_declared(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(HEAD + LOCAL + CHAT)

    made = create_admin_token(path, environ=environ(tmp_path))

    head = HEAD.replace("auth: {mode: none}", f"auth: {{mode: none, {made.declaration}}}")
    token = load_text(tmp_path, f"{head}{LOCAL}{CHAT}", environ(tmp_path)).settings.admin_token
    assert re.fullmatch(r"pm_admin_[0-9A-Za-z]{49}", made.secret.reveal())
    assert token is not None
    assert token.fits(made.secret.reveal().encode())
    assert made.pepper_path == pepper_path(environ(tmp_path))


def test_new_admin_token_takes_the_place_of_the_old_one_under_the_same_pepper(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(HEAD + LOCAL + CHAT)
    old = create_admin_token(path, environ=environ(tmp_path))
    pepper = pepper_path(environ(tmp_path)).read_text()
    path.write_text(HEAD.replace("mode: none", f"mode: none, {old.declaration}") + LOCAL + CHAT)

    new = create_admin_token(path, environ=environ(tmp_path))

    assert new.declaration != old.declaration
    assert pepper_path(environ(tmp_path)).read_text() == pepper


def test_lost_pepper_of_an_admin_token_is_not_made_anew(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(HEAD.replace("mode: none", f"mode: none, admin_token: '{HASH}'") + LOCAL + CHAT)

    with pytest.raises(ConfigError, match="there is no pepper"):
        create_admin_token(path, environ=environ(tmp_path))
    with pytest.raises(ConfigError, match="there is no pepper"):
        create_key(path, {"name": "ci"}, environ=environ(tmp_path), now_utc_s=NOW_UTC_S)


def test_admin_token_for_a_broken_section_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text("version: 1\nauth: {mode: kyes}\n" + LOCAL + CHAT)

    with pytest.raises(ConfigError, match=r"auth\.mode"):
        create_admin_token(path, environ=environ(tmp_path))
    assert not pepper_path(environ(tmp_path)).exists()
