"""docs/configuration.md: every key, default, type, kind, strategy and fixed value; and the example file."""

import re
from collections.abc import Iterator, Mapping
from enum import EnumType
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
import pytest
import yaml
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from pointsman.config.compile import settings_of
from pointsman.config.kinds import KINDS
from pointsman.config.load import load
from pointsman.config.schema import ConfigFile, Section
from pointsman.config.settings import (
    DECISIONS_FILE,
    DEFAULT_BODY_LIMIT_BYTES,
    DEFAULT_DRAIN_S,
    DEFAULT_MAX_CONNECTIONS,
    DEFAULT_STRANGERS_PER_ADDRESS,
    MAX_DRAIN_S,
    STATE_FOLDER,
)
from pointsman.config.values import duration_s, size_bytes
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.policy import DEFAULT_MAX_ATTEMPTS, Cooldown, Retry, Timeouts
from pointsman.domain.request import Dialect
from pointsman.http1.limits import EdgeLimits, UpstreamLimits
from pointsman.proxy import count_tokens, stored_responses
from pointsman.routing.strategies import ADAPTIVE, STRATEGIES
from pointsman.signals.holders import MAX_KEPT
from tests.docs import pages

PAGE = "docs/configuration.md"
EXAMPLE = pages.ROOT / "pointsman.example.yaml"
ENVIRONMENT = {
    "OPENAI_API_KEY": "sk-1",
    "OPENROUTER_API_KEY": "sk-2",
    "ANTHROPIC_API_KEY": "sk-3",
    "HOME": "/home/somebody",
}
PLACEHOLDERS = {"providers": "NAME", "models": "GROUP", "providers.NAME.models": "REF", "prices.overrides": "TARGET"}
AS_ELSEWHERE = {"prices.overrides": "providers.NAME.models.REF.price"}  # keys that have the keys of another one
DOCUMENTED = {
    pages.code(row["key"]): row
    for table in pages.tables(pages.text(PAGE))
    if list(table[0])[0:3] == ["key", "type", "default"]
    for row in table
}


def keys(section: type[Section] = ConfigFile, path: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every key of the schema but mere sections."""
    for name, field in section.model_fields.items():
        place = f"{path}.{name}" if path else name
        inner = sections_in(field.annotation)
        if field.annotation is not inner:
            yield place, field
        if inner is not None and place not in AS_ELSEWHERE:
            yield from keys(inner, place + suffix(place, field))


def sections_in(annotation: object) -> type[Section] | None:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next((found for part in get_args(annotation) if (found := sections_in(part)) is not None), None)


def suffix(place: str, field: FieldInfo) -> str:
    match get_origin(field.annotation):
        case origin if origin is dict:
            return f".{PLACEHOLDERS[place]}"
        case origin if origin is list:
            return "[]"
    return ""


def type_of(field: FieldInfo) -> TypeAdapter[Any]:
    annotation: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return TypeAdapter(annotation, config=None if sections_in(annotation) else ConfigDict(strict=True))


def choices(annotation: object) -> list[str]:
    """The values of a closed set; empty: it is none."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    if isinstance(annotation, EnumType):
        return [str(member.value) for member in annotation]
    return [choice for part in get_args(annotation) for choice in choices(part)]


SCHEMA = dict(keys())
CHOICES = {key: found for key, field in SCHEMA.items() if (found := choices(field.annotation))}
RANGES = {
    key: found.groups()
    for key, row in DOCUMENTED.items()
    if (found := re.match(r"([0-9.,e]+) to ([0-9.,e]+)", row["type"])) is not None
}


def test_every_key_is_documented_and_no_other() -> None:
    assert sorted(DOCUMENTED) == sorted(SCHEMA)


@pytest.mark.parametrize(("key", "other"), AS_ELSEWHERE.items())
def test_key_with_the_keys_of_another_one_says_so(key: str, other: str) -> None:
    assert f"Each has the keys of `{other}`." in DOCUMENTED[key]["meaning, and why this default"]
    assert sections_in(SCHEMA[key].annotation) is sections_in(SCHEMA[other].annotation)


def test_no_key_is_documented_twice() -> None:
    rows = [row for table in pages.tables(pages.text(PAGE)) for row in table if "key" in row and "type" in row]

    assert len(rows) == len(DOCUMENTED)


@pytest.mark.parametrize("key", SCHEMA)
def test_documented_default_is_the_one_of_the_code(key: str) -> None:
    field, written = SCHEMA[key], DOCUMENTED[key]["default"]

    if field.is_required():
        assert written == "required"
    else:
        assert type_of(field).validate_python(yaml.safe_load(pages.code(written))) == field.default


@pytest.mark.parametrize("key", CHOICES)
def test_documented_choices_are_those_of_the_code(key: str) -> None:
    assert pages.codes(DOCUMENTED[key]["type"]) == CHOICES[key]


@pytest.mark.parametrize("key", SCHEMA)
def test_null_is_documented_where_it_is_taken(key: str) -> None:
    takes_null = type(None) in get_args(SCHEMA[key].annotation)

    assert DOCUMENTED[key]["type"].endswith(" or null") is takes_null


@pytest.mark.parametrize("key", RANGES)
def test_documented_bounds_are_the_last_values_taken(key: str) -> None:
    low, high = (float(bound.replace(",", "")) for bound in RANGES[key])
    adapter = type_of(SCHEMA[key])
    whole = "int" in str(SCHEMA[key].annotation)
    number = int if whole else float

    adapter.validate_python(number(low))
    adapter.validate_python(number(high))
    for outside in (number(low - 1), number(high * 1.1 + 1)):
        with pytest.raises(ValidationError):
            adapter.validate_python(outside)


def test_some_bounds_are_documented() -> None:
    assert set(RANGES) == {
        "server.limits.connections",
        "server.limits.strangers_per_address",
        "records.decisions.max_rows",
        *(key for key in SCHEMA if ".max_price." in key or ".eval." in key or "min_eval" in key),
        "providers.NAME.models.REF.context",
        "providers.NAME.models.REF.max_output",
        "models.GROUP.targets[].weight",
        "providers.NAME.max_concurrent",
        "providers.NAME.max_rps",
        "providers.NAME.max_tpm",
        "models.GROUP.affinity.max_entries",
        "models.GROUP.routing_policy.p2c.warm_cache_weight",
        *(key for key in SCHEMA if key.startswith("adaptive.") and "_" in key and not key.endswith("ttl")),
        *(key for key in SCHEMA if ".price." in key and not key.endswith(".above")),
        "models.GROUP.routing_policy.blend.latency_weight",
        "models.GROUP.routing_policy.blend.cost_weight",
        "models.GROUP.routing_policy.blend.load_weight",
        "models.GROUP.routing_policy.blend.exploration_ratio",
        "models.GROUP.routing_policy.blend.min_samples",
        "models.GROUP.routing_policy.p2c.min_weight_fraction",
        *(f"adaptive.market.{key}" for key in ("seconds_worth", "usd_per_second", "eps", "exploration.spend")),
        "models.GROUP.routing_policy.market.seconds_worth",
        "models.GROUP.routing_policy.market.usd_per_second",
        "models.GROUP.routing_policy.market.eps",
        "models.GROUP.routing_policy.market.exploration.spend",
        *(
            f"models.GROUP.routing_policy.dynamic_score.{key}"
            for key in (
                "min_observations",
                "observation_window_seconds",
                "max_score_adjustment_percent",
                "exploration_ratio",
                "affinity.max_entries",
                "signals.prompt_features.max_scan_bytes",
                "thresholds.max_error_rate",
                "thresholds.max_timeout_rate",
                "thresholds.min_samples",
            )
        ),
        "retry.max_attempts",
        "retry.budget_base",
        "retry.budget_ratio",
    }


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("server.drain", "10m", MAX_DRAIN_S),
        ("server.drain", "30 s", DEFAULT_DRAIN_S),
        ("models.GROUP.on_all_unavailable", "10 s", Retry().max_wait_s),
        ("retry.budget_base", "10 s", Retry().budget_window_s),
    ],
)
def test_time_in_the_explanation_of_a_key_is_that_of_the_code(key: str, written: str, value: float) -> None:
    assert written in " ".join(DOCUMENTED[key].values())
    assert duration_s(written.replace(" ", "")) == value


def test_documented_cap_of_attempts_is_that_of_the_code() -> None:
    assert f"at most {DEFAULT_MAX_ATTEMPTS}" in DOCUMENTED["retry.max_attempts"]["meaning, and why this default"]


def test_documented_place_of_the_records_is_that_of_the_code() -> None:
    row = DOCUMENTED["records.decisions.path"]["meaning, and why this default"]

    assert f"$XDG_STATE_HOME/{STATE_FOLDER}/{DECISIONS_FILE}" in row


# --- other tables


def test_every_kind_of_provider_is_documented_with_what_is_known_of_it() -> None:
    rows = {pages.code(row["kind"]): row for row in pages.table(PAGE, "Kinds of providers")}

    assert rows == {
        name: {
            "kind": f"`{name}`",
            "`base_url`": f"`{kind.base_url}`" if kind.base_url else "must be given",
            "key": f"`{kind.key_variable}`" if kind.key_variable else "none",
            "idle connections are kept for": f"{kind.idle_connection_s:g} s",
            "listed prices": f"`{kind.catalogue}`" if kind.catalogue else "none",
            "dialects": ", ".join(f"`{dialect}`" for dialect in Dialect if dialect in kind.dialects),
            "counts tokens": "yes" if kind.counts_tokens else "no",
        }
        for name, kind in KINDS.items()
    }


def test_every_dialect_is_documented_with_its_path() -> None:
    rows = {pages.code(row["dialect"]): pages.codes(row["paths"]) for row in pages.table(PAGE, "Dialects")}

    assert {name: paths[0] for name, paths in rows.items()} == {
        dialect.value: f"POST /v1{codec.path}" for dialect, codec in DIALECTS.items()
    }
    assert f"POST /v1{count_tokens.PATH}" in rows["anthropic_messages"]
    assert f"within {count_tokens.PATIENCE_S:g} s" in pages.text(PAGE)


def test_every_path_of_a_stored_response_is_documented() -> None:
    rows = [pages.code(row["path"]) for row in pages.table(PAGE, "Stored responses")]

    assert rows == [f"{method} /v1{stored_responses.PATH}ID{part}" for method, part in stored_responses.SERVED]
    assert f"the {MAX_KEPT:,} answers" in " ".join(pages.text(PAGE).split())


def test_documented_version_of_anthropic_is_the_one_sent() -> None:
    ((name, version),) = KINDS["anthropic"].headers.items()

    assert f"`{name}: {version}`" in pages.text(PAGE)


def test_every_strategy_is_documented() -> None:
    rows = [pages.code(row["strategy"]) for row in pages.table(PAGE, "Strategies")]

    assert rows == [*STRATEGIES, ADAPTIVE]
    assert rows == CHOICES["models.GROUP.strategy"]


FIXED = {
    f"{type(struct).__name__}.{name}": getattr(struct, name)
    for struct, prefixes in (
        (Cooldown(), ("cooldown.",)),
        (Retry(), ("retry.",)),
        (
            EdgeLimits(DEFAULT_BODY_LIMIT_BYTES, DEFAULT_MAX_CONNECTIONS, DEFAULT_STRANGERS_PER_ADDRESS),
            ("server.limits.", "server."),
        ),
        (UpstreamLimits(), ()),
        (Timeouts(), ("timeouts.",)),
    )
    for name in struct.__struct_fields__
    if getattr(struct, name) is not None  # what only other strategies have is in docs/strategies.md
    and not any(prefix + re.sub(r"_(s|bytes)$", "", name) in SCHEMA or prefix + name in SCHEMA for prefix in prefixes)
}
FIXED_ROWS = {pages.code(row["name"]): row["value"] for row in pages.table(PAGE, "Values without a key")}


def test_every_value_without_a_key_is_documented_and_no_other() -> None:
    assert sorted(FIXED_ROWS) == sorted(FIXED)


@pytest.mark.parametrize("name", FIXED)
def test_documented_value_without_a_key_is_that_of_the_code(name: str) -> None:
    assert value_of(FIXED_ROWS[name]) == FIXED[name]


def value_of(written: str) -> float:
    plain = written.replace(" ", "")
    if plain.endswith("iB"):
        return size_bytes(plain)
    return duration_s(plain) if plain.endswith("s") else float(plain)


# --- the text above the tables


@pytest.mark.parametrize(("written", "seconds"), [("250ms", 0.25), ("30s", 30.0), ("5m", 300.0), ("1h", 3600.0)])
def test_documented_spelling_of_a_duration_is_read(written: str, seconds: float) -> None:
    assert f"`{written}`" in pages.section(PAGE, "Values")
    assert duration_s(written) == seconds


@pytest.mark.parametrize(("written", "count"), [("16KiB", 16 << 10), ("32MiB", 32 << 20), ("1GiB", 1 << 30)])
def test_documented_spelling_of_a_size_is_read(written: str, count: int) -> None:
    assert f"`{written}`" in pages.section(PAGE, "Values")
    assert size_bytes(written) == count


def test_documented_variable_sets_the_documented_key(tmp_path: Path) -> None:
    (found,) = re.findall(r"`(POINTSMAN__\w+)=([^`]+)` is `([^`]+)`", pages.text(PAGE))
    variable, value, key = found
    file = tmp_path / "pointsman.yaml"
    file.write_text(example_with_groups(), encoding="utf-8")

    loaded = load(file, environ={**ENVIRONMENT, variable: value})

    assert key == "server.listen"
    assert str(loaded.settings.listen) == value


# --- pointsman.example.yaml


def example_with_groups() -> str:
    return EXAMPLE.read_text(encoding="utf-8")


def test_example_file_is_valid_and_warns_of_nothing() -> None:
    loaded = load(EXAMPLE, environ=ENVIRONMENT)

    assert loaded.warnings == ()
    assert loaded.snapshot.groups


def test_example_file_shows_the_defaults_of_all_that_is_no_provider_and_no_group() -> None:
    written = yaml.safe_load(example_with_groups())
    only_required = ConfigFile.model_validate({"version": 1, "auth": {"mode": "none"}})
    full = ConfigFile.model_validate({**written, "providers": {}, "models": {}})

    assert full == only_required
    assert settings_of(full, Path("/"), ENVIRONMENT) == settings_of(only_required, Path("/"), ENVIRONMENT)


@pytest.mark.parametrize("key", [key for key in SCHEMA if not key.startswith(("providers.", "models.", "auth.keys["))])
def test_example_file_shows_every_key_that_is_no_providers_and_no_groups(key: str) -> None:
    node: Any = yaml.safe_load(example_with_groups())
    for name in key.split("."):
        assert isinstance(node, Mapping)
        assert name in node
        node = node[name]


def test_settings_have_no_field_without_a_key() -> None:
    settings = settings_of(ConfigFile.model_validate({"version": 1, "auth": {"mode": "none"}}), Path("/"), ENVIRONMENT)
    keys_of_the_process = {
        key for key in SCHEMA if key.startswith(("server.", "records.", "logs.")) or key == "auth.admin_token"
    }
    keys_of_requests = {"server.response_headers"}  # part of the snapshot

    assert len(msgspec.structs.fields(settings)) == len(keys_of_the_process - keys_of_requests)


@pytest.mark.parametrize("example", pages.blocks(pages.text("README.md"), "yaml"))
def test_shares_that_the_readme_promises_are_those_of_its_example(example: str, tmp_path: Path) -> None:
    file = tmp_path / "pointsman.yaml"
    file.write_text(example, encoding="utf-8")

    (group,) = load(file, environ=ENVIRONMENT).snapshot.groups.values()

    assert group.policy.strategy == "weighted"
    assert [member.weight for member in group.members] == [70, 30]
    assert "70 % of the requests to one provider, 30 % to the other" in pages.text("README.md")
