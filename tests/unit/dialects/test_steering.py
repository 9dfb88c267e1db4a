"""The fields that speak to the gateway: read, refused where they are not understood, and taken out of the body."""

import json
from typing import Any

import pytest

from pointsman.dialects.codec import ParsedRequest
from pointsman.dialects.registry import DIALECTS
from pointsman.domain.errors import GatewayError
from pointsman.domain.preferences import MaxPrice, Preferences, Sort
from pointsman.domain.request import Dialect

EVERY_DIALECT = pytest.mark.parametrize("codec", DIALECTS.values(), ids=DIALECTS)
CODEC = next(iter(DIALECTS.values()))


def parsed(**fields: Any) -> ParsedRequest:
    return CODEC.read_request(json.dumps({"model": "m", "messages": []} | fields).encode())


def preferences(**provider: Any) -> Preferences | None:
    return parsed(provider=provider).preferences


def refusal(**fields: Any) -> GatewayError:
    with pytest.raises(GatewayError) as raised:
        parsed(**fields)
    return raised.value


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ({}, Preferences()),
        ({"order": ["a", "b/m"]}, Preferences(order=("a", "b/m"))),
        ({"allow_fallbacks": False}, Preferences(allow_fallbacks=False)),
        ({"only": ["a"], "ignore": ["b"]}, Preferences(only=(("a",),), ignore=("b",))),
        ({"data_collection": "deny"}, Preferences(denies_training=True)),
        ({"data_collection": "allow"}, Preferences()),
        ({"zdr": True}, Preferences(zdr=True)),
        ({"quantizations": ["fp8", "unknown"]}, Preferences(quantizations=("fp8", "unknown"))),
        ({"sort": "price"}, Preferences(sort=Sort.PRICE)),
        ({"sort": "throughput"}, Preferences(sort=Sort.THROUGHPUT)),
        ({"sort": {"by": "latency"}}, Preferences(sort=Sort.LATENCY)),
        ({"sort": {"by": "price", "partition": "model"}}, Preferences(sort=Sort.PRICE)),
        ({"max_price": {"prompt": 1, "completion": "2.5"}}, Preferences(max_prices=(MaxPrice(1.0, 2.5),))),
        ({"max_price": {"request": 0}}, Preferences(max_prices=(MaxPrice(request=0.0),))),
        (dict.fromkeys(("order", "only", "ignore", "zdr", "sort", "max_price", "quantizations")), Preferences()),
        (dict.fromkeys(("allow_fallbacks", "require_parameters", "data_collection")), Preferences()),
    ],
)
def test_every_field_is_read(provider: dict[str, Any], expected: Preferences) -> None:
    assert preferences(**provider) == expected


def test_parameters_are_all_fields_but_those_that_every_target_takes() -> None:
    found = parsed(provider={"require_parameters": True}, models=[], top_p=1, tools=[], stream=True, stream_options={})

    assert found.preferences == Preferences(parameters=frozenset(("top_p", "tools")))


@EVERY_DIALECT
@pytest.mark.parametrize("said_in", ["messages", "system", "input", "instructions", "prompt"])
def test_what_is_said_is_no_parameter(codec: Any, said_in: str) -> None:
    body = {"model": "m", said_in: [], "top_p": 1, "provider": {"require_parameters": True}}

    found = codec.read_request(json.dumps(body).encode())

    assert found.preferences == Preferences(parameters=frozenset(("top_p",)))


def test_models_are_groups_to_turn_to() -> None:
    assert parsed(models=["b", "c"]).preferences == Preferences(models=("b", "c"))


@EVERY_DIALECT
def test_request_without_them_has_no_preferences(codec: Any) -> None:
    assert codec.read_request(b'{"model":"m","messages":[]}').preferences is None


@pytest.mark.parametrize("field", ["provider", "models"])
def test_null_is_taken_out_and_says_nothing(field: str) -> None:
    found = parsed(**{field: None})

    assert (found.preferences, found.facts.preferences) == (Preferences(), ())
    assert field not in json.loads(found.body)


def test_record_names_the_preferences_but_not_their_values() -> None:
    found = parsed(provider={"order": ["a"], "zdr": True, "only": None}, models=["b"])

    assert found.facts.preferences == ("order", "zdr", "models")


@pytest.mark.parametrize(
    "provider",
    [
        {"ordr": ["a"]},
        {"preferred_min_throughput": 10},
        {"order": []},
        {"only": []},
        {"order": ["a"] * 33},
        {"only": [""]},
        {"quantizations": ["fp9"]},
        {"sort": "exacto"},
        {"sort": {"by": "price", "partition": "none"}},
        {"data_collection": "maybe"},
        {"max_price": {"image": 1}},
        {"max_price": {"prompt": -1}},
        {"max_price": {"prompt": "dear"}},
        {"max_price": {"prompt": "nan"}},
        {"max_price": {"prompt": "inf"}},
        {"zdr": 1},
        "openai",
    ],
)
def test_what_is_not_understood_is_refused(provider: Any) -> None:
    found = refusal(provider=provider)

    assert (found.status, found.param) == (400, "provider")
    assert "'provider" in found.message


def test_refusal_says_what_there_is() -> None:
    assert "It takes order, allow_fallbacks, " in refusal(provider={"ordr": ["a"]}).message


@pytest.mark.parametrize("models", ["b", [1], [""], ["m"] * 33])
def test_models_that_are_no_names_are_refused(models: Any) -> None:
    assert refusal(models=models).param == "models"


@EVERY_DIALECT
@pytest.mark.bug("D-06")
@pytest.mark.parametrize(
    ("body", "rest"),
    [
        (b'{"provider":{},"model":"m","x":1.0}', b'{"model":"m","x":1.0}'),
        (b'{"model":"m","provider":{"zdr":true}}', b'{"model":"m"}'),
        (b'{"model":"m","provider":{},"x":1e3}', b'{"model":"m","x":1e3}'),
        (b'{"models":[],"provider":{},"model":"m"}', b'{"model":"m"}'),
        (b'{"model":"m","models":[],"provider":{}}', b'{"model":"m"}'),
        (b'{"models":[],"model":"m","provider":{}}', b'{"model":"m"}'),
        (b' { "provider" : { } , "model" : "m" , "x" : "\\u00e9" } ', b' { "model" : "m" , "x" : "\\u00e9" } '),
        (b'{ "model" : "m" , "provider" : { "only" : ["a"] } }', b'{ "model" : "m" }'),
        (b'{"pro\\u0076ider":{},"model":"m"}', b'{"model":"m"}'),
    ],
)
def test_they_are_taken_out_and_every_other_byte_stays(codec: Any, body: bytes, rest: bytes) -> None:
    found = codec.read_request(body)

    assert found.body == rest
    assert found.facts.body_bytes == len(rest)
    assert codec.write_request(found, "m") == rest


@pytest.mark.case("I18")
def test_preferences_that_are_given_twice_are_refused() -> None:
    with pytest.raises(GatewayError) as raised:
        CODEC.read_request(b'{"provider":{"zdr":true},"model":"m","provider":{}}')

    assert raised.value.param == "provider"


def test_usage_of_a_stream_is_still_asked_for() -> None:
    found = CODEC.read_request(b'{"provider":{},"model":"m","stream":true}')

    assert json.loads(CODEC.write_request(found, "n")) == {
        "model": "n", "stream": True, "stream_options": {"include_usage": True},
    }  # fmt: skip


@pytest.mark.bug("D-03")
def test_request_with_preferences_still_builds_on_what_it_names() -> None:
    body = b'{"provider":{},"model":"m","previous_response_id":"resp_1"}'

    assert DIALECTS[Dialect.OPENAI_RESPONSES].read_request(body).builds_on == ("resp_1",)
