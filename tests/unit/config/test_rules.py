"""Rules that concern several keys at once, beyond the table of broken files."""

from pathlib import Path

import pytest
from msgspec import structs

from pointsman.config.rules import needs_key
from pointsman.config.schema import ProviderEntry
from pointsman.domain.policy import STRICT, On429, Timeouts
from pointsman.routing.strategies import SELECTORS
from tests.unit.config.samples import CHAT, HASH, HEAD, KEYS, LOCAL, VALID, load_text, problem, refused

ELSEWHERE = ["0.0.0.0:5000", "'[::]:5000'", "10.0.0.1:5000", "gateway.example:5000"]


@pytest.mark.parametrize("listen", ["127.0.0.1:4000", "127.1.2.3:4000", "'[::1]:4000'", "localhost:4000"])
def test_loopback_addresses_need_no_authentication(tmp_path: Path, listen: str) -> None:
    assert load_text(tmp_path, f"{VALID}server: {{listen: {listen}}}\n").settings.listen.port == 4000


@pytest.mark.bug("J-02")
@pytest.mark.parametrize("address", ELSEWHERE)
def test_an_open_door_is_refused_everywhere_else(tmp_path: Path, address: str) -> None:
    found = problem(tmp_path, f"{VALID}server: {{listen: {address}}}\n")

    assert found.path == "server.listen"
    assert found.message == "with `auth: {mode: none}` only loopback addresses are allowed"
    assert found.fix == "Write `auth: {mode: keys}`, or listen on 127.0.0.1:5000."


@pytest.mark.parametrize("address", ELSEWHERE)
def test_a_door_with_keys_may_be_anywhere(tmp_path: Path, address: str) -> None:
    loaded = load_text(tmp_path, f"{KEYS}{LOCAL}{CHAT}server: {{listen: {address}}}\n")

    assert loaded.settings.listen.port == 5000


@pytest.mark.parametrize("head", [HEAD, KEYS])
@pytest.mark.parametrize("address", ELSEWHERE)
def test_without_an_admin_token_the_admin_listener_stays_on_loopback(tmp_path: Path, head: str, address: str) -> None:
    found = problem(tmp_path, f"{head}{LOCAL}{CHAT}server: {{admin_listen: {address}}}\n")

    assert found.path == "server.admin_listen"
    assert found.message == "without an admin token only loopback addresses are allowed"
    assert found.fix == "Set `auth.admin_token`, or listen on 127.0.0.1:5000."


@pytest.mark.parametrize("mode", ["none", "keys"])
@pytest.mark.parametrize("address", ELSEWHERE)
def test_admin_listener_with_a_token_may_be_anywhere(tmp_path: Path, mode: str, address: str) -> None:
    head = f"version: 1\nauth: {{mode: {mode}, pepper: pepper-0123456789, admin_token: '{HASH}'}}\n"

    loaded = load_text(tmp_path, f"{head}{LOCAL}{CHAT}server: {{admin_listen: {address}}}\n")

    assert loaded.settings.admin_listen.port == 5000


def test_faulty_admin_token_is_the_only_problem_of_an_address_that_needs_one(tmp_path: Path) -> None:
    head = "version: 1\nauth: {mode: none, pepper: pepper-0123456789, admin_token: secret}\n"

    assert problem(tmp_path, f"{head}{LOCAL}{CHAT}server: {{admin_listen: 0.0.0.0:5000}}\n").path == "auth.admin_token"


def test_an_unreadable_mode_is_not_taken_for_an_open_door(tmp_path: Path) -> None:
    text = VALID.replace("mode: none", "mode: kyes") + "server: {listen: 0.0.0.0:5000}\n"

    assert problem(tmp_path, text).path == "auth.mode"


def test_both_addresses_may_leave_the_port_to_the_system(tmp_path: Path) -> None:
    text = f"{VALID}server: {{listen: 127.0.0.1:0, admin_listen: 127.0.0.1:0}}\n"

    loaded = load_text(tmp_path, text)

    assert loaded.settings.listen == loaded.settings.admin_listen


def test_the_drain_may_take_10_minutes(tmp_path: Path) -> None:
    assert load_text(tmp_path, f"{VALID}server: {{drain: 10m}}\n").settings.drain_s == 600


def test_pauses_may_be_of_one_length(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, f"{VALID}cooldown: {{base: 1m, max: 1m}}\n")

    assert loaded.snapshot.groups["chat"].policy.cooldown.max_s == 60


@pytest.mark.parametrize("total", ["10s", "60s", "299s"])
def test_defaults_may_be_longer_than_a_short_request(tmp_path: Path, total: str) -> None:
    loaded = load_text(tmp_path, f"{VALID}timeouts: {{total: {total}}}\n")

    assert loaded.snapshot.timeouts.first_content_s == Timeouts().first_content_s


@pytest.mark.parametrize("key", ["connect", "first_content", "first_content_reasoning", "idle", "idle_reasoning"])
def test_a_written_limit_may_be_as_long_as_the_whole_request(tmp_path: Path, key: str) -> None:
    text = f"{VALID}timeouts: {{{key}: 10m, total: 10m, total_stream: 10m}}\n"

    loaded = load_text(tmp_path, text)

    assert getattr(loaded.snapshot.timeouts, f"{key}_s") == 600


@pytest.mark.parametrize("key", ["connect", "first_content", "first_content_reasoning", "idle", "idle_reasoning"])
def test_a_written_limit_is_not_longer_than_the_whole_request(tmp_path: Path, key: str) -> None:
    text = f"{VALID}timeouts: {{{key}: 11m, total: 10m, total_stream: 10m}}\n"

    found = problem(tmp_path, text)

    assert found.path == f"timeouts.{key}"
    assert "is longer than the whole request" in found.message
    assert "of 600 s" in found.message


@pytest.mark.parametrize("key", ["idle", "idle_reasoning"])
def test_idle_limits_concern_streams_only(tmp_path: Path, key: str) -> None:
    loaded = load_text(tmp_path, f"{VALID}timeouts: {{{key}: 20m}}\n")

    assert getattr(loaded.snapshot.timeouts, f"{key}_s") == 1200


def test_a_limit_is_not_compared_with_a_faulty_one(tmp_path: Path) -> None:
    found = refused(tmp_path, f"{VALID}timeouts: {{total: never, connect: 20m}}\n").problems

    assert [each.path for each in found] == ["timeouts.total"]


def test_a_limit_of_a_provider_is_compared_with_the_whole_request(tmp_path: Path) -> None:
    text = VALID.replace("/v1'", "/v1', timeouts: {connect: 30s}") + "timeouts: {total: 20s}\n"

    found = problem(tmp_path, text)

    assert found.path == "providers.local.timeouts.connect"
    assert found.fix == "Lower it, or raise `timeouts.total`."


def test_headers_that_differ_in_case_only_are_named_both(tmp_path: Path) -> None:
    text = VALID.replace("/v1'", "/v1', headers: {X-Title: a, x-title: b, X-Other: c}")

    found = refused(tmp_path, text).problems

    assert [each.path for each in found] == ["providers.local.headers.X-Title", "providers.local.headers.x-title"]
    assert {each.fix for each in found} == {"Keep one spelling of it."}


def test_a_missing_address_is_not_asked_for_beside_a_faulty_one(tmp_path: Path) -> None:
    text = VALID.replace("http://127.0.0.1:8000/v1", "nowhere")

    found = refused(tmp_path, text).problems

    assert [each.message for each in found] == ["must be an http or https URL"]


@pytest.mark.parametrize(("kind", "variable"), [("openai", "OPENAI_API_KEY"), ("openrouter", "OPENROUTER_API_KEY")])
def test_a_vendor_without_a_key_is_a_warning(tmp_path: Path, kind: str, variable: str) -> None:
    text = f"{HEAD}providers:\n  far: {{kind: {kind}}}\nmodels: {{chat: {{targets: [{{model: far/a}}]}}}}\n"

    loaded = load_text(tmp_path, text)

    assert [(each.path, each.line, each.fix) for each in loaded.warnings] == [
        ("providers.far.api_key", 4, f"Write api_key: ${{{variable}}}.")
    ]
    assert not loaded.snapshot.groups["chat"].members[0].target.has_credential


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"kind": "openai"}, True),
        ({"kind": "openai", "base_url": "https://API.openai.com:443/v2"}, True),
        ({"kind": "openai", "base_url": "http://api.openai.com/v1"}, False),
        ({"kind": "openai", "base_url": "https://proxy.example/v1"}, False),
        ({"kind": "vllm", "base_url": "https://api.openai.com/v1"}, False),
    ],
)
def test_only_the_own_address_of_a_vendor_wants_a_key(entry: dict[str, str], expected: bool) -> None:
    assert needs_key(ProviderEntry.model_validate(entry)) is expected


@pytest.mark.parametrize("models", ["", "models: {}\n"])
def test_a_file_without_groups_is_a_warning(tmp_path: Path, models: str) -> None:
    loaded = load_text(tmp_path, HEAD + LOCAL + models)

    assert [each.message for each in loaded.warnings] == ["there is no model group: nothing can be asked for"]


def test_no_missing_group_is_told_beside_a_faulty_one(tmp_path: Path) -> None:
    found = refused(tmp_path, f"{HEAD}{LOCAL}models: {{chat: {{targets: 5}}}}\n").problems

    assert [each.path for each in found] == ["models.chat.targets"]


@pytest.mark.parametrize(
    ("one", "two", "message"),
    [
        ("aliases: [two], ", "", "'two' is already the name of group 'two'"),
        ("aliases: [x], ", "aliases: [x], ", "'x' is already an alias of group 'one'"),
        ("", "aliases: [one], ", "'one' is already the name of group 'one'"),
        ("enabled: false, aliases: [x], ", "aliases: [x], ", "'x' is already an alias of group 'one'"),
    ],
)
def test_a_name_belongs_to_one_group(tmp_path: Path, one: str, two: str, message: str) -> None:
    targets = "targets: [{model: local/a}]"

    found = problem(tmp_path, f"{HEAD}{LOCAL}models: {{one: {{{one}{targets}}}, two: {{{two}{targets}}}}}\n")

    assert found.message == message


@pytest.mark.parametrize(
    "targets",
    [
        "{model: local/a}, {model: local/a}",
        "{model: local/a}, {provider: local, model_ref: a}",
        "{model: local/a}, {model: local/short}",
    ],
)
def test_one_upstream_model_is_in_a_group_once(tmp_path: Path, targets: str) -> None:
    providers = LOCAL.replace("/v1'", "/v1', models: {short: {model: a}}")

    found = problem(tmp_path, f"{HEAD}{providers}models: {{chat: {{targets: [{targets}]}}}}\n")

    assert (found.path, found.message) == ("models.chat.targets[1]", "the same provider and model as targets[0]")


def test_one_model_may_be_in_several_groups(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, VALID.replace("chat: {", "other: {targets: [{model: local/small}]}, chat: {"))

    assert len(loaded.snapshot.groups) == 2


def test_a_target_of_a_faulty_provider_is_no_second_problem(tmp_path: Path) -> None:
    found = refused(tmp_path, f"{HEAD}providers: 5\n{CHAT}").problems

    assert [each.path for each in found] == ["providers"]


def test_a_faulty_provider_is_still_proposed_as_the_nearest(tmp_path: Path) -> None:
    text = f"{HEAD}providers: {{local: {{kind: vlm}}}}\nmodels: {{chat: {{targets: [{{model: locl/a}}]}}}}\n"

    found = refused(tmp_path, text).problems

    assert [each.fix for each in found if each.path == "models.chat.targets[0].model"] == ["Did you mean 'local'?"]


@pytest.mark.bug("J-01")
def test_an_unknown_provider_from_a_variable_is_shown_as_the_file_has_it(tmp_path: Path) -> None:
    text = f"{HEAD}{LOCAL}models: {{chat: {{targets: [{{provider: '${{P}}', model_ref: a}}]}}}}\n"

    found = problem(tmp_path, text, {"P": "hidden"})

    assert found.message == "unknown provider '${P}'"


def test_one_weight_above_0_is_enough(tmp_path: Path) -> None:
    text = VALID.replace("{model: local/small}", "{model: local/a, weight: 0}, {model: local/b}")

    members = load_text(tmp_path, text).snapshot.groups["chat"].members

    assert [member.weight for member in members] == [0, 1]


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        (f"{VALID}server: {{admin_listen: 127.0.0.1:4000}}\n", "server.admin_listen", "`listen` has the same address"),
        (f"{VALID}server: {{drain: 601s}}\n", "server.drain", "must be at most 10m"),
        (f"{VALID}cooldown: {{base: 2m, max: 1m}}\n", "cooldown.max", "must not be below `base`, 120 s"),
        (
            f"{HEAD}providers: {{local: {{kind: vllm}}}}\n{CHAT}",
            "providers.local.base_url",
            "is missing, and vllm has no address of its own",
        ),
        (
            VALID.replace("model: local/small", "model: small"),
            "models.chat.targets[0]",
            "does not say which model of which provider",
        ),
        (VALID.replace("{model: local/small}", ""), "models.chat.targets", "there is no target"),
        (
            VALID.replace("small}", "a, weight: 0}, {model: local/b, weight: 0}"),
            "models.chat.targets",
            "all weights are 0, so nothing could serve",
        ),
    ],
)
def test_values_that_do_not_go_together_are_refused(tmp_path: Path, text: str, path: str, message: str) -> None:
    found = problem(tmp_path, text)

    assert (found.path, found.message) == (path, message)


def test_weights_are_not_summed_up_while_one_of_them_is_faulty(tmp_path: Path) -> None:
    text = VALID.replace("small}", "a, weight: 0}, {model: local/b, weight: x}")

    found = refused(tmp_path, text).problems

    assert [each.path for each in found] == ["models.chat.targets[1].weight"]


@pytest.mark.parametrize("name", ["x-api-key", "X-Api-Key"])
def test_key_of_anthropic_belongs_into_its_own_place(tmp_path: Path, name: str) -> None:
    text = VALID.replace("kind: vllm", f"kind: anthropic, headers: {{{name}: sk-1}}")

    found = problem(tmp_path, text)

    assert found.path == f"providers.local.headers.{name}"
    assert found.fix == "Remove it; the credential belongs into `api_key`."


# --- routing_policy


def _blended(policy: str, strategy: str = "blend") -> str:
    group = f"{{strategy: {strategy}, targets: [{{model: local/small}}], routing_policy: {policy}}}"
    return f"{HEAD}{LOCAL}models: {{chat: {group}}}\n"


def _two(group: str) -> str:
    """`group` begins a group, of two models without weights."""
    return f"{HEAD}{LOCAL}models: {{chat: {group}targets: [{{model: local/small}}, {{model: local/large}}]}}}}\n"


@pytest.mark.req("R-006", "R-007")
@pytest.mark.parametrize("more", ["", ", enabled: false"])
def test_blend_of_nothing_is_refused_also_while_it_is_switched_off(tmp_path: Path, more: str) -> None:
    found = problem(tmp_path, _blended(f"{{blend: {{latency_weight: 0, cost_weight: 0, load_weight: 0{more}}}}}"))

    assert found.path == "models.chat.routing_policy.blend"
    assert "enabled: false" in found.fix


@pytest.mark.req("R-006")
@pytest.mark.parametrize("weights", ["latency_weight: 0, cost_weight: 0", "cost_weight: 0, load_weight: 0"])
def test_one_weight_is_enough(tmp_path: Path, weights: str) -> None:
    assert load_text(tmp_path, _blended(f"{{blend: {{{weights}}}}}")).warnings == ()


@pytest.mark.req("R-005", "R-008", "R-021")
@pytest.mark.parametrize(
    "setting",
    ["latency_weight: 100.1", "load_weight: -1", "latency_weight: .nan", "load_weight: .inf", "exploration_ratio: 0.51",
     "min_samples: -1", "min_samples: 1.5", "min_samples: 1000001"],
)  # fmt: skip
def test_value_outside_its_bounds_is_refused_and_never_clamped(tmp_path: Path, setting: str) -> None:
    assert problem(tmp_path, _blended(f"{{blend: {{{setting}}}}}")).path.startswith("models.chat.routing_policy.blend.")


@pytest.mark.bug("J-03")
def test_settings_of_another_strategy_have_no_effect_and_are_noted(tmp_path: Path) -> None:
    (warning,) = load_text(tmp_path, _blended("{p2c: {enabled: false}}")).warnings

    assert warning.path == "models.chat.routing_policy.p2c"
    assert warning.message == "has no effect: the strategy of this group is not p2c"


def test_settings_of_a_strategy_that_nobody_named_have_an_effect(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, _two("{same_model: true, routing_policy: {market: {preset: batch}}, "))

    assert loaded.warnings == ()
    assert loaded.snapshot.groups["chat"].policy.strategy == "market"


@pytest.mark.parametrize(("more", "warned"), [("", True), ("same_model: true, ", False)])
def test_price_that_chooses_between_unlike_models_is_warned_of(tmp_path: Path, more: str, warned: bool) -> None:
    warnings = load_text(tmp_path, _two(f"{{strategy: market, {more}")).warnings

    assert [warning.path for warning in warnings] == ["models.chat.strategy"] * warned


def test_two_prices_of_a_second_are_noted(tmp_path: Path) -> None:
    policy = "{market: {seconds_worth: 1, usd_per_second: 0.01}}"

    (warning,) = load_text(tmp_path, _blended(policy, "market")).warnings

    assert warning.path == "models.chat.routing_policy.market.seconds_worth"


@pytest.mark.parametrize("worth", ["seconds_worth", "usd_per_second"])
def test_time_must_be_worth_something(tmp_path: Path, worth: str) -> None:
    (found,) = refused(tmp_path, _blended(f"{{market: {{{worth}: 0}}}}", "market")).problems

    assert found.path == f"models.chat.routing_policy.market.{worth}"


@pytest.mark.parametrize(
    ("strategy", "policy", "note"),
    [
        (
            "blend",
            "{}",
            "latency counts 1, cost 0.5 and load 0.25, 0.05 of the requests explore; by weight and load until 50",
        ),
        ("blend", "{blend: {enabled: false}}", "it is switched off, and traffic is shared by weight"),
        ("p2c", "{}", "drawn by speed and cost alike; every target keeps 0.05 of the best one's chance to be drawn"),
        ("p2c", "{p2c: {objective: cost}}", "drawn by speed and the square of the cost; "),
        ("market", "{}", "balanced: a second of waiting counts as 0.5 usual requests; 0.02 above the best"),
        ("market", "{market: {seconds_worth: 2}}", "a second of waiting counts as 2 usual requests"),
        ("market", "{market: {usd_per_second: 0.01}}", "a second of waiting counts as 0.01 USD"),
        ("market", "{market: {enabled: false}}", "it is switched off, and traffic is shared by weight"),
        ("p2c", "{p2c: {enabled: false}}", "it is switched off, and traffic is shared by weight"),
    ],
)
def test_check_says_what_a_strategy_is_going_to_do(tmp_path: Path, strategy: str, policy: str, note: str) -> None:
    notes = load_text(tmp_path, _blended(policy, strategy)).notes

    assert notes[1].startswith(f"chat: {strategy}: {note}")


def _keeping(affinity: str, strategy: str = "weighted") -> str:
    group = f"{{targets: [{{model: local/a}}, {{model: local/b}}], strategy: {strategy}, affinity: {affinity}}}"
    return f"{HEAD}{LOCAL}models: {{chat: {group}}}\n"


@pytest.mark.parametrize("strategy", ["weighted", "failover", "least_busy"])
def test_economic_affinity_needs_a_strategy_that_compares_prices(tmp_path: Path, strategy: str) -> None:
    found = problem(tmp_path, _keeping("{mode: economic}", strategy))

    assert found.path == "models.chat.affinity.mode"
    assert found.message == "economic needs a strategy that compares prices"
    assert found.fix.startswith("Write mode: strict, or one of the strategies cost")


@pytest.mark.bug("J-03")
def test_settings_of_an_affinity_that_is_off_are_noted(tmp_path: Path) -> None:
    (warning,) = load_text(tmp_path, _keeping("{ttl: 5m}")).warnings

    assert (warning.path, warning.message) == ("models.chat.affinity.ttl", "has no effect: affinity is off")


@pytest.mark.parametrize("affinity", ["{mode: sticky}", "{ttl: 0}", "{max_entries: 0}", "{record: last}"])
def test_affinity_outside_its_bounds_is_refused(tmp_path: Path, affinity: str) -> None:
    assert problem(tmp_path, _keeping(affinity, "p2c")).path.startswith("models.chat.affinity.")


_ADAPTIVE = (
    f"{HEAD}{LOCAL}models: {{chat: {{strategy: adaptive, targets: [{{model: local/a}}, {{model: local/b}}]}}}}\n"
)


@pytest.mark.req("R-004", "R-040")
def test_adaptive_groups_are_noted_while_the_policy_is_off(tmp_path: Path) -> None:
    (warning,) = load_text(tmp_path, _ADAPTIVE).warnings

    assert warning.path == "models.chat.strategy"
    assert warning.message == "adaptive routing is switched off: traffic is shared by weight"
    assert load_text(tmp_path, f"{_ADAPTIVE}adaptive: {{enabled: true}}\n").warnings == ()


@pytest.mark.req("R-006", "R-007")
@pytest.mark.parametrize("enabled", ["true", "false"])
def test_adaptive_policy_must_be_sound_even_while_it_is_off(tmp_path: Path, enabled: str) -> None:
    weights = "{latency_weight: 0, cost_weight: 0, load_weight: 0}"

    found = problem(tmp_path, f"{_ADAPTIVE}adaptive: {{enabled: {enabled}, blend: {weights}}}\n")

    assert found.path == "adaptive.blend"
    assert "enabled: false" in found.fix


@pytest.mark.req("R-005", "R-008", "R-021")
@pytest.mark.parametrize(
    "setting",
    ["latency_weight: 100.1", "load_weight: .nan", "cost_weight: .inf", "exploration_ratio: 0.51", "min_samples: -1",
     "min_samples: 1.5"],
)  # fmt: skip
def test_adaptive_value_outside_its_bounds_is_refused(tmp_path: Path, setting: str) -> None:
    assert problem(tmp_path, f"{_ADAPTIVE}adaptive: {{blend: {{{setting}}}}}\n").path.startswith("adaptive.blend.")


@pytest.mark.parametrize("selector", SELECTORS)
def test_adaptive_groups_may_have_economic_affinity(tmp_path: Path, selector: str) -> None:
    text = _keeping("{mode: economic}", "adaptive") + f"adaptive: {{enabled: true, selector: {selector}}}\n"

    assert load_text(tmp_path, text).warnings == ()


# --- benchmarks


def test_expectation_without_a_score_is_a_warning(tmp_path: Path) -> None:
    text = VALID.replace("kind: vllm", "kind: vllm, models: {small: {eval: {expected: 0.5}}}")

    (warning,) = load_text(tmp_path, text).warnings

    assert (warning.path, warning.fix) == ("providers.local.models.small.eval.expected", "Write `score`, too.")


@pytest.mark.req("O-041")
@pytest.mark.parametrize(("score", "flagged"), [(0.71, True), (0.73, False), (0.9, False)])
def test_model_that_does_far_worse_than_it_should_is_flagged(tmp_path: Path, score: float, *, flagged: bool) -> None:
    evaluated = f"kind: vllm, models: {{small: {{eval: {{score: {score}, expected: 0.8}}}}}}"

    loaded = load_text(tmp_path, VALID.replace("kind: vllm", evaluated))

    assert [member.target.flagged for member in loaded.snapshot.groups["chat"].members] == [flagged]


# --- cooldown


def test_what_is_not_written_of_a_pause_is_the_strategys(tmp_path: Path) -> None:
    text = f"{VALID}cooldown: {{on_429: retry_after_only}}\n"

    cooldown = load_text(tmp_path, text).snapshot.groups["chat"].policy.cooldown

    assert cooldown == structs.replace(STRICT, on_429=On429.RETRY_AFTER_ONLY)
