"""What is known of a target, and what is looked for in requests because of it."""

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from pointsman.domain.capability import Capability
from pointsman.domain.policy import Contract, Scan
from pointsman.domain.preferences import MaxPrice, Preferences
from pointsman.domain.request import Caller
from pointsman.domain.target import ModelGroup
from pointsman.domain.traits import Traits
from pointsman.testing import keys
from tests.unit.config.samples import load_text, problem

URL = "http://127.0.0.1:8000/v1"


def document(
    model: dict[str, Any] | None = None, group: dict[str, Any] | None = None, **provider: Any
) -> dict[str, Any]:
    return {
        "version": 1,
        "auth": {"mode": "none"},
        "providers": {"local": {"kind": "vllm", "base_url": URL, "models": {"small": model or {}}, **provider}},
        "models": {"chat": {"targets": [{"provider": "local", "model_ref": "small"}], **(group or {})}},
    }


def group_of(folder: Path, **parts: Any) -> ModelGroup:
    return load_text(folder, yaml.safe_dump(document(**parts))).snapshot.groups["chat"]


def traits_of(folder: Path, **parts: Any) -> Traits:
    return group_of(folder, **parts).members[0].target.traits


def test_nothing_is_known_of_a_bare_model(tmp_path: Path) -> None:
    group = group_of(tmp_path)

    assert group.members[0].target.traits == Traits()
    assert group.policy.scan == Scan()


def test_everything_that_the_file_says_is_known(tmp_path: Path) -> None:
    model = {
        "context": 8000, "max_output": 1000, "capabilities": {"tools": True, "images": False},
        "honors_max_tokens": False, "parameters": ["top_p"], "quantization": "fp8",
        "eval": {"score": 0.8, "pass_rate": 0.9},
    }  # fmt: skip

    assert traits_of(tmp_path, model=model, data={"zdr": True, "training": False}) == Traits(
        capabilities={Capability.TOOLS: True, Capability.IMAGES: False, Capability.HONORS_MAX_TOKENS: False},
        context_tokens=8000, max_output_tokens=1000, parameters=frozenset(("top_p",)), quantization="fp8", zdr=True,
        trains=False, quality_score=0.8, pass_rate=0.9,
    )  # fmt: skip


def test_target_that_names_the_model_itself_is_known_by_any_entry_of_it(tmp_path: Path) -> None:
    found = document({"model": "qwen", "context": 8000})
    found["models"]["chat"]["targets"] = [{"model": "local/qwen"}]

    snapshot = load_text(tmp_path, yaml.safe_dump(found)).snapshot

    assert snapshot.groups["chat"].members[0].target.traits.context_tokens == 8000


@pytest.mark.parametrize(("catalogue", "is_known"), [("bundled", True), ("off", False)])
def test_window_is_looked_up_in_the_catalogue(tmp_path: Path, catalogue: str, is_known: bool) -> None:
    found = document() | {"prices": {"catalogue": catalogue}}
    found["providers"]["openai"] = {"kind": "openai", "api_key": "sk-1"}
    found["models"]["chat"]["targets"] = [{"model": "openai/gpt-4o"}]

    traits = load_text(tmp_path, yaml.safe_dump(found)).snapshot.groups["chat"].members[0].target.traits

    assert (traits.context_tokens == 128_000) is is_known


@pytest.mark.parametrize(
    ("parts", "up_to"),
    [
        ({"model": {"capabilities": {"tools": True}}}, math.inf),
        ({"model": {"capabilities": {"tools": False}}}, -1),
        ({"model": {"honors_max_tokens": False}}, -1),
        ({"model": {"max_output": 100}}, -1),
        ({"model": {"context": 100}}, 100),
        ({"group": {"strategy": "cost"}, "model": {"price": {"input": 1, "output": 1}}}, -1),
        ({"group": {"hard_filters": {"require_context_window": True}}}, -1),
        ({"group": {"hard_filters": {"require_input_modalities": True}}}, -1),
        ({"group": {"contract": {"require": ["tools"]}}}, math.inf),  # holds for every request alike
    ],
)
def test_requests_are_looked_at_only_where_something_may_come_of_it(
    tmp_path: Path, parts: dict[str, Any], up_to: float
) -> None:
    assert group_of(tmp_path, **parts).policy.scan.plain_up_to_tokens == up_to


@pytest.mark.req("D-013")
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("require_input_modalities", {Capability.IMAGES, Capability.AUDIO, Capability.FILES}),
        ("require_tool_support_when_tools_present", {Capability.TOOLS}),
        ("require_forced_tool_choice_support", {Capability.FORCED_TOOLS}),
        ("require_structured_output_support", {Capability.STRUCTURED_OUTPUT}),
        ("require_reasoning_support_when_requested", {Capability.REASONING}),
        ("require_honors_max_tokens_when_caller_capped", {Capability.HONORS_MAX_TOKENS}),
    ],
)
def test_each_hard_filter_wants_proof_of_its_own(tmp_path: Path, key: str, expected: set[Capability]) -> None:
    assert group_of(tmp_path, group={"hard_filters": {key: True}}).policy.requires == expected


def test_contract_and_tags_are_those_of_the_file(tmp_path: Path) -> None:
    floor = {"require_tags": ["validated"], "min_eval_quality_score": 0.7, "min_eval_pass_rate": 0.9}
    group = group_of(tmp_path, group={"contract": {"require": ["tools"], "quality_floor": floor}})

    assert group.policy.contract == Contract(
        frozenset((Capability.TOOLS,)), frozenset(("validated",)), min_quality_score=0.7, min_pass_rate=0.9
    )


# --- keys


def caller_of(folder: Path, **entry: Any) -> Caller:
    key = {"name": "ci", "hash": f"hmac-sha256:{'1' * 64}", **entry}
    found = document() | {"auth": {"mode": "keys", "pepper": keys.PEPPER, "keys": [key]}}
    ring = load_text(folder, yaml.safe_dump(found)).snapshot.keys
    assert ring is not None
    return next(iter(ring.keys.values())).caller


def test_key_without_limits_has_no_policy(tmp_path: Path) -> None:
    assert caller_of(tmp_path).policy is None


def test_limits_of_a_key_are_its_policy(tmp_path: Path) -> None:
    caller = caller_of(tmp_path, providers=["local"], zdr=True, max_price={"completion": 5})

    assert caller.policy == Preferences(only=(("local",),), zdr=True, max_prices=(MaxPrice(completion=5.0),))


def test_key_may_list_a_single_target(tmp_path: Path) -> None:
    assert caller_of(tmp_path, models=["chat", "local/any"]).groups == {"chat", "local/any"}


def test_key_without_any_provider_is_refused(tmp_path: Path) -> None:
    key = {"name": "ci", "hash": f"hmac-sha256:{'1' * 64}", "providers": []}
    found = document() | {"auth": {"mode": "keys", "pepper": keys.PEPPER, "keys": [key]}}

    assert problem(tmp_path, yaml.safe_dump(found)).path == "auth.keys[0].providers"
