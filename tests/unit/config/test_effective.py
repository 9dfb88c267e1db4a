"""Every key with the value that holds and its origin."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pointsman.config.effective import DEFAULT, HIDDEN, Effective, effective
from pointsman.config.problems import ConfigError
from tests.canaries import leaks

FILE = """\
version: 1
auth:
  mode: keys
  pepper: pepper-canary-0123456789
  keys:
    - {name: ci, hash: 'hmac-sha256:HASH', models: [chat]}
server: {drain: 5s}
providers:
  a:
    kind: vllm
    base_url: ${URL:-http://127.0.0.1:9/v1}
    api_key: ${KEY}
    headers: {x-tenant: tenant-canary-0123456789}
models:
  chat:
    targets:
      - {model: a/m, weight: 2}
  chosen:
    plugin: {name: theirs, options: {token: plugin-canary-0123456789}}
    strategy: plugin
    targets: [{model: a/m}]
virtual_models:
  - {source: other, targets: [{model: a/n}]}
""".replace("HASH", "ab" * 32)
KEY = "sk-canary-0123456789"
SECRETS = (KEY, "pepper-canary-0123456789", "tenant-canary-0123456789", "plugin-canary-0123456789", "ab" * 32)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "p.yaml"
    path.write_text(FILE)
    return path


def found(file: Path, **environ: str) -> Mapping[str, Effective]:
    return {each.key: each for each in effective(file, {"KEY": KEY, **environ})}


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("version", 1, "1"),
        ("server.drain", "5s", "7"),
        ("auth.keys[0].models", ["chat"], "6"),
        ("providers.a.base_url", "http://127.0.0.1:9/v1", "11 $URL"),
        ("models.chat.targets[0].weight", 2, "17"),
        ("models.other.targets[0].model", "a/n", "23"),
    ],
)
def test_value_of_the_file_is_shown_with_its_line(file: Path, key: str, value: object, line: str) -> None:
    assert found(file)[key] == Effective(key, value, f"{file}:{line}")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("server.listen", "127.0.0.1:4000"),
        ("logs.requests", False),
        ("timeouts.connect", 3.0),
        ("adaptive.selector", "blend"),
    ],
)
def test_value_that_nobody_gave_is_the_default(file: Path, key: str, value: object) -> None:
    assert found(file)[key] == Effective(key, value, DEFAULT)


def test_variable_that_overrides_a_value_is_named(file: Path) -> None:
    name = "POINTSMAN__SERVER__DRAIN"

    assert found(file, **{name: "7s"})["server.drain"] == Effective("server.drain", "7s", name)


def test_keys_that_an_overridden_section_leaves_out_are_defaults(file: Path) -> None:
    shown = found(file, POINTSMAN__SERVER="{drain: 7s}")

    assert (shown["server.drain"].origin, shown["server.listen"].origin) == ("POINTSMAN__SERVER", DEFAULT)


@pytest.mark.case("I14")
@pytest.mark.parametrize(
    "key",
    [
        "auth.pepper",
        "auth.keys[0].hash",
        "providers.a.api_key",
        "providers.a.headers.x-tenant",
        "models.chosen.plugin.options.token",
    ],
)
def test_secret_is_hidden_and_its_origin_is_not(file: Path, key: str) -> None:
    shown = found(file)[key]

    assert shown.value == HIDDEN
    assert shown.origin.startswith(f"{file}:")


@pytest.mark.case("I14")
def test_no_secret_shows_wherever_it_comes_from(file: Path) -> None:
    other = "sk-canary-of-a-variable"
    shown = found(file, POINTSMAN__PROVIDERS__A__API_KEY=other, POINTSMAN__AUTH__ADMIN_TOKEN=f"hmac-sha256:{'cd' * 32}")

    assert shown["providers.a.api_key"].value == HIDDEN
    assert leaks({"shown": repr(shown).encode()}, (*SECRETS, other, "cd" * 32)) == []


def test_secret_that_is_not_set_is_shown_as_such(file: Path) -> None:
    assert found(file)["auth.admin_token"] == Effective("auth.admin_token", None, DEFAULT)


def test_every_key_of_the_file_is_there_once(file: Path) -> None:
    keys = [each.key for each in effective(file, {"KEY": KEY})]

    assert len(set(keys)) == len(keys)
    assert {"providers.a.timeouts.connect", "models.chat.affinity.ttl", "retry.budget_ratio"} <= set(keys)


def test_broken_file_is_refused_with_all_its_problems(file: Path) -> None:
    file.write_text(FILE.replace("drain: 5s", "drian: 5s").replace("weight: 2", "weight: -2"))

    with pytest.raises(ConfigError) as caught:
        found(file)

    assert len(caught.value.problems) == 2
