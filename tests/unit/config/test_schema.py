"""Every key of the schema has an effect (J-03). The list of keys comes from the schema itself."""

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import msgspec
import pytest
import yaml
from pydantic import BaseModel

from pointsman.config.load import Loaded
from pointsman.config.plugins import GuardedPlugin
from pointsman.config.schema import AuthSection, ConfigFile, ProviderEntry
from pointsman.domain.secret import Secret
from tests.packages import install
from tests.unit.config.samples import load_text, refused

_PRICE = {"input": 1, "output": 2, "above": [{"tokens": 1000}]}
_BASE: dict[str, Any] = {
    "version": 1,
    "auth": {
        "mode": "keys",
        "pepper": "pepper-0123456789",
        "keys": [{"name": "ci", "hash": f"hmac-sha256:{'1' * 64}"}],
    },
    "providers": {
        "one": {
            "kind": "openai",
            "models": {
                "a": {"model": "a", "price": _PRICE, "eval": {"score": 0.8, "expected": 0.8}},
                "b": {"model": "b"},
            },
        },
        "two": {"kind": "openai"},
    },
    "models": {
        "chat": {"targets": [{"provider": "one", "model_ref": "a"}, {"provider": "one", "model_ref": "b"}]},
        "listed": {"targets": [{"model": "two/gpt-5.4"}]},
        "plugin": {"strategy": "plugin", "plugin": {"name": "ours"}, "targets": [{"model": "two/gpt-5.4"}]},
        "external": {
            "strategy": "external",
            "external": {"url": "http://127.0.0.1:7000/decide"},
            "targets": [{"model": "two/gpt-5.4"}],
        },
        "dynamic_score": {
            "strategy": "dynamic_score",
            "drop_params": "warn",
            "routing_policy": {"dynamic_score": {"score_terms": [{"name": "best", "expression": "cost_score"}]}},
            "targets": [{"model": "two/gpt-5.4"}],
        },
        "adaptive": {"strategy": "adaptive", "targets": [{"model": "two/gpt-5.4"}]},
    },
    "prices": {"overrides": {"one/b": copy.deepcopy(_PRICE)}},
}
# Key path (with `*` for names and items) -> another value, at the first provider, group, target and model.
_CHANGES: dict[str, object] = {
    "server.listen": "127.0.0.1:5000",
    "server.admin_listen": "127.0.0.1:5001",
    "server.limits.body": "1MiB",
    "server.limits.connections": 5,
    "server.limits.strangers_per_address": None,
    "server.limits.queue": "1s",
    "server.limits.memory": "1GiB",
    "server.drain": "5s",
    "server.stream_keepalive": 0,
    "server.response_headers": "minimal",
    "auth.mode": "none",
    "auth.pepper": "another-pepper-0123456789",
    "auth.admin_token": f"hmac-sha256:{'3' * 64}",
    "auth.keys.*.name": "other",
    "auth.keys.*.hash": f"hmac-sha256:{'2' * 64}",
    "auth.keys.*.models": ["chat"],
    "auth.keys.*.scopes": ["explain"],
    "auth.keys.*.expires": "2027-01-31T18:00:00Z",
    "records.decisions.path": "/d.jsonl",
    "records.decisions.max_bytes": "1MiB",
    "records.decisions.max_rows": 5,
    "logs.level": "debug",
    "logs.requests": True,
    "providers.*.kind": "openrouter",
    "providers.*.base_url": "http://127.0.0.1:8000/v1",
    "providers.*.dialects": ["anthropic_messages"],
    "providers.*.api_key": "key",
    "providers.*.headers": {"X-A": "b"},
    "providers.*.timeouts.connect": "1s",
    "providers.*.timeouts.first_content": "1s",
    "providers.*.timeouts.first_content_reasoning": "1s",
    "providers.*.timeouts.idle": "1s",
    "providers.*.timeouts.idle_reasoning": "1s",
    "providers.*.terminator": "lenient",
    "providers.*.max_concurrent": 8,
    "providers.*.max_rps": 0.5,
    "providers.*.max_tpm": 60_000,
    "providers.*.models.*.model": "other",
    "providers.*.models.*.same_as": "b",
    "providers.*.models.*.embedding_space": "b",
    "providers.*.models.*.eval.score": 0.5,
    "providers.*.models.*.eval.expected": 0.9,
    "models.*.enabled": False,
    "models.*.aliases": ["other"],
    "models.*.strategy": "round_robin",
    "models.*.plugin.name": "theirs",
    "models.*.plugin.options": {"a": 1},
    "models.*.external.url": "http://127.0.0.1:7001/decide",
    "models.*.external.timeout": "100ms",
    "models.*.external.on_error": "fail_closed",
    "models.*.external.include_request": True,
    "models.*.same_model": True,
    "models.*.targets.*.provider": "two",
    "models.*.targets.*.model_ref": "c",
    "models.*.targets.*.model": "two/a",
    "models.*.targets.*.weight": 2,
    "models.*.affinity.mode": "strict",
    "models.*.affinity.ttl": "1h",
    "models.*.affinity.max_entries": 5,
    "models.*.affinity.record": "selected",
    "models.*.on_all_unavailable": "refuse",
    "auth.keys.*.max_price.prompt": 1,
    "auth.keys.*.max_price.completion": 1,
    "auth.keys.*.max_price.request": 1,
    "auth.keys.*.providers": ["one"],
    "auth.keys.*.zdr": True,
    "providers.*.models.*.context": 1000,
    "providers.*.models.*.max_output": 1000,
    "providers.*.models.*.capabilities.tools": False,
    "providers.*.models.*.capabilities.forced_tools": False,
    "providers.*.models.*.capabilities.parallel_tools": False,
    "providers.*.models.*.capabilities.structured_output": False,
    "providers.*.models.*.capabilities.images": False,
    "providers.*.models.*.capabilities.audio": False,
    "providers.*.models.*.capabilities.files": False,
    "providers.*.models.*.capabilities.reasoning": False,
    "providers.*.models.*.honors_max_tokens": False,
    "providers.*.models.*.parameters": ["top_p"],
    "providers.*.models.*.quantization": "fp8",
    "providers.*.models.*.eval.pass_rate": 0.5,
    "providers.*.data.zdr": True,
    "providers.*.data.training": False,
    "models.*.targets.*.tags": ["validated"],
    "models.*.contract.require": ["tools"],
    "models.*.contract.quality_floor.require_tags": ["validated"],
    "models.*.contract.quality_floor.min_eval_quality_score": 0.5,
    "models.*.contract.quality_floor.min_eval_pass_rate": 0.5,
    "models.*.hard_filters.require_input_modalities": True,
    "models.*.hard_filters.require_tool_support_when_tools_present": True,
    "models.*.hard_filters.require_forced_tool_choice_support": True,
    "models.*.hard_filters.require_structured_output_support": True,
    "models.*.hard_filters.require_reasoning_support_when_requested": True,
    "models.*.hard_filters.require_honors_max_tokens_when_caller_capped": True,
    "models.*.hard_filters.require_context_window": True,
    "models.*.fallbacks": ["listed"],
    "models.*.context_fallbacks": ["listed"],
    "models.*.policy_fallbacks": ["listed"],
    "models.*.drop_params": "warn",
    "models.*.routing_policy.blend.enabled": False,
    "models.*.routing_policy.blend.latency_weight": 2,
    "models.*.routing_policy.blend.cost_weight": 2,
    "models.*.routing_policy.blend.load_weight": 2,
    "models.*.routing_policy.blend.exploration_ratio": 0.1,
    "models.*.routing_policy.blend.min_samples": 10,
    "models.*.routing_policy.p2c.enabled": False,
    "models.*.routing_policy.p2c.objective": "cost",
    "models.*.routing_policy.p2c.min_weight_fraction": 0.1,
    "models.*.routing_policy.p2c.warm_cache_weight": 2,
    "models.*.routing_policy.p2c.warm_cache_ttl": "1m",
    "adaptive.enabled": True,
    "adaptive.selector": "p2c",
    "adaptive.blend.latency_weight": 2,
    "adaptive.blend.cost_weight": 2,
    "adaptive.blend.load_weight": 2,
    "adaptive.blend.exploration_ratio": 0.1,
    "adaptive.blend.min_samples": 10,
    "adaptive.p2c.objective": "cost",
    "adaptive.p2c.min_weight_fraction": 0.1,
    "adaptive.p2c.warm_cache_weight": 2,
    "adaptive.p2c.warm_cache_ttl": "1m",
    "adaptive.market.preset": "batch",
    "adaptive.market.seconds_worth": 2,
    "adaptive.market.usd_per_second": 0.001,
    "adaptive.market.eps": 0.1,
    "adaptive.market.exploration.interval": "5m",
    "adaptive.market.exploration.spend": 0.02,
    "models.*.routing_policy.market.enabled": False,
    "models.*.routing_policy.market.preset": "batch",
    "models.*.routing_policy.market.seconds_worth": 2,
    "models.*.routing_policy.market.usd_per_second": 0.001,
    "models.*.routing_policy.market.eps": 0.1,
    "models.*.routing_policy.market.exploration.interval": "5m",
    "models.*.routing_policy.market.exploration.spend": 0.02,
    **{
        f"models.*.routing_policy.dynamic_score.{key}": value
        for key, value in {
            "min_observations": 5,
            "observation_window_seconds": 60,
            "max_score_adjustment_percent": 50,
            "exploration_ratio": 0.1,
            "on_empty": "fail",
            "affinity.enabled": False,
            "affinity.ttl_seconds": 60,
            "affinity.max_entries": 5,
            "hard_filters.require_requested_api_skin": True,
            "hard_filters.require_input_modalities": True,
            "hard_filters.require_tool_support_when_tools_present": True,
            "hard_filters.require_forced_tool_choice_support": True,
            "hard_filters.require_structured_output_support": True,
            "hard_filters.require_reasoning_support_when_requested": True,
            "hard_filters.require_honors_max_tokens_when_caller_capped": True,
            "hard_filters.require_context_window": True,
            "signals.request_shape.enabled": False,
            "signals.prompt_features.enabled": False,
            "signals.prompt_features.max_scan_bytes": 100,
            "signals.prompt_features.features": ["code"],
            "signals.complexity.enabled": False,
            "signals.observed_performance.enabled": False,
            "signals.cost.enabled": False,
            "signals.evaluation_metadata.enabled": False,
            "score_terms.*.name": "other",
            "score_terms.*.when.complexity_lte": "simple",
            "score_terms.*.when.complexity_gte": "standard",
            "score_terms.*.when.prompt_feature": "code",
            "score_terms.*.require_tags": ["a"],
            "score_terms.*.prefer_tags": ["a"],
            "score_terms.*.expression": "load_score",
            "thresholds.max_error_rate": 0.03,
            "thresholds.max_timeout_rate": 0.02,
            "thresholds.max_p95_latency_ms": 10_000,
            "thresholds.max_ttfb_ms": 1_000,
            "thresholds.min_output_tokens_per_second": 5,
            "thresholds.min_samples": 5,
        }.items()
    },
    "cooldown.base": "1s",
    "cooldown.max": "10m",
    "cooldown.on_429": "retry_after_only",
    "timeouts.connect": "1s",
    "timeouts.first_content": "1s",
    "timeouts.first_content_reasoning": "1s",
    "timeouts.idle": "1s",
    "timeouts.idle_reasoning": "1s",
    "timeouts.total": "1000s",
    "timeouts.total_stream": "2h",
    "retry.max_attempts": 2,
    "retry.budget_base": 5,
    "retry.budget_ratio": 0.5,
    "prices.catalogue": "off",
    **{
        f"{price}.{key}": value
        for price in ("providers.*.models.*.price", "prices.overrides.*")
        for key, value in {
            "input": 3,
            "output": 3,
            "cache_read": 3,
            "cache_write": 3,
            "request": 3,
            "above.*.tokens": 2000,
            "above.*.input": 3,
            "above.*.output": 3,
            "above.*.cache_read": 3,
            "above.*.cache_write": 3,
        }.items()
    },
}
_ONE_VALUE_SO_FAR = {
    "version": 2,
    "models.*.routing_policy.dynamic_score.cold_start_policy": "none",
}  # nothing to change them to: other values are refused
_NAMES = {
    "auth.keys": 0,
    "providers": "one",
    "models": "chat",
    "providers.*.models": "a",
    "models.*.targets": 0,
    "models.*.routing_policy.dynamic_score.score_terms": 0,
    "prices.overrides": "one/b",
    "providers.*.models.*.price.above": 0,
    "prices.overrides.*.above": 0,
}


@pytest.fixture(autouse=True)
def _plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "class Plugin:\n    api_version = 1\n    def __init__(self, options): pass\n    def scores(self): pass\n"
    entries = {"ours": "plugin_of_schema:Plugin", "theirs": "plugin_of_schema:Plugin"}
    monkeypatch.syspath_prepend(install(tmp_path, entries, {"plugin_of_schema": code}))


def _keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner = field.annotation
        if get_origin(inner) is UnionType:
            inner = get_args(inner)[0]  # of a section that may be left out
        path = f"{prefix}{name}"
        if get_origin(inner) in (dict, list):
            item = get_args(inner)[-1]
            if isinstance(item, type) and issubclass(item, BaseModel):
                path, inner = f"{path}.*", item
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _keys(inner, f"{path}.")
        else:
            yield path


def _changed(key: str, value: object) -> dict[str, Any]:
    """The base file with one key set."""
    file = copy.deepcopy(_BASE)
    node: Any = file
    *holders, last = key.split(".")
    for depth, part in enumerate(holders):
        name = _name(holders, depth) if part == "*" else part
        node = node[name] if isinstance(name, int) else node.setdefault(name, {})
    if last == "model" and "targets" in holders:
        node.clear()  # the shorthand stands alone
    if key == "auth.mode":
        del node["keys"]  # which would protect nothing
    node[last] = value
    return file


def _name(holders: list[str], depth: int) -> str | int:
    """Sections of strategies that ask somebody have a group of their own, of the same name."""
    if depth == 1 and "dynamic_score" in holders:
        return "dynamic_score"
    named = holders[depth + 1 : depth + 2]
    return named[0] if depth == 1 and named and named[0] in _BASE["models"] else _NAMES[".".join(holders[:depth])]


def _plain(value: Any) -> Any:
    match value:
        case Secret():
            return value.reveal()
        case GuardedPlugin():
            return repr(value._identity)
        case Mapping():
            return dict(value)
        case _:
            return str(value)


def _compiled(loaded: Loaded) -> object:
    return msgspec.to_builtins((loaded.settings, loaded.snapshot), enc_hook=_plain)


def test_the_table_has_every_key_of_the_schema() -> None:
    assert sorted(_keys(ConfigFile)) == sorted([*_CHANGES, *_ONE_VALUE_SO_FAR])


@pytest.mark.bug("J-03")
@pytest.mark.parametrize(("key", "value"), _CHANGES.items(), ids=_CHANGES)
def test_every_key_changes_what_is_compiled(tmp_path: Path, key: str, value: object) -> None:
    before = _compiled(load_text(tmp_path, yaml.safe_dump(_BASE)))

    after = _compiled(load_text(tmp_path, yaml.safe_dump(_changed(key, value))))

    assert after != before


@pytest.mark.bug("J-03")
@pytest.mark.parametrize(("key", "value"), _ONE_VALUE_SO_FAR.items())
def test_a_key_with_one_value_refuses_every_other(tmp_path: Path, key: str, value: object) -> None:
    error = refused(tmp_path, yaml.safe_dump(_changed(key, value)))

    assert [problem.path for problem in error.problems] == [key.replace("*", "dynamic_score")]


@pytest.mark.bug("J-03")
@pytest.mark.parametrize("key", [*_CHANGES, *_ONE_VALUE_SO_FAR])
def test_a_typing_error_in_any_key_is_refused(tmp_path: Path, key: str) -> None:
    error = refused(tmp_path, yaml.safe_dump(_changed(f"{key}x", 1)))

    unknown = [problem for problem in error.problems if problem.message.startswith("unknown key")]
    assert [problem.fix for problem in unknown] == [f"Did you mean '{key.rpartition('.')[2]}'?"]


def test_auth_shows_neither_pepper_nor_hash() -> None:
    auth = AuthSection.model_validate(_BASE["auth"])

    assert "pepper-0123456789" not in f"{auth!r}{auth!s}"
    assert "1111" not in f"{auth!r}{auth!s}"


def test_an_entry_shows_neither_key_nor_headers() -> None:
    entry = ProviderEntry.model_validate({"kind": "openai", "api_key": "hidden", "headers": {"X-Key": "hidden"}})

    assert "hidden" not in f"{entry!r}{entry!s}"
