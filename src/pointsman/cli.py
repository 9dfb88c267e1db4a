"""The command line. Everything heavy is imported inside the command that needs it, so that help is fast."""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from pointsman.app import App
    from pointsman.config.load import Loaded

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="An LLM gateway whose routing you can prove.",
)

keys = typer.Typer(no_args_is_help=True, help="Keys of callers.")
app.add_typer(keys, name="keys")
config_commands = typer.Typer(no_args_is_help=True, help="The configuration.")
app.add_typer(config_commands, name="config")

_DEMO_MAX_PORT = 65534  # the admin listener needs the one after it
_TOKEN_VARIABLE = "POINTSMAN_ADMIN_TOKEN"  # noqa: S105  # not an option: arguments are seen by every process
_REFUSED = 3  # exit code: the request would be refused, or an expectation is not met

_NEW_KEY = """\
{secret}

That is the key. Hand it over now: it is kept nowhere and not shown again.
Declare it in {file}, in the list `auth.keys`, with `auth.mode: keys`:

    {declaration}
"""
_ADMIN_TEXT = """\
{secret}

That is the admin token. It is kept nowhere and not shown again.
Declare it in {file}, in the section `auth`:

    {declaration}
"""
_PEPPER_NOTE = "It is hashed with the pepper at {path}; a gateway elsewhere needs a copy of that file."

Config = Annotated[
    Path, typer.Option("--config", "-c", envvar="POINTSMAN_CONFIG", help="The configuration file.", show_default=True)
]


@app.command()
def serve(config: Config = Path("pointsman.yaml")) -> None:
    """Run the gateway: data plane and admin listener."""
    from pointsman import app as gateway  # noqa: PLC0415
    from pointsman.observability.logging import configure  # noqa: PLC0415

    loaded = _load(config, keeps_pepper=True)
    configure(loaded.settings.log_level)
    for line in (*map(str, loaded.warnings), *loaded.notes):
        typer.echo(line, err=True)
    with asyncio.Runner(loop_factory=gateway.new_loop) as runner:
        try:
            runner.run(gateway.serve(loaded, on_ready=_say_ready))
        except OSError as error:
            _fail(f"cannot start: {error}. Is another process using the address? Change server.listen.")


@app.command()
def check(file: Annotated[Path, typer.Argument(help="The configuration file.")] = Path("pointsman.yaml")) -> None:
    """Validate a configuration, offline; says which strategy each group has and why, and what each target charges.

    Exit code 0 or 1.
    """
    loaded = _load(file)
    for warning in loaded.warnings:
        typer.echo(f"warning: {warning}")
    for note in (*loaded.notes, *loaded.price_notes):
        typer.echo(note)
    typer.echo(f"{file}: ok")


@app.command()
def schema() -> None:
    """Print the JSON Schema of the configuration file, for editors that check and complete what is typed."""
    import json  # noqa: PLC0415

    from pointsman.config import json_schema  # noqa: PLC0415

    typer.echo(json.dumps(json_schema.schema(), indent=2))


@config_commands.command()
def show(
    *,
    origin: Annotated[bool, typer.Option("--origin", help="Say of each value where it comes from.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a list of objects with key, value and origin.")
    ] = False,
    config: Config = Path("pointsman.yaml"),
) -> None:
    """Print every key with the value that holds; secrets are hidden. Exit code 0 or 1."""
    import msgspec  # noqa: PLC0415

    from pointsman.config.effective import effective  # noqa: PLC0415
    from pointsman.config.problems import ConfigError  # noqa: PLC0415

    try:
        found = effective(config, os.environ)
    except ConfigError as error:
        _fail(str(error))
    if as_json:
        typer.echo(msgspec.json.encode(found).decode())
        return
    for each in found:
        typer.echo(f"{each.key}: {msgspec.json.encode(each.value).decode()}{f'  # {each.origin}' if origin else ''}")


def _duration_s(text: str) -> float:
    """A duration, written as in the configuration."""
    from pointsman.config.values import BadValueError, duration_s  # noqa: PLC0415

    try:
        return duration_s(text)
    except BadValueError as error:
        raise typer.BadParameter(f"{error.message}. {error.fix}") from None


def _strategy(text: str) -> str:
    """The name of a strategy that needs nothing but its name."""
    from pointsman.routing.strategies import ALONE  # noqa: PLC0415

    if text not in ALONE:
        raise typer.BadParameter(f"must be one of {', '.join(ALONE)}.")
    return text


def _dialect(text: str) -> str:
    """The name of a dialect."""
    from pointsman.dialects.registry import DIALECTS  # noqa: PLC0415

    if text not in DIALECTS:
        raise typer.BadParameter(f"must be one of {', '.join(DIALECTS)}.")
    return text


@app.command()
def demo(
    *,
    duration: Annotated[
        float | None,
        typer.Option(parser=_duration_s, metavar="DURATION", help="Stop after e.g. 30s or 5m; default: Ctrl-C."),
    ] = None,
    port: Annotated[
        int,
        typer.Option(min=0, max=_DEMO_MAX_PORT, help="Port of the gateway; the admin listener gets the next one."),
    ] = 4000,
    strategy: Annotated[
        str, typer.Option(parser=_strategy, metavar="STRATEGY", help="How the group `demo` picks its targets.")
    ] = "weighted",
    no_traffic: Annotated[
        bool, typer.Option("--no-traffic", help="Only the gateway and the providers; you send the requests.")
    ] = False,
) -> None:
    """Three simulated providers behind a gateway, traffic, and a live view of it: no key, no network."""
    from pointsman.app import new_loop  # noqa: PLC0415
    from pointsman.demo.run import run  # noqa: PLC0415

    with asyncio.Runner(loop_factory=new_loop) as runner:
        try:
            runner.run(run(port=port, duration_s=duration, strategy=strategy, has_traffic=not no_traffic))
        except BrokenPipeError:
            raise  # nobody reads our words any more: typer ends quietly
        except OSError as error:
            _fail(f"cannot start: {error}. Is another process using the port? Try --port.")


@app.command()
def explain(
    request: Annotated[Path, typer.Argument(help="A request body, as a caller would send it; - reads it from stdin.")],
    *,
    admin: Annotated[
        str | None,
        typer.Option(metavar="URL", help=f"Ask the gateway with this admin listener; its token is ${_TOKEN_VARIABLE}."),
    ] = None,
    dialect: Annotated[
        str, typer.Option(parser=_dialect, metavar="DIALECT", help="The dialect of the request.")
    ] = "openai_chat",
    seed: Annotated[int | None, typer.Option(min=0, help="Repeat this draw. Default: another one each time.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer of the admin API.")] = False,
    config: Config = Path("pointsman.yaml"),
) -> None:
    """What would become of a request, and why: by a running gateway, or offline by the configuration alone."""
    import msgspec  # noqa: PLC0415

    from pointsman.control import asking  # noqa: PLC0415
    from pointsman.control.explain import Question  # noqa: PLC0415
    from pointsman.control.explain_text import text  # noqa: PLC0415
    from pointsman.domain.request import Dialect  # noqa: PLC0415
    from pointsman.domain.secret import Secret  # noqa: PLC0415

    question = Question(_body(request), Dialect(dialect), asking.new_seed() if seed is None else seed)
    token = os.environ.get(_TOKEN_VARIABLE)
    try:
        if admin is None:
            found = asking.ask_file(question, _load(config))
        else:
            found = asking.ask_gateway(question, admin, Secret(token) if token else None)
    except asking.NoAnswerError as error:
        _fail(str(error))
    typer.echo(msgspec.json.encode(found).decode() if as_json else text(found))
    if found.explained.refusal is not None:
        raise typer.Exit(_REFUSED)


def _body(path: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        _fail(f"cannot read {path}: {error.strerror}")


@app.command()
def simulate(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCENARIO", help="Names, or files that end in .yaml; all. Without: a list of them."),
    ] = None,
    *,
    compare: Annotated[
        str, typer.Option(metavar="NAMES", help="all, or names of policies with commas. Default: as the scenario says.")
    ] = "",
    seeds: Annotated[int, typer.Option(min=1, max=100, help="How often, each time with other luck.")] = 1,
    replicas: Annotated[int, typer.Option(min=1, max=100, help="Gateways that share nothing.")] = 1,
    requests: Annotated[
        int | None, typer.Option(min=100, max=1_000_000, help="About so many; times of the scenario shrink alike.")
    ] = None,
    permute: Annotated[bool, typer.Option("--permute", help="The same trouble for each target in turn.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write plots and tables there, too. Default: nowhere.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, max=256, help="Processes. Default: one for each core.")] = None,
) -> None:
    """Compare routing policies in virtual time, with the decision code of the gateway: one table per scenario.

    Exit code 0, 1, or 3 if an expectation of a scenario is not met.
    """
    from pointsman.domain.errors import PointsmanError  # noqa: PLC0415
    from pointsman.simulator.command import Wanted, listing  # noqa: PLC0415
    from pointsman.simulator.command import simulate as run  # noqa: PLC0415
    from pointsman.simulator.progress import reporting  # noqa: PLC0415
    from pointsman.simulator.workers import usable_cores  # noqa: PLC0415

    if not scenarios:
        typer.echo(listing())
        return
    names = tuple(name for name in compare.split(",") if name)
    wanted = Wanted(tuple(scenarios), names, seeds, replicas, requests, permute, html, jobs or usable_cores())
    try:
        with reporting() as step:
            is_met = run(wanted, typer.echo, step)
    except PointsmanError as error:
        _fail(str(error))
    if not is_met:
        raise typer.Exit(_REFUSED)


@keys.command()
def create(
    name: Annotated[str, typer.Option(metavar="NAME", help="Who gets it; records name the caller so.")],
    models: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN", help="A group or alias it may use, * for any part; repeat for more. Default: all."
        ),
    ] = None,
    scope: Annotated[
        list[str] | None, typer.Option(metavar="SCOPE", help="chat or explain; repeat for more. Default: chat.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="INSTANT", help="E.g. 2027-01-31T18:00:00Z. Default: never.")
    ] = None,
    config: Config = Path("pointsman.yaml"),
) -> None:
    """Make a key: prints it once, and the line that declares it in the configuration."""
    from pointsman.config.new_key import create_key  # noqa: PLC0415
    from pointsman.config.problems import ConfigError  # noqa: PLC0415

    given = {"name": name, "models": models, "scopes": scope, "expires": expires}
    wanted = {field: value for field, value in given.items() if value}
    try:
        key = create_key(config, wanted, environ=os.environ, now_utc_s=time.time())
    except ConfigError as error:
        _fail(str(error))
    typer.echo(_NEW_KEY.format(secret=key.secret.reveal(), declaration=key.declaration, file=config))
    if key.pepper_path is not None:
        typer.echo(_PEPPER_NOTE.format(path=key.pepper_path))


@keys.command()
def admin(config: Config = Path("pointsman.yaml")) -> None:
    """Make the token of the admin API: prints it once, and the line that declares it in the configuration."""
    from pointsman.config.new_key import create_admin_token  # noqa: PLC0415
    from pointsman.config.problems import ConfigError  # noqa: PLC0415

    try:
        token = create_admin_token(config, environ=os.environ)
    except ConfigError as error:
        _fail(str(error))
    typer.echo(_ADMIN_TEXT.format(secret=token.secret.reveal(), declaration=token.declaration, file=config))
    if token.pepper_path is not None:
        typer.echo(_PEPPER_NOTE.format(path=token.pepper_path))


def _load(path: Path, *, keeps_pepper: bool = False) -> "Loaded":
    from pointsman.config.load import load  # noqa: PLC0415
    from pointsman.config.problems import ConfigError  # noqa: PLC0415

    try:
        return load(path, environ=os.environ, created_utc=int(time.time()), keeps_pepper=keeps_pepper)
    except ConfigError as error:
        _fail(str(error))


def _fail(message: str) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(1)


def _say_ready(running: "App") -> None:
    typer.echo(f"gateway on port {running.port}, admin on port {running.admin_port}", err=True)


def main() -> None:
    """The entry point."""
    app()
