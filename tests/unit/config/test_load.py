"""From a file to Settings and a Snapshot, or to all of its problems."""

import os
import traceback
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.config.load import MAX_FILE_BYTES, Loaded, load
from pointsman.config.problems import ConfigError
from tests.unit.config.samples import HEAD, LOCAL, NAME, VALID, load_text, problem, refused

_EXAMPLE = Path(__file__).parents[3] / "pointsman.example.yaml"
_KEYS = {"OPENAI_API_KEY": "key-of-openai", "OPENROUTER_API_KEY": "key-of-openrouter"}
_SECRET = "sk-5ecret-5ecret"
_TEXT = _EXAMPLE.read_text(encoding="utf-8")


def _everything_said(error: ConfigError) -> str:
    """All that could reach a terminal or a log."""
    return "".join([str(error), repr(error), repr(error.problems), *traceback.format_exception(error)])


def test_the_example_loads_with_its_two_variables() -> None:
    order = "openai/gpt-5.4, then openrouter/anthropic/claude-opus-4.6"

    loaded = load(_EXAMPLE, environ=_KEYS)

    assert not loaded.warnings
    assert set(loaded.snapshot.groups) == {"chat", "gpt-5.4-nano", "careful"}
    assert loaded.notes == (
        "chat: weighted (70/30) because no strategy named, and a target has a weight",
        f"careful: failover ({order}) because the configuration names it",
    )


def test_the_example_shows_the_defaults(tmp_path: Path) -> None:
    example = load(_EXAMPLE, environ={**_KEYS, "HOME": "/home/a"})

    least = load_text(tmp_path, HEAD, {"HOME": "/home/a"})

    assert example.settings == least.settings
    assert example.snapshot.timeouts == least.snapshot.timeouts


@pytest.mark.bug("J-01")
@pytest.mark.bug("J-02")
@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": "", "OPENROUTER_API_KEY": "\n"}])
def test_the_example_without_its_variables_names_each_with_its_line(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as raised:
        load(_EXAMPLE, environ=environ)

    lines = _TEXT.splitlines()
    for found, name in zip(raised.value.problems, _KEYS, strict=True):
        assert found.path.endswith(".api_key")
        assert f"${{{name}}}" in lines[found.line - 1]
        assert name in found.message
        assert found.source == str(_EXAMPLE)


@pytest.mark.bug("J-06")
def test_a_file_loads_while_its_providers_are_away(tmp_path: Path) -> None:
    text = VALID.replace("127.0.0.1:8000", "does-not-exist.invalid:1")

    loaded = load_text(tmp_path, text)

    assert [member.target.id for member in loaded.snapshot.groups["chat"].members] == ["local/small"]


def test_versions_and_times_come_from_the_caller(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(VALID)

    snapshot = load(path, environ={}, config_version=7, created_utc=1_790_000_000).snapshot

    assert (snapshot.config_version, snapshot.created_utc) == (7, 1_790_000_000)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"\xef\xbb\xbf" + VALID.encode())

    assert isinstance(load(path, environ={}), Loaded)


def test_a_file_of_the_largest_size_loads(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(VALID + "#" * (MAX_FILE_BYTES - len(VALID)))

    assert isinstance(load(path, environ={}), Loaded)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"#" * (MAX_FILE_BYTES + 1), "the file is larger than 1 MiB. Name a configuration file."),
        (b"a: \xff", "the file is not UTF-8 text (byte 3). Save it as UTF-8."),
        (VALID.encode("utf-16"), "the file is not UTF-8 text (byte 0). Save it as UTF-8."),
    ],
)
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / NAME
    path.write_bytes(content)

    with pytest.raises(ConfigError) as raised:
        load(path, environ={})

    assert str(raised.value) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("name", "reason"), [("missing.yaml", os.strerror(2)), (".", os.strerror(21)), ("a\0b", "not a valid path")]
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path / name, environ={})

    assert f"cannot read the file: {reason}. Check its path and permissions." in str(raised.value)


@pytest.mark.parametrize("text", ["", "# nothing\n", "null\n"])
def test_an_empty_file_lacks_version_and_auth(tmp_path: Path, text: str) -> None:
    assert [each.path for each in refused(tmp_path, text).problems] == ["auth", "version"]


@pytest.mark.bug("J-01")
@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("server: {limits: {connections: '${A}'}}", ("5", 5)),
        ("server: {limits: {connections: '${A}0'}}", ("5", 50)),
        ("server: {limits: {connections: '${UNSET:-7}'}}", ("", 7)),
        ("server: {limits: {connections: '${A}'}}", ("5\n", 5)),
    ],
)
def test_a_variable_in_a_number_is_read_as_a_number(tmp_path: Path, line: str, values: tuple[str, int]) -> None:
    variable, expected = values

    assert load_text(tmp_path, f"{VALID}{line}\n", {"A": variable}).settings.max_connections == expected


@pytest.mark.bug("J-01")
@pytest.mark.parametrize(("value", "expected"), [("true", True), ("false", False), ("true\n", True)])
def test_a_variable_in_a_flag_is_read_as_a_flag(tmp_path: Path, value: str, expected: bool) -> None:
    loaded = load_text(tmp_path, f"{VALID}logs: {{requests: '${{A}}'}}\n", {"A": value})

    assert loaded.settings.log_requests is expected


@pytest.mark.bug("J-01")
@pytest.mark.parametrize("value", ["yes", "1", "", "TRUE", "[true]"])
def test_other_words_of_a_variable_are_no_flag_and_are_not_shown(tmp_path: Path, value: str) -> None:
    found = problem(tmp_path, f"{VALID}logs: {{requests: '${{FLAG_OF_LOGS}}'}}\n", {"FLAG_OF_LOGS": value})

    assert (found.path, found.line, found.message) == ("logs.requests", 5, "must be true or false")


@pytest.mark.bug("J-01")
def test_text_from_a_variable_stays_text_where_text_is_wanted(tmp_path: Path) -> None:
    text = VALID.replace("[{model: local/small}]", "[{provider: local, model_ref: '${MODEL}'}]")

    loaded = load_text(tmp_path, text, {"MODEL": "5"})

    assert loaded.snapshot.groups["chat"].members[0].target.upstream_model == "5"


@pytest.mark.bug("J-01")
@pytest.mark.parametrize(
    "place",
    [
        "server: {listen: X}",
        "server: {limits: {body: X}}",
        "server: {limits: {connections: X}}",
        "server: {drain: X}",
        "server: {response_headers: X}",
        "server: X",
        "records: {decisions: {max_bytes: X}}",
        "logs: {level: X}",
        "logs: {requests: X}",
        "cooldown: {base: X}",
        "timeouts: {idle: X}",
        "timeouts: X",
        "retry: {max_attempts: X}",
        "retry: {budget_ratio: X}",
        "providers: {local: {kind: X}}",
        "providers: {local: {kind: vllm, base_url: X}}",
        "providers: {local: {kind: vllm, base_url: 'http://X@h/v1'}}",
        "providers: {local: {kind: openai, terminator: X}}",
        "providers: {local: {kind: openai, api_key: X}}",
        "providers: {local: {kind: openai, headers: {X-Key: X}}}",
        "providers: {local: {kind: openai, headers: [X]}}",
        "providers: {local: {kind: openai, models: {a: {model: X}}}}",
        "models: {chat: {aliases: [X]}}",
        "models: {chat: {strategy: X, targets: []}}",
        "models: {chat: {targets: [X]}}",
        "models: {chat: {targets: [{model: X}]}}",
        "models: {chat: {targets: [{provider: X, model_ref: a}]}}",
        "models: {chat: {targets: [{model: local/a, weight: X}]}}",
        "models: {chat: {on_all_unavailable: X, targets: []}}",
    ],
)
@pytest.mark.parametrize("ending", [" \n\x07end", "\u20ac"])
def test_the_value_of_a_variable_is_in_no_error(tmp_path: Path, place: str, ending: str) -> None:
    line = place.replace(": X", ": '${TOKEN}'").replace("[X", "['${TOKEN}'").replace("//X", "//${TOKEN}")

    error = refused(tmp_path, f"{HEAD}{line}\n", {"TOKEN": _SECRET + ending})

    assert "5ecret" not in _everything_said(error)


@pytest.mark.bug("J-01")
@pytest.mark.parametrize(
    "line",
    [
        f"api_key: '{_SECRET} '",
        f"api_key: [{_SECRET}]",
        f"api_key: {{a: {_SECRET}}}",
        f"api_key: *{_SECRET}",
        f"api_key: !{_SECRET} x",
        f'headers: {{X-Key: "{_SECRET}\\n"}}',
        f"headers: {{X-Key: [{_SECRET}]}}",
        f"headers: {{Authorization: {_SECRET}}}",
        f"headers: {_SECRET}",
        f"base_url: http://user:{_SECRET}@h/v1",
        f"base_url: http://h/v1?key={_SECRET}",
    ],
)
def test_a_secret_that_stands_in_the_file_is_in_no_error(tmp_path: Path, line: str) -> None:
    error = refused(tmp_path, f"{HEAD}providers:\n  far:\n    kind: openai\n    {line}\n")

    assert "5ecret" not in _everything_said(error)


@pytest.mark.bug("J-01")
@pytest.mark.parametrize("broken", ["zz: 1", "timeouts: {idle: x}", "server: 5"])
def test_a_valid_secret_is_not_shown_by_the_errors_of_others(tmp_path: Path, broken: str) -> None:
    text = f"{HEAD}providers: {{far: {{kind: openai, api_key: '${{A}}', headers: {{X-Key: '${{A}}'}}}}}}\n{broken}\n"

    error = refused(tmp_path, text, {"A": _SECRET})

    assert "5ecret" not in _everything_said(error)


def test_a_key_is_in_no_representation_of_what_was_loaded(tmp_path: Path) -> None:
    providers = "providers: {far: {kind: openai, api_key: '${A}'}}\n"
    text = f"{HEAD}{providers}models: {{a: {{targets: [{{model: far/b}}]}}}}\n"

    loaded = load_text(tmp_path, text, {"A": _SECRET})

    assert "5ecret" not in f"{loaded!r}{loaded.snapshot.groups['a']!r}{loaded.snapshot.providers['far']!r}{loaded!s}"


def _mutated(cut: tuple[int, int], inserted: str) -> str:
    start, length = cut
    return _TEXT[:start] + inserted + _TEXT[start + length :]


@pytest.mark.slow
@pytest.mark.case("T93")
@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    cut=st.tuples(st.integers(0, len(_TEXT)), st.integers(0, 40)),
    inserted=st.one_of(
        st.text(max_size=8),
        st.text(alphabet=":-[]{}&*!|>'\"#%,?$ \n\t01.", max_size=6),
        st.sampled_from(["null", "true", "[]", "{}", "-1", "1e400", "${A}", "${", "file:/a", "\n", "  ", "<<: *a"]),
    ),
)
def test_a_mutated_file_loads_or_is_refused_with_problems(
    tmp_path_factory: pytest.TempPathFactory, cut: tuple[int, int], inserted: str
) -> None:
    path = tmp_path_factory.getbasetemp() / NAME
    path.write_text(_mutated(cut, inserted), encoding="utf-8", newline="")

    try:
        load(path, environ=_KEYS)
    except ConfigError as error:
        assert all(each.line >= 1 and each.fix for each in error.problems)  # noqa: PT017
        assert "key-of-open" not in _everything_said(error)  # noqa: PT017


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.binary(max_size=200))
def test_random_bytes_are_refused_with_problems(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / NAME
    path.write_bytes(content)

    with pytest.raises(ConfigError) as raised:
        load(path, environ={})

    assert raised.value.problems


def test_unused_providers_are_kept(tmp_path: Path) -> None:
    assert set(load_text(tmp_path, HEAD + LOCAL).snapshot.providers) == {"local"}


# --- loading again


def test_a_source_is_read_again_with_the_inputs_of_the_start(tmp_path: Path) -> None:
    overrides = {"server.listen": "127.0.0.1:5000"}
    loaded = load_text(tmp_path, VALID.replace("'http", "'${SCHEME}"), {"SCHEME": "http"}, overrides)
    (tmp_path / NAME).write_text(VALID.replace("'http", "'${SCHEME}").replace("small", "large"))

    again = loaded.source.load(loaded.snapshot.config_version + 1)

    assert [member.target.id for member in again.snapshot.groups["chat"].members] == ["local/large"]
    assert again.snapshot.config_version == 2
    assert again.snapshot.created_utc == loaded.snapshot.created_utc
    assert str(again.settings.listen) == "127.0.0.1:5000"


@pytest.mark.case("I14")
def test_what_was_loaded_shows_no_secret_of_the_environment(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, VALID, {"UNRELATED_PASSWORD": _SECRET})

    assert _SECRET not in repr(loaded)
