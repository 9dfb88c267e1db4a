"""Policy services in the configuration file."""

from pathlib import Path

import pytest

from pointsman.config.load import Loaded
from pointsman.domain.policy import External
from pointsman.domain.target import Origin
from tests.unit.config.samples import HEAD, LOCAL, load_text, problem

URL = "url: 'http://policy.internal:7000/v1/decide/'"


def text(section: str, strategy: str = "external", more: str = "") -> str:
    targets = "targets: [{model: local/a}, {model: local/b}]"
    return f"{HEAD}{LOCAL}models: {{chat: {{strategy: {strategy}, {targets}{section}{more}}}}}\n"


def loaded(tmp_path: Path, keys: str = URL) -> Loaded:
    return load_text(tmp_path, text(f", external: {{{keys}}}"))


def test_service_has_an_address_and_the_documented_defaults(tmp_path: Path) -> None:
    snapshot = loaded(tmp_path).snapshot

    service = snapshot.services["chat"]
    assert (service.origin, service.path_prefix) == (Origin("http", "policy.internal", 7000), "/v1/decide")
    assert (service.api_key, service.headers) == (None, ())
    assert snapshot.groups["chat"].policy.external == External("policy.internal:7000", 0.05)
    assert snapshot.providers.keys() == {"local"}


def test_service_without_a_path_is_asked_at_its_root(tmp_path: Path) -> None:
    assert loaded(tmp_path, "url: 'http://127.0.0.1:7000'").snapshot.services["chat"].path_prefix == "/"


def test_every_key_reaches_the_policy(tmp_path: Path) -> None:
    found = loaded(tmp_path, f"{URL}, timeout: 20ms, on_error: fail_closed, include_request: true")

    assert found.snapshot.groups["chat"].policy.external == External(
        "policy.internal:7000", 0.02, fails_closed=True, includes_request=True
    )


@pytest.mark.parametrize(
    ("on_error", "otherwise"), [("fallback", "weights do"), ("fail_closed", "requests are refused")]
)
def test_note_says_whom_the_group_asks(tmp_path: Path, on_error: str, otherwise: str) -> None:
    assert loaded(tmp_path, f"{URL}, on_error: {on_error}").notes[1] == (
        f"chat: external: policy.internal:7000 says who serves, within 50 ms; if it fails, {otherwise}"
    )


def test_strategy_without_its_section_is_refused(tmp_path: Path) -> None:
    found = problem(tmp_path, text(""))

    assert (found.path, found.message) == ("models.chat.external", "is missing: the strategy external needs it")
    assert "url: http://127.0.0.1:7000/decide" in found.fix


def test_section_without_its_strategy_has_no_effect(tmp_path: Path) -> None:
    found = load_text(tmp_path, text(f", external: {{{URL}}}", strategy="weighted"))

    assert [warning.path for warning in found.warnings] == ["models.chat.external"]
    assert (found.snapshot.services, found.snapshot.groups["chat"].policy.external) == ({}, None)


def test_group_that_is_switched_off_has_no_service(tmp_path: Path) -> None:
    assert load_text(tmp_path, text(f", external: {{{URL}}}", more=", enabled: false")).snapshot.services == {}


@pytest.mark.case("T97")
@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://user:sk-secret@a/", "http://a/?x=sk-secret", "gopher://a/"]
)
def test_address_is_held_to_the_rules_of_providers(tmp_path: Path, url: str) -> None:
    found = problem(tmp_path, text(f", external: {{url: '{url}'}}"))

    assert found.path == "models.chat.external.url"
    assert "secret" not in str(found)


def test_nobody_warns_of_unknown_prices_that_the_service_may_not_need(tmp_path: Path) -> None:
    priced = "prices: {overrides: {local/a: {input: 1, output: 2}}}\n"

    assert load_text(tmp_path, text(f", external: {{{URL}}}") + priced).warnings == ()
