"""Values of environment variables and the command line over those of the file."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.config import overrides
from pointsman.config.document import Document
from pointsman.config.problems import ConfigError
from pointsman.config.settings import Address
from pointsman.config.yaml_tree import parse
from tests.unit.config.samples import VALID, load_text, problem, refused

_SERVER = f"{VALID}server: {{listen: 127.0.0.1:1000}}\n"


@pytest.mark.parametrize(
    ("environ", "options", "port"),
    [
        ({}, {}, 1000),
        ({"POINTSMAN__SERVER__LISTEN": "127.0.0.1:2000"}, {}, 2000),
        ({"POINTSMAN__SERVER__LISTEN": "127.0.0.1:2000"}, {"server.listen": "127.0.0.1:3000"}, 3000),
        ({}, {"server.listen": "127.0.0.1:3000"}, 3000),
    ],
)
def test_the_command_line_wins_over_the_environment_and_that_over_the_file(
    tmp_path: Path, environ: dict[str, str], options: dict[str, object], port: int
) -> None:
    loaded = load_text(tmp_path, _SERVER, environ, options)

    assert loaded.settings.listen == Address("127.0.0.1", port)


def test_the_environment_wins_over_defaults(tmp_path: Path) -> None:
    assert load_text(tmp_path, VALID, {"POINTSMAN__LOGS__LEVEL": "debug"}).settings.log_level == "debug"


@pytest.mark.parametrize(
    "name",
    ["POINTSMAN__SERVER__DRAIN", "pointsman__server__drain", "Pointsman__Server__Drain", "POINTSMAN__server__DRAIN"],
)
def test_the_case_of_a_variable_does_not_matter(tmp_path: Path, name: str) -> None:
    assert load_text(tmp_path, VALID, {name: "5s"}).settings.drain_s == 5


@pytest.mark.parametrize(
    "name", ["POINTSMAN_SERVER__DRAIN", "POINTSMAN", "POINTSMAN_CONFIG", "MY_POINTSMAN__SERVER__DRAIN"]
)
def test_other_variables_override_nothing(tmp_path: Path, name: str) -> None:
    assert load_text(tmp_path, VALID, {name: "5s"}).settings.drain_s == 30


@pytest.mark.parametrize("value", ["[::1]:4000", "[::1]:4000\n"])
def test_an_address_in_brackets_is_no_list(tmp_path: Path, value: str) -> None:
    assert load_text(tmp_path, VALID, {"POINTSMAN__SERVER__LISTEN": value}).settings.listen == Address("::1", 4000)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("POINTSMAN__SERVER__LIMITS__CONNECTIONS", "5", 5),
        ("POINTSMAN__SERVER__LIMITS", "{connections: 5}", 5),
        ("POINTSMAN__SERVER", "{limits: {connections: 5}}", 5),
    ],
)
def test_whole_sections_can_be_given_as_text(tmp_path: Path, name: str, value: str, expected: int) -> None:
    assert load_text(tmp_path, VALID, {name: value}).settings.max_connections == expected


def test_a_single_key_wins_over_its_whole_section(tmp_path: Path) -> None:
    environ = {"POINTSMAN__SERVER__DRAIN": "5s", "POINTSMAN__SERVER": "{drain: 6s, limits: {body: 1KiB}}"}

    loaded = load_text(tmp_path, VALID, environ).settings

    assert (loaded.drain_s, loaded.body_limit_bytes) == (5, 1024)


def test_a_section_of_the_command_line_wins_over_a_key_of_the_environment(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, VALID, {"POINTSMAN__SERVER__DRAIN": "5s"}, {"server": "{drain: 6s}"})

    assert loaded.settings.drain_s == 6


def test_a_fault_is_blamed_on_what_set_the_value_last(tmp_path: Path) -> None:
    found = problem(tmp_path, VALID, {"POINTSMAN__SERVER__DRAIN": "5s"}, {"server": "{drain: never}"})

    assert str(found).startswith("command line: server.drain: must be a duration")


@pytest.mark.parametrize(
    ("name", "value", "level"),
    [
        ("POINTSMAN__LOGS__REQUESTS", "true", True),
        ("POINTSMAN__LOGS__REQUESTS", "false", False),
        ("POINTSMAN__LOGS__REQUESTS", "true\n", True),
    ],
)
def test_values_are_read_as_scalars(tmp_path: Path, name: str, value: str, level: bool) -> None:
    assert load_text(tmp_path, VALID, {name: value}).settings.log_requests is level


@pytest.mark.parametrize(("value", "level"), [(True, True), (False, False)])
def test_options_may_be_of_their_own_type(tmp_path: Path, value: bool, level: bool) -> None:
    assert load_text(tmp_path, VALID, overrides={"logs.requests": value}).settings.log_requests is level


def test_an_option_can_be_null(tmp_path: Path) -> None:
    text = f"{VALID}retry: {{max_attempts: 3}}\n"

    loaded = load_text(tmp_path, text, overrides={"retry.max_attempts": None})

    assert loaded.snapshot.groups["chat"].policy.retry.max_attempts is None


@pytest.mark.parametrize("value", [["a"], {"drain": 1}, object(), b"1"])
def test_an_option_is_no_list_and_no_section(tmp_path: Path, value: object) -> None:
    found = problem(tmp_path, VALID, overrides={"server": value})

    assert str(found) == (
        "command line: server: an option sets one value. Write lists and sections as text, e.g. [a, b]."
    )


@pytest.mark.parametrize("name", ["providers.my-gpu.api_key", "providers.MY_GPU.api_key"])
def test_names_fit_without_their_case_and_punctuation(tmp_path: Path, name: str) -> None:
    text = VALID.replace("local", "my-gpu")

    loaded = load_text(tmp_path, text, overrides={name: "key"})

    api_key = loaded.snapshot.providers["my-gpu"].api_key
    assert api_key is not None
    assert api_key.reveal() == "key"


def test_a_name_that_fits_exactly_is_taken(tmp_path: Path) -> None:
    text = VALID.replace("chat: {", "my-chat: {targets: [{model: local/a}]}, my_chat: {")

    loaded = load_text(tmp_path, text, {"POINTSMAN__MODELS__my_chat__ENABLED": "false"})

    assert set(loaded.snapshot.groups) == {"my-chat"}


def test_a_name_that_fits_twice_is_refused(tmp_path: Path) -> None:
    text = VALID.replace("chat: {", "my-chat: {targets: [{model: local/a}]}, my.chat: {")

    found = problem(tmp_path, text, {"POINTSMAN__MODELS__MY_CHAT__ENABLED": "false"})

    assert found.source == "POINTSMAN__MODELS__MY_CHAT__ENABLED"
    assert (found.path, found.message) == ("models.MY_CHAT", "the name fits my-chat and my.chat")
    assert found.fix == "Set the value in the file instead."


def test_an_item_of_a_list_is_named_by_its_number(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, VALID, {"POINTSMAN__MODELS__CHAT__TARGETS__0__MODEL": "local/large"})

    assert [member.target.id for member in loaded.snapshot.groups["chat"].members] == ["local/large"]


@pytest.mark.parametrize(
    "name",
    [
        "POINTSMAN__MODELS__CHAT__TARGETS__1",
        "POINTSMAN__MODELS__CHAT__TARGETS__FIRST",
        "POINTSMAN__MODELS__CHAT__TARGETS__1__WEIGHT",
        "POINTSMAN__VERSION__MINOR",
    ],
)
def test_a_variable_without_a_place_is_refused(tmp_path: Path, name: str) -> None:
    found = problem(tmp_path, VALID, {name: "1"})

    assert (found.source, found.message) == (name, "the file has no such place")
    assert found.fix == "Name a key of the file by all its levels."


@pytest.mark.bug("J-03")
@pytest.mark.parametrize(
    ("name", "path", "fix"),
    [
        ("POINTSMAN__SERVER__LISTN", "server.listn", "Did you mean 'listen'?"),
        ("POINTSMAN__SERVERS__LISTEN", "servers", "Did you mean 'server'?"),
        ("POINTSMAN__PROVIDERS__LOCAL__APIKEY", "providers.local.apikey", "Did you mean 'api_key'?"),
    ],
)
def test_an_unknown_key_is_refused_by_the_name_of_its_variable(tmp_path: Path, name: str, path: str, fix: str) -> None:
    found = problem(tmp_path, VALID, {name: "1"})

    assert (found.source, found.path, found.fix, found.line) == (name, path, fix, 0)


@pytest.mark.bug("J-01")
def test_a_wrong_value_of_a_variable_is_not_shown(tmp_path: Path) -> None:
    error = refused(tmp_path, VALID, {"POINTSMAN__SERVER__DRAIN": "hidden"})

    assert str(error).startswith("POINTSMAN__SERVER__DRAIN: server.drain: must be a duration above 0")
    assert "hidden" not in str(error)


def test_a_null_section_of_the_file_can_be_filled(tmp_path: Path) -> None:
    text = f"{VALID}server:\n"

    assert load_text(tmp_path, text, {"POINTSMAN__SERVER__DRAIN": "5s"}).settings.drain_s == 5


def test_variables_alone_can_make_a_configuration(tmp_path: Path) -> None:
    environ = {
        "POINTSMAN__VERSION": "1",
        "POINTSMAN__AUTH__MODE": "none",
        "POINTSMAN__PROVIDERS": "{local: {kind: vllm, base_url: 'http://127.0.0.1:8000/v1'}}",
        "POINTSMAN__MODELS": "{chat: {targets: [{model: local/small}]}}",
    }

    assert set(load_text(tmp_path, "", environ).snapshot.groups) == {"chat"}


@pytest.mark.parametrize("value", ["[1, 2", "{a: b", "[1]]", "{a: 1, a: 2}", "[*x]", "[!!str x]"])
def test_a_broken_list_or_section_is_blamed_on_its_variable(tmp_path: Path, value: str) -> None:
    found = refused(tmp_path, VALID, {"POINTSMAN__SERVER": value}).problems

    assert {each.source for each in found} == {"POINTSMAN__SERVER"}


@pytest.mark.parametrize("key", ["[secret]", "{secret}", "'secret'", "${SECRET}"])
def test_a_key_is_taken_as_it_is(tmp_path: Path, key: str) -> None:
    loaded = load_text(tmp_path, VALID, {"POINTSMAN__PROVIDERS__LOCAL__API_KEY": key})

    api_key = loaded.snapshot.providers["local"].api_key
    assert api_key is not None
    assert api_key.reveal() == key


def test_an_override_of_unreadable_text_adds_no_problem(tmp_path: Path) -> None:
    found = problem(tmp_path, "a: [", {"POINTSMAN__SERVER__LISTN": "1", "POINTSMAN__VERSION__X": "1"})

    assert found.message.startswith("this is not valid YAML")


def test_origins_are_kept_for_values_and_for_the_sections_made_for_them() -> None:
    document = Document.of("file", parse("version: 1"))

    overrides.apply_environment(document, {"POINTSMAN__SERVER__LISTEN": "a"})
    overrides.apply_command_line(document, {"logs.level": "info"})

    assert document.origin(("server",)) == document.origin(("server", "listen")) == "POINTSMAN__SERVER__LISTEN"
    assert document.origin(("logs", "level")) == "command line"
    assert document.origin(("version",)) is None


_NAMES = st.lists(
    st.sampled_from(
        ["SERVER", "LISTEN", "MODELS", "CHAT", "TARGETS", "0", "1", "WEIGHT", "PROVIDERS", "LOCAL", "", "_", "\u0130"]
    ),
    max_size=6,
).map("__".join)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=300)
@given(variables=st.dictionaries(_NAMES, st.text(max_size=20), max_size=4))
def test_no_variable_raises_anything_but_a_config_error(
    tmp_path_factory: pytest.TempPathFactory, variables: dict[str, str]
) -> None:
    environ = {f"POINTSMAN__{name}": value for name, value in variables.items()}

    try:
        load_text(tmp_path_factory.getbasetemp(), VALID, environ)
    except ConfigError as error:
        assert error.problems  # noqa: PT017


@pytest.mark.parametrize("name", ["\udcff", "MODELS__\udcff", "MODELS__\udcff__ENABLED", "SERVER__\u00e4"])
def test_a_variable_whose_name_is_not_ascii_is_refused(tmp_path: Path, name: str) -> None:
    found = problem(tmp_path, VALID, {f"POINTSMAN__{name}": "1"})

    assert found.message == "the name has a character outside of ASCII"
    assert found.source.isascii()
