"""The command line, without a network."""

import json
import logging
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pointsman.cli import app
from pointsman.routing.strategies import ALONE

GOOD = """\
version: 1
auth: {mode: none}
server: {listen: 127.0.0.1:0, admin_listen: 127.0.0.1:0}
providers:
  local: {kind: vllm, base_url: http://127.0.0.1:8000/v1}
models:
  chat:
    targets:
      - {model: local/a, weight: 70}
      - {model: local/b, weight: 30}
"""
COMMANDS = [("check",), ("serve", "--config")]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pointsman.yaml"
    path.write_text(GOOD, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_good_file_is_ok_and_its_strategies_are_explained(file: Path) -> None:
    result = run("check", file)

    assert result.exit_code == 0
    assert f"{file}: ok" in result.stdout
    assert re.search(r"chat: .*weighted", result.stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_missing_file_is_named(command: tuple[str, ...], tmp_path: Path) -> None:
    result = run(*command, tmp_path / "nowhere.yaml")

    assert result.exit_code == 1
    assert "nowhere.yaml" in result.stderr
    assert "Check its path" in result.stderr


@pytest.mark.case("T93")
@pytest.mark.bug("J-03")
@pytest.mark.parametrize("command", COMMANDS)
def test_broken_file_is_refused_with_file_line_and_fix(command: tuple[str, ...], file: Path) -> None:
    file.write_text(GOOD.replace("weight: 70", "wieght: 70"), encoding="utf-8")

    result = run(*command, file)

    assert result.exit_code == 1
    assert "pointsman.yaml:9" in result.stderr
    assert "wieght" in result.stderr
    assert "weight" in result.stderr.replace("wieght", "")
    assert "Traceback" not in result.output


@pytest.mark.case("T93")
@pytest.mark.parametrize("command", COMMANDS)
def test_file_that_is_no_yaml_is_refused_with_its_line(command: tuple[str, ...], file: Path) -> None:
    file.write_text("version: 1\nmodels: [\n", encoding="utf-8")

    result = run(*command, file)

    assert result.exit_code == 1
    assert re.search(r"pointsman\.yaml:\d+", result.stderr)


def test_every_problem_of_a_file_is_reported_at_once(file: Path) -> None:
    file.write_text(GOOD.replace("70", "-1").replace("local/b", "nobody/b"), encoding="utf-8")

    result = run("check", file)

    assert {"pointsman.yaml:9", "pointsman.yaml:10"} <= set(re.findall(r"pointsman\.yaml:\d+", result.stderr))


def test_address_in_use_is_told_with_a_fix(file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        file.write_text(GOOD.replace("{listen: 127.0.0.1:0", f"{{listen: 127.0.0.1:{port}"), encoding="utf-8")

        result = run("serve", "--config", file)

    assert result.exit_code == 1
    assert "server.listen" in result.stderr
    assert "Traceback" not in result.output


def test_without_a_command_the_commands_are_listed() -> None:
    output = run().output

    assert all(name in output for name in ("serve", "check", "explain", "keys", "demo"))


@pytest.mark.case("I14")
def test_secret_of_a_broken_file_is_not_repeated(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_KEY", "sk-very-secret")
    file.write_text(GOOD.replace("base_url:", "api_key: ${LOCAL_KEY}, bse_url: x, base_url:"), encoding="utf-8")

    result = run("check", file)

    assert result.exit_code == 1
    assert "sk-very-secret" not in result.output


# --- keys


def test_serving_makes_the_pepper_for_the_keys_to_come(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(file.parent))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"{{listen: 127.0.0.1:{taken.getsockname()[1]}"
        text = GOOD.replace("mode: none", "mode: keys").replace("{listen: 127.0.0.1:0", listen)
        file.write_text(text, encoding="utf-8")

        result = run("serve", "--config", file)

    assert "cannot start" in result.stderr
    assert (file.parent / "pointsman" / "pepper").exists()


def test_new_key_is_shown_once_with_the_line_that_declares_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(file.parent))

    result = run(
        "keys", "create", "--name", "ci", "--models", "chat", "--scope", "chat", "--scope", "explain", "-c", file
    )

    assert result.exit_code == 0
    (secret,) = re.findall(r"pm_\w+", result.output)
    assert result.stdout.startswith(f"{secret}\n")
    assert "not shown again" in result.stdout
    (line,) = re.findall(r"    - \{.*\}", result.stdout)
    assert re.search(r'name: "ci", hash: "hmac-sha256:\w+", models: \["chat"\], scopes: \["chat", "explain"\]', line)
    assert f"the pepper at {file.parent}/pointsman/pepper;" in result.stdout


def test_new_key_works_where_it_is_declared(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(file.parent))
    output = run("keys", "create", "--name", "ci", "--config", file).stdout
    (line,) = re.findall(r"- \{.*\}", output)
    file.write_text(GOOD.replace("{mode: none}", f"\n  mode: keys\n  keys:\n    {line}"), encoding="utf-8")

    result = run("check", file)

    assert result.exit_code == 0
    assert "warning" not in result.stdout


def test_faulty_option_of_a_new_key_is_refused_without_making_one(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(file.parent))

    result = run("keys", "create", "--name", "ci", "--models", "chta", "--config", file)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("--models: auth.keys[0].models[0]: unknown model")
    assert not (file.parent / "pointsman").exists()


def test_check_makes_no_pepper_and_says_that_there_is_no_key(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(file.parent))
    file.write_text(GOOD.replace("mode: none", "mode: keys"), encoding="utf-8")

    result = run("check", file)

    assert result.exit_code == 0
    assert "warning: " in result.stdout
    assert "there is no key: nobody can call" in result.stdout
    assert not (file.parent / "pointsman").exists()


# --- the admin token


def test_admin_token_is_shown_once_and_works_where_it_is_declared(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(file.parent))

    output = run("keys", "admin", "--config", file).stdout

    (secret,) = re.findall(r"^(pm_admin_\w+)$", output, re.MULTILINE)
    assert output.count(secret) == 1
    assert "not shown again" in output
    assert f"the pepper at {file.parent}/pointsman/pepper;" in output
    (line,) = re.findall(r"^    (admin_token: .*)$", output, re.MULTILINE)
    file.write_text(GOOD.replace("{mode: none}", f"{{mode: none, {line}}}"), encoding="utf-8")
    assert run("check", file).exit_code == 0


def test_admin_token_for_a_broken_file_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(file.parent))
    file.write_text(GOOD.replace("mode: none", "mode: kyes"), encoding="utf-8")

    result = run("keys", "admin", "--config", file)

    assert (result.exit_code, result.stdout) == (1, "")
    assert "auth.mode" in result.stderr


# --- explain

CHAT = '{"model": "chat", "messages": [{"role": "user", "content": "a very secret prompt"}]}'


@pytest.fixture
def request_file(tmp_path: Path) -> Path:
    path = tmp_path / "request.json"
    path.write_text(CHAT, encoding="utf-8")
    return path


def test_request_is_explained_offline_and_that_is_said(file: Path, request_file: Path) -> None:
    result = run("explain", request_file, "--config", file, "--seed", "5")

    assert result.exit_code == 0
    assert re.search(r"^>  local/a +70 +70% +closed$", result.stdout, re.MULTILINE)
    assert "local/a chosen by weighted: share 70% | local/b share 30%" in result.stdout
    assert "no gateway was asked" in result.stdout
    assert "draw 5" in result.stdout


def test_draw_is_another_one_each_time_unless_it_is_given(file: Path, request_file: Path) -> None:
    first, second, third, fourth = (
        run("explain", request_file, "--config", file, *more).stdout
        for more in ([], [], ["--seed", "5"], ["--seed", "5"])
    )

    assert first != second
    assert third == fourth


def test_explanation_for_programs_is_json(file: Path, request_file: Path) -> None:
    result = run("explain", request_file, "--config", file, "--json", "--seed", "5")

    found = json.loads(result.stdout)
    assert (found["state"], found["seed"], found["explained"]["picked"]) == ("fresh", 5, "local/a")


def test_request_may_come_from_standard_input(file: Path) -> None:
    result = CliRunner().invoke(app, ["explain", "-", "--config", str(file)], input=CHAT)

    assert result.exit_code == 0
    assert "chosen by weighted" in result.stdout


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (CHAT.replace('"chat"', '"chta"'), "404 model_not_found: There is no model 'chta'. Did you mean 'chat'?"),
        ("{", "400 invalid_request: The request body is not valid JSON"),
    ],
)
def test_request_that_would_be_refused_has_an_exit_code_of_its_own(
    file: Path, request_file: Path, body: str, text: str
) -> None:
    request_file.write_text(body, encoding="utf-8")

    result = run("explain", request_file, "--config", file)

    assert result.exit_code == 3
    assert f"the request would be refused with {text}" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["nowhere.json"], 1, "cannot read nowhere.json: No such file or directory"),
        (["request.json", "--config", "nowhere.yaml"], 1, "Check its path"),
        (["request.json", "--admin", "http://127.0.0.1:9"], 1, "Is it `server.admin_listen`?"),
        (["request.json", "--admin", "127.0.0.1:4001"], 1, "must be an http or https URL, like http://127.0.0.1:4001"),
        (["request.json", "--dialect", "latin"], 2, "must be one of openai_chat"),
        (["request.json", "--seed", "-1"], 2, "--seed"),
    ],
)
def test_mistake_is_told_with_what_to_do(
    request_file: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, text: str
) -> None:
    monkeypatch.chdir(request_file.parent)

    result = run("explain", *arguments)

    assert result.exit_code == code
    assert text in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.output


@pytest.mark.parametrize("url", ["http://127.0.0.1:port", "http://[::1", "http://a b:1"])
def test_url_that_is_none_is_refused(request_file: Path, url: str) -> None:
    result = run("explain", request_file, "--admin", url)

    assert result.exit_code == 1
    assert "like http://127.0.0.1:4001" in result.stderr


@pytest.mark.case("I14")
def test_token_that_is_none_is_refused_and_not_repeated(request_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POINTSMAN_ADMIN_TOKEN", "pm_admin_x\nhost: elsewhere")

    result = run("explain", request_file, "--admin", "http://127.0.0.1:9")

    assert (result.exit_code, result.stdout) == (1, "")
    assert "The admin token is not one" in result.stderr
    assert "pm_admin_x" not in result.output


@pytest.mark.case("I14")
@pytest.mark.req("D-075")
def test_explanation_never_shows_the_prompt(file: Path, request_file: Path) -> None:
    outputs = [run("explain", request_file, "--config", file, *more).output for more in ([], ["--json"])]

    assert all("secret" not in output for output in outputs)


# --- demo


@pytest.mark.parametrize("duration", ["-1", "0", "nan", "inf", "soon", "10 s", ""])
def test_duration_that_cannot_be_is_refused_with_an_example(duration: str) -> None:
    result = run("demo", "--duration", duration)

    assert result.exit_code == 2
    assert "must be a duration above 0. Write for example 250ms, 30s, 5m or 1h." in " ".join(result.stderr.split())


@pytest.fixture
def demos(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What each demo was started with; none of them runs."""
    started: list[dict[str, Any]] = []

    async def run_demo(**options: Any) -> None:
        started.append(options)

    monkeypatch.setattr("pointsman.demo.run.run", run_demo)
    return started


def test_duration_may_have_a_unit_or_be_plain_seconds(demos: list[dict[str, Any]]) -> None:
    results = [run("demo", "--duration", text) for text in ("250ms", "0.3", "5m")] + [run("demo")]

    assert [result.exit_code for result in results] == [0] * 4
    assert [demo["duration_s"] for demo in demos] == [0.25, 0.3, 300.0, None]


def test_demo_without_options_is_the_whole_show_on_the_usual_port(demos: list[dict[str, Any]]) -> None:
    run("demo")

    assert demos == [{"port": 4000, "duration_s": None, "strategy": "weighted", "has_traffic": True}]


def test_traffic_of_the_demo_can_be_left_out(demos: list[dict[str, Any]]) -> None:
    run("demo", "--no-traffic")

    assert [demo["has_traffic"] for demo in demos] == [False]


@pytest.mark.parametrize("strategy", ALONE)
def test_demo_takes_every_strategy_that_needs_nobody_outside(strategy: str, demos: list[dict[str, Any]]) -> None:
    result = run("demo", "--strategy", strategy)

    assert result.exit_code == 0
    assert [demo["strategy"] for demo in demos] == [strategy]


def test_unknown_strategy_is_refused_with_all_that_exist() -> None:
    result = run("demo", "--strategy", "fastest")

    assert result.exit_code == 2
    assert f"must be one of {', '.join(ALONE)}." in " ".join(result.stderr.split())


@pytest.mark.parametrize(("port", "limit"), [("-1", "0"), ("65535", "65534"), ("70000", "65534")])
def test_port_without_a_next_one_is_refused_with_the_limit(port: str, limit: str) -> None:
    result = run("demo", "--port", port)

    assert result.exit_code == 2
    assert re.search(rf"Invalid value for '--port': .* equal to {limit}\b", result.stderr)


def test_simulate_without_a_scenario_lists_them() -> None:
    result = run("simulate")

    assert result.exit_code == 0
    assert re.search(r"^steady +Nothing goes wrong\.$", result.stdout, re.MULTILINE)


def test_simulate_prints_one_table_and_keeps_its_progress_out_of_it() -> None:
    result = run("simulate", "overload", "--compare", "market,random", "--requests", "200", "--seeds", "2")

    assert result.exit_code == 0
    assert "random" in result.stdout
    assert "runs (" not in result.stdout
    assert "6 of 6 runs (overload, clairvoyant, seed 2)" in result.stderr


def test_simulate_says_by_its_exit_code_that_an_expectation_is_not_met(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("expect: {policy: random, regret: 0}\n", encoding="utf-8")

    result = run("simulate", file, "--compare", "random", "--requests", "200")

    assert result.exit_code == 3
    assert "random: regret at most 0 %" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["blackhol"], "there is no such scenario. Did you mean 'blackhole'?"),
        (["no.yaml"], "no.yaml: cannot read the file"),
        (["steady", "--compare", "markt"], "there is no policy 'markt'. Did you mean 'market'?"),
    ],
)
def test_simulate_says_what_is_wrong_before_it_runs_anything(arguments: list[str], told: str) -> None:
    result = run("simulate", *arguments)

    assert result.exit_code == 1
    assert told in result.stderr
    assert not result.stdout


def test_simulate_names_a_trace_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("workload: {trace: no.csv}\n", encoding="utf-8")

    result = run("simulate", file, "--compare", "random")

    assert result.exit_code == 1
    assert "no.csv: cannot read the trace" in result.stderr
