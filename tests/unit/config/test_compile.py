"""What a checked file becomes."""

from pathlib import Path

import pytest

from pointsman.config.load import Loaded, load
from pointsman.config.settings import Settings
from pointsman.domain.policy import (
    MARKET,
    Affinity,
    AffinityMode,
    Blend,
    Cooldown,
    Detail,
    Market,
    OnAllUnavailable,
    P2c,
    PinRecord,
    Preset,
    Retry,
    Timeouts,
)
from pointsman.domain.request import Dialect
from pointsman.domain.secret import Secret
from pointsman.domain.target import KeyStyle, Origin, Target, Terminator
from pointsman.routing.strategies import STRATEGIES
from tests.unit.config.samples import HEAD, LOCAL, NAME, VALID, load_text, refused

_FAR = "providers: {{far: {{kind: openai, api_key: {key}}}}}\nmodels: {{chat: {{targets: [{{model: far/a}}]}}}}\n"


def _group(targets: str, more: str = "") -> str:
    return f"{HEAD}{LOCAL}models: {{chat: {{targets: [{targets}]{more}}}}}\n"


def _target(loaded: Loaded) -> Target:
    return loaded.snapshot.groups["chat"].members[0].target


def test_the_least_file_has_the_documented_defaults(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, VALID, {"HOME": "/home/a"})

    assert loaded.settings == Settings(
        listen=loaded.settings.listen,
        admin_listen=loaded.settings.admin_listen,
        body_limit_bytes=32 * 1024**2,
        max_connections=10_000,
        strangers_per_address=256,
        queue_s=0.1,
        memory_bytes=None,
        stream_keepalive_s=10,
        drain_s=30,
        decisions_path=Path("/home/a/.local/state/pointsman/decisions.jsonl"),
        decisions_max_bytes=256 * 1024**2,
        decisions_max_rows=10_000,
        log_level="info",
        log_requests=False,
        admin_token=None,
    )
    assert (str(loaded.settings.listen), str(loaded.settings.admin_listen)) == ("127.0.0.1:4000", "127.0.0.1:4001")


@pytest.mark.parametrize(("written", "shown"), [("full", True), ("minimal", False)])
def test_response_headers_are_part_of_the_snapshot(tmp_path: Path, written: str, shown: bool) -> None:
    snapshot = load_text(tmp_path, f"{VALID}server: {{response_headers: {written}}}\n").snapshot

    assert snapshot.shows_details is shown


def test_policies_are_those_of_the_domain_unless_the_file_says_else(tmp_path: Path) -> None:
    snapshot = load_text(tmp_path, VALID).snapshot

    policy = snapshot.groups["chat"].policy
    assert (policy.cooldown, policy.retry, snapshot.timeouts) == (Cooldown(), Retry(), Timeouts())
    assert policy.on_all_unavailable is OnAllUnavailable.AUTO


@pytest.mark.parametrize(
    ("path", "environ", "expected"),
    [
        ("null", {"HOME": "/h"}, "/h/.local/state/pointsman/decisions.jsonl"),
        ("null", {"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/pointsman/decisions.jsonl"),
        ("null", {"HOME": "/h", "XDG_STATE_HOME": ""}, "/h/.local/state/pointsman/decisions.jsonl"),
        ("null", {"HOME": "/h", "XDG_STATE_HOME": "relative"}, "/h/.local/state/pointsman/decisions.jsonl"),
        ("/var/log/d.jsonl", {"HOME": "/h"}, "/var/log/d.jsonl"),
        ("~/d.jsonl", {"HOME": "/h"}, "/h/d.jsonl"),
        ("${PLACE}/d.jsonl", {"HOME": "/h", "PLACE": "/p"}, "/p/d.jsonl"),
    ],
)
def test_decisions_are_written_where_the_file_or_the_system_says(
    tmp_path: Path, path: str, environ: dict[str, str], expected: str
) -> None:
    text = f"{VALID}records: {{decisions: {{path: {path if '$' not in path else repr(path)}}}}}\n"

    assert load_text(tmp_path, text, environ).settings.decisions_path == Path(expected)


def test_a_relative_path_counts_from_the_file(tmp_path: Path) -> None:
    text = f"{VALID}records: {{decisions: {{path: logs/d.jsonl}}}}\n"

    assert load_text(tmp_path, text).settings.decisions_path == tmp_path / "logs" / "d.jsonl"


def test_without_a_home_the_system_is_asked_for_it(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, VALID)

    assert loaded.settings.decisions_path == Path.home() / ".local/state/pointsman/decisions.jsonl"


def test_a_group_is_found_by_its_name_and_its_aliases(tmp_path: Path) -> None:
    groups = load_text(tmp_path, _group("{model: local/a}", ", aliases: [x, y/z]")).snapshot.groups

    assert set(groups) == {"chat", "x", "y/z"}
    assert groups["x"] is groups["y/z"] is groups["chat"]
    assert (groups["chat"].name, groups["chat"].aliases) == ("chat", ("x", "y/z"))


def test_a_disabled_group_is_not_found_by_any_name(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, _group("{model: local/a}", ", aliases: [x], enabled: false"))

    assert not loaded.snapshot.groups
    assert loaded.notes == ("chat: not enabled",)


def test_nothing_of_a_snapshot_can_be_changed(tmp_path: Path) -> None:
    snapshot = load_text(tmp_path, VALID).snapshot

    with pytest.raises(TypeError):
        snapshot.groups["other"] = snapshot.groups["chat"]  # type: ignore[index]
    with pytest.raises(TypeError):
        del snapshot.providers["local"]  # type: ignore[attr-defined]


def test_the_value_of_a_header_is_never_shown(tmp_path: Path) -> None:
    text = f"{HEAD}providers:\n  p: {{kind: ollama, base_url: 'http://h:1/v1/', headers: {{X-Team-Key: hush-hush}}}}\n"

    shown = repr(load_text(tmp_path, text).snapshot.providers["p"])

    assert "X-Team-Key" in shown
    assert "hush-hush" not in shown


def test_a_provider_has_everything_that_its_entry_says(tmp_path: Path) -> None:
    text = (
        f"{HEAD}providers:\n  p: {{kind: ollama, base_url: 'http://h:1/v1/', api_key: key,\n"
        "      headers: {X-A: b, X-C: d}, terminator: lenient, timeouts: {idle: 7s}}\n"
    )

    provider = load_text(tmp_path, text).snapshot.providers["p"]

    assert (provider.name, provider.kind) == ("p", "ollama")
    assert (provider.origin, provider.path_prefix) == (Origin("http", "h", 1), "/v1")
    assert provider.api_key == Secret("key")
    assert provider.headers == (("X-A", Secret("b")), ("X-C", Secret("d")))
    assert provider.terminator is Terminator.LENIENT
    assert provider.timeouts == Timeouts(idle_s=7)


@pytest.mark.parametrize(
    ("kind", "origin", "path_prefix", "idle"),
    [
        ("openai", Origin("https", "api.openai.com", 443), "/v1", 60),
        ("openrouter", Origin("https", "openrouter.ai", 443), "/api/v1", 60),
    ],
)
def test_vendors_have_an_address_by_default(
    tmp_path: Path, kind: str, origin: Origin, path_prefix: str, idle: float
) -> None:
    provider = load_text(tmp_path, f"{HEAD}providers: {{p: {{kind: {kind}}}}}\n").snapshot.providers["p"]

    assert (provider.origin, provider.path_prefix, provider.idle_connection_s) == (origin, path_prefix, idle)
    assert provider.api_key is None


@pytest.mark.parametrize("kind", ["vllm", "llamacpp", "ollama"])
def test_self_hosted_providers_are_complete_without_a_key(tmp_path: Path, kind: str) -> None:
    loaded = load_text(tmp_path, VALID.replace("vllm", kind))

    assert loaded.snapshot.providers["local"].idle_connection_s == 4
    assert _target(loaded).has_credential
    assert not loaded.warnings


def test_timeouts_of_a_provider_lie_over_the_common_ones_field_by_field(tmp_path: Path) -> None:
    text = VALID.replace("/v1'", "/v1', timeouts: {connect: 1s}") + "timeouts: {idle: 9s}\n"

    snapshot = load_text(tmp_path, text).snapshot

    assert snapshot.timeouts == Timeouts(idle_s=9)
    assert snapshot.providers["local"].timeouts == Timeouts(idle_s=9, connect_s=1)


@pytest.mark.parametrize(
    ("target", "public_id", "model"),
    [
        ("{model: local/a}", "local/a", "a"),
        ("{model: local/org/a}", "local/org/a", "org/a"),
        ("{provider: local, model_ref: org/a}", "local/org/a", "org/a"),
        ("{model: local/short}", "local/org/long", "org/long"),
    ],
)
def test_a_target_is_named_by_provider_and_upstream_model(
    tmp_path: Path, target: str, public_id: str, model: str
) -> None:
    text = _group(target).replace("/v1'", "/v1', models: {short: {model: org/long}}")

    found = _target(load_text(tmp_path, text))

    assert (found.id, found.provider, found.upstream_model) == (public_id, "local", model)
    assert found.state_key.startswith(f"{public_id}#")


@pytest.mark.req("R-034")
def test_an_unchanged_credential_keeps_its_state_key_over_a_reload(tmp_path: Path) -> None:
    before = _target(load_text(tmp_path, HEAD + _FAR.format(key="one")))

    after = _target(load_text(tmp_path, HEAD + _FAR.format(key="one") + "server: {drain: 5s}\ntimeouts: {idle: 1s}\n"))

    assert after.state_key == before.state_key


def test_the_position_in_a_group_is_no_part_of_the_state_key(tmp_path: Path) -> None:
    before = load_text(tmp_path, _group("{model: local/a}, {model: local/b}")).snapshot.groups["chat"]

    after = load_text(tmp_path, _group("{model: local/b}, {model: local/a}")).snapshot.groups["chat"]

    assert [m.target.state_key for m in before.members] == [m.target.state_key for m in reversed(after.members)]


@pytest.mark.bug("J-09")
@pytest.mark.parametrize(
    "change",
    ["base_url: 'https://other.example/v1', ", "headers: {x-api-key: two}, "],
    ids=["another origin", "a credential in a header"],
)
def test_another_account_is_another_state_key(tmp_path: Path, change: str) -> None:
    text = HEAD + _FAR.format(key="one")
    before = _target(load_text(tmp_path, text))

    after = _target(load_text(tmp_path, text.replace("api_key: ", f"{change}api_key: ")))

    assert after.id == before.id
    assert after.state_key != before.state_key


@pytest.mark.bug("J-09")
def test_another_credential_is_another_state_key(tmp_path: Path) -> None:
    before = _target(load_text(tmp_path, HEAD + _FAR.format(key="one")))

    after = _target(load_text(tmp_path, HEAD + _FAR.format(key="two")))

    assert after.id == before.id
    assert after.state_key != before.state_key


def test_a_state_key_does_not_tell_the_credential(tmp_path: Path) -> None:
    text = HEAD + _FAR.format(key="one")

    keys = {_target(load_text(tmp_path, text, credential_key=bytes([n]) * 16)).state_key for n in range(4)}

    assert len(keys) == 4
    assert all(len(key.partition("#")[2]) == 8 and "one" not in key for key in keys)


@pytest.mark.req("R-034")
def test_one_process_has_one_key_for_all_reloads(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(HEAD + _FAR.format(key="one"))

    first, second = (_target(load(path, environ={})).state_key for _ in range(2))

    assert first == second


@pytest.mark.parametrize(
    ("targets", "more", "strategy", "weights", "note"),
    [
        (
            "{model: local/a}",
            "",
            "failover",
            [1],
            "chat: failover (local/a) because no strategy named, and there is only",
        ),
        (
            "{model: local/a, weight: 7}",
            "",
            "weighted",
            [7],
            "chat: weighted (7) because no strategy named, and a target",
        ),
        (
            "{model: local/a}, {model: local/b}",
            "",
            "failover",
            [1, 1],
            "chat: failover (local/a, then local/b) because",
        ),
        (
            "{model: local/a}, {model: far/a}",
            "",
            "market",
            [1, 1],
            "chat: market (1/1) because no strategy named, and all",
        ),
        ("{model: local/a}, {model: far/a}", ", same_model: false", "failover", [1, 1], "targets are unlike models"),
        (
            "{model: local/a}, {model: far/b}",
            ", same_model: true",
            "market",
            [1, 1],
            "the group says that its targets",
        ),
        ("{model: local/a}, {model: far/same}", "", "market", [1, 1], "all targets are the model a"),
        (
            "{model: local/a}, {model: local/b}",
            ", strategy: round_robin",
            "round_robin",
            [1, 1],
            "chat: round_robin (1/1)",
        ),
        ("{model: local/a, weight: 2.5}, {model: local/b, weight: 1}", "", "weighted", [2.5, 1], "weighted (2.5/1)"),
        ("{model: local/a, weight: 2}, {model: local/b}", "", "weighted", [2, 1], "chat: weighted (2/1) because"),
    ],
)
def test_a_group_without_a_strategy_gets_the_safe_one_and_says_why(
    tmp_path: Path, targets: str, more: str, strategy: str, weights: list[float], note: str
) -> None:
    far = "}, far: {kind: vllm, base_url: 'http://h/v1', models: {same: {same_as: a}}}}\n"

    loaded = load_text(tmp_path, _group(targets, more).replace("}}\n", far, 1))

    group = loaded.snapshot.groups["chat"]
    assert group.policy.strategy == strategy
    assert [member.weight for member in group.members] == weights
    assert note in loaded.notes[0]
    assert group.policy.strategy_reason in loaded.notes[0]


def test_a_target_without_a_weight_beside_one_with_a_weight_is_noted(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, _group("{model: local/a, weight: 2}, {model: local/b}, {model: local/c}"))

    assert loaded.notes[1:] == ("chat: local/b, local/c has no weight and so weighs 1",)


@pytest.mark.parametrize("targets", ["{model: local/a}, {model: local/b}", "{model: local/a, weight: 2}"])
def test_groups_with_all_weights_or_none_need_no_such_note(tmp_path: Path, targets: str) -> None:
    assert len(load_text(tmp_path, _group(targets)).notes) == 1


@pytest.mark.req("D-012")
@pytest.mark.req("C-10", "C-11", "G-080", "G-089", "D-057")
@pytest.mark.parametrize(
    ("strategy", "written", "affinity"),
    [
        ("p2c", "{}", Affinity(AffinityMode.STRICT, 600, 10_000, PinRecord.SERVED)),
        ("p2c", "{ttl: 6h, max_entries: 5}", Affinity(AffinityMode.STRICT, 21_600, 5)),
        ("weighted", "{}", Affinity(AffinityMode.OFF)),
        ("round_robin", "{}", Affinity(AffinityMode.OFF)),
        ("least_busy", "{}", Affinity(AffinityMode.OFF)),
        ("blend", "{}", Affinity(AffinityMode.OFF)),
        ("weighted", "{mode: strict}", Affinity(AffinityMode.STRICT)),
        ("weighted", "{mode: prefix}", Affinity(AffinityMode.PREFIX, record=PinRecord.SELECTED)),
        ("weighted", "{mode: prefix, record: served}", Affinity(AffinityMode.PREFIX)),
        ("cost", "{mode: economic}", Affinity(AffinityMode.ECONOMIC)),
    ],
)
def test_affinity_is_that_of_the_strategy_unless_the_file_says_else(
    tmp_path: Path, strategy: str, written: str, affinity: Affinity
) -> None:
    text = _group("{model: local/a}, {model: local/b}", f", strategy: {strategy}, affinity: {written}")

    assert load_text(tmp_path, text).snapshot.groups["chat"].policy.affinity == affinity


@pytest.mark.parametrize(
    ("strategy", "mode", "details"),
    [
        ("weighted", "off", set()),
        ("least_busy", "off", set()),
        ("weighted", "strict", {Detail.SESSION}),
        ("p2c", "strict", {Detail.TEXT_SIZE, Detail.SESSION}),
        ("p2c", "off", {Detail.TEXT_SIZE, Detail.SESSION}),
        ("cost", "off", {Detail.TEXT_SIZE}),
        ("cost", "strict", {Detail.TEXT_SIZE, Detail.SESSION}),
        ("blend", "off", {Detail.TEXT_SIZE, Detail.SESSION, Detail.PREFIX}),
        ("market", "economic", {Detail.TEXT_SIZE, Detail.SESSION, Detail.PREFIX}),
    ],
)
def test_only_what_a_policy_reads_is_worked_out(tmp_path: Path, strategy: str, mode: str, details: set[Detail]) -> None:
    text = _group("{model: local/a}, {model: local/b}", f", strategy: {strategy}, affinity: {{mode: {mode}}}")

    assert load_text(tmp_path, text).snapshot.groups["chat"].policy.details == details


@pytest.mark.parametrize(("cache_read", "is_read"), [(0.1, True), (1, False)])
def test_prompts_are_compared_only_if_cached_input_costs_less(tmp_path: Path, cache_read: float, is_read: bool) -> None:
    prices = f"prices: {{overrides: {{local/a: {{input: 1, output: 2, cache_read: {cache_read}}}}}}}\n"
    text = _group("{model: local/a}, {model: local/b}", ", strategy: cost")

    details = load_text(tmp_path, text + prices).snapshot.groups["chat"].policy.details

    assert (Detail.PREFIX in details) is is_read


_TWO = _group("{model: local/a}, {model: local/b}", ", strategy: adaptive")


@pytest.mark.req("R-002", "R-003", "R-004", "C-02")
def test_one_policy_governs_every_adaptive_group(tmp_path: Path) -> None:
    written = "adaptive: {enabled: true, blend: {latency_weight: 3, exploration_ratio: 0.1}}\n"

    policy = load_text(tmp_path, _TWO + written).snapshot.groups["chat"].policy

    assert (policy.strategy, policy.selector, policy.decides) == ("adaptive", "blend", "blend")
    assert policy.blend == Blend(latency_weight=3, exploration_ratio=0.1)
    assert policy.compares_prices
    assert policy.reads == STRATEGIES["blend"].reads


@pytest.mark.req("C-02")
def test_selector_brings_its_own_affinity(tmp_path: Path) -> None:
    on, off = (
        load_text(tmp_path, f"{_TWO}adaptive: {{enabled: {enabled}, selector: p2c}}\n").snapshot.groups["chat"].policy
        for enabled in ("true", "false")
    )

    assert (on.decides, on.affinity.mode, on.p2c) == ("p2c", AffinityMode.STRICT, P2c())
    assert (off.decides, off.affinity.mode, off.p2c) == ("p2c", AffinityMode.OFF, P2c(enabled=False))


@pytest.mark.req("C-02")
def test_adaptive_market_has_its_terms_its_pauses_and_its_affinity_and_the_kill_switch(tmp_path: Path) -> None:
    on, off = (
        load_text(
            tmp_path,
            f"{_TWO}adaptive: {{enabled: {enabled}, selector: market, market: {{preset: batch, "
            "exploration: {interval: 5m}}}\n",
        )
        .snapshot.groups["chat"]
        .policy
        for enabled in ("true", "false")
    )

    assert (on.decides, on.affinity.mode, on.cooldown) == ("market", AffinityMode.ECONOMIC, MARKET)
    assert on.market == Market(preset=Preset.BATCH, probe_interval_s=300.0)
    assert (off.market.enabled, off.affinity.mode) == (False, AffinityMode.OFF)


def test_check_says_what_decides_for_an_adaptive_group_and_what_keeps_its_sessions(tmp_path: Path) -> None:
    notes = load_text(tmp_path, f"{_TWO}adaptive: {{enabled: true, selector: p2c}}\n").notes

    assert notes[1].startswith("chat: adaptive by p2c: drawn by speed and cost alike; every target keeps 0.05")
    assert notes[2] == "chat: sessions keep their targets (strict, 600 s)"


@pytest.mark.req("R-040")
def test_defaults_are_off_and_those_of_the_strategies(tmp_path: Path) -> None:
    policy = load_text(tmp_path, _TWO).snapshot.groups["chat"].policy

    assert policy.blend == Blend(enabled=False)


_CLAUDE = "providers: {{claude: {{kind: anthropic, api_key: sk-1{more}}}}}\n"
_ASKS_CLAUDE = "models: {chat: {targets: [{model: claude/m}]}}\n"


@pytest.mark.parametrize(
    ("more", "headers"),
    [
        ("", {"anthropic-version": "2023-06-01"}),
        (", headers: {X-A: b}", {"anthropic-version": "2023-06-01", "X-A": "b"}),
        (", headers: {Anthropic-Version: '2026-10-21'}", {"Anthropic-Version": "2026-10-21"}),
    ],
)
def test_anthropic_gets_its_key_and_version_in_headers_of_its_own(
    tmp_path: Path, more: str, headers: dict[str, str]
) -> None:
    provider = load_text(tmp_path, HEAD + _CLAUDE.format(more=more) + _ASKS_CLAUDE).snapshot.providers["claude"]

    assert provider.key_style is KeyStyle.X_API_KEY
    assert provider.counts_tokens
    assert {name: value.reveal() for name, value in provider.headers} == headers


@pytest.mark.parametrize(
    ("written", "dialects"),
    [
        ("", set(Dialect)),
        (", dialects: null", set(Dialect)),
        (", dialects: [openai_chat]", {Dialect.OPENAI_CHAT}),
        (", dialects: [openai_responses]", {Dialect.OPENAI_RESPONSES}),
        (", dialects: [anthropic_messages]", {Dialect.ANTHROPIC_MESSAGES}),
    ],
)
def test_dialects_are_those_of_the_kind_unless_the_file_says_else(
    tmp_path: Path, written: str, dialects: set[Dialect]
) -> None:
    text = VALID.replace("/v1'", f"/v1'{written}")

    assert _target(load_text(tmp_path, text)).dialects == dialects


@pytest.mark.parametrize("written", ["[]", "[openai]", "openai_chat", "[openai_chat, 5]"])
def test_dialects_that_nobody_speaks_are_refused(tmp_path: Path, written: str) -> None:
    error = refused(tmp_path, VALID.replace("/v1'", f"/v1', dialects: {written}"))

    assert all(each.path.startswith("providers.local.dialects") for each in error.problems)
