"""Values with a syntax of their own."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pointsman.config import values
from pointsman.config.settings import GIB, KIB, MIB, Address
from pointsman.config.values import BadValueError
from pointsman.domain.target import Origin

_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()))


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("250ms", 0.25),
        ("30s", 30),
        ("5m", 300),
        ("1h", 3600),
        ("1.5h", 5400),
        ("0.5", 0.5),
        ("45", 45),
        (45, 45),
        (0.25, 0.25),
    ],
)
def test_a_duration_has_a_unit_or_counts_seconds(written: object, seconds: float) -> None:
    assert values.duration_s(written) == seconds


@pytest.mark.parametrize(
    "written",
    [
        *("", "s", "0s", "-1s", "1 s", "1d", "1H", "1:30", "1e3s", "inf", "nan", "1s1s", "30s\n", "9" * 16, "٣s"),
        *(0, -1, math.inf, -math.inf, math.nan, 10**400, -(10**400), True, False, None, [1], {}),
    ],
)
def test_what_is_no_time_above_0_is_no_duration(written: object) -> None:
    with pytest.raises(BadValueError, match="must be a duration above 0") as raised:
        values.duration_s(written)

    assert raised.value.fix == "Write for example 250ms, 30s, 5m or 1h."


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 10**12), st.sampled_from(["ms", "s", "", "m", "h"]))
def test_every_whole_number_with_a_unit_is_a_duration(number: int, unit: str) -> None:
    seconds = values.duration_s(f"{number}{unit}")

    assert math.isclose(seconds, number * {"ms": 0.001, "s": 1, "": 1, "m": 60, "h": 3600}[unit])


@settings(derandomize=True, deadline=None)
@given(_SCALARS)
@example("9" * 5000)
def test_a_duration_is_finite_and_above_0_or_refused(written: object) -> None:
    try:
        seconds = values.duration_s(written)
    except BadValueError:
        return

    assert 0 < seconds < math.inf


@pytest.mark.parametrize(
    ("written", "size"),
    [("16KiB", 16 * KIB), ("32MiB", 32 * MIB), ("1GiB", GIB), ("1024", 1024), (1, 1), (5_000_000, 5_000_000)],
)
def test_a_size_has_a_binary_unit_or_counts_bytes(written: object, size: int) -> None:
    assert values.size_bytes(written) == size


@pytest.mark.parametrize(
    "written",
    ["", "MiB", "0MiB", "-1MiB", "1 MiB", "1MB", "1kib", "1.5MiB", "1TiB", "9" * 16, "٣", 0, -1, 1.5, True, None, [1]],
)
def test_what_is_no_number_of_bytes_above_0_is_no_size(written: object) -> None:
    with pytest.raises(BadValueError, match="must be a size above 0") as raised:
        values.size_bytes(written)

    assert "not KB or MB" in raised.value.fix


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 10**12), st.sampled_from(["", "KiB", "MiB", "GiB"]))
def test_every_whole_number_with_a_unit_is_a_size(number: int, unit: str) -> None:
    assert values.size_bytes(f"{number}{unit}") == number * {"": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB}[unit]


@settings(derandomize=True, deadline=None)
@given(_SCALARS)
def test_a_size_is_above_0_or_refused(written: object) -> None:
    try:
        size = values.size_bytes(written)
    except BadValueError:
        return

    assert size > 0


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("127.0.0.1:4000", Address("127.0.0.1", 4000)),
        ("localhost:0", Address("localhost", 0)),
        ("[::1]:65535", Address("::1", 65535)),
        ("gateway_1.example:80", Address("gateway_1.example", 80)),
    ],
)
def test_an_address_is_host_and_port(written: str, expected: Address) -> None:
    assert values.address(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        *("", "localhost", "127.0.0.1", ":4000", "localhost:", "localhost:65536", "localhost:-1", "localhost:4000 "),
        *("::1:4000", "::1", "[::1]", "[127.0.0.1]:4000", "[::g]:4000", "[1:2]:4000", "256.0.0.1:4000", "127.1:4000"),
        *("4000:4000", "a b:4000", "http://localhost:4000", 4000, None, True, ["localhost:4000"]),
    ],
)
def test_what_is_no_host_with_a_port_is_no_address(written: object) -> None:
    with pytest.raises(BadValueError, match="must be an address with a port"):
        values.address(written)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost", "LocalHost"])
def test_loopback_hosts_are_for_this_machine_only(host: str) -> None:
    assert values.is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "localhost.example", "gateway", "::ffff:1.2.3.4"])  # noqa: S104
def test_other_hosts_are_not_loopback(host: str) -> None:
    assert not values.is_loopback(host)


def test_version_1_is_the_only_format() -> None:
    assert values.version(1) == 1

    with pytest.raises(BadValueError, match="must be 1") as raised:
        values.version(2)

    assert raised.value.fix == "Write `version: 1`."


@pytest.mark.parametrize(
    ("written", "origin", "path_prefix"),
    [
        ("https://api.openai.com/v1", Origin("https", "api.openai.com", 443), "/v1"),
        ("https://api.openai.com/v1/", Origin("https", "api.openai.com", 443), "/v1"),
        ("http://host", Origin("http", "host", 80), ""),
        ("http://host/", Origin("http", "host", 80), ""),
        ("http://host//", Origin("http", "host", 80), ""),
        ("HTTP://HOST:8000/V1", Origin("http", "host", 8000), "/V1"),
        ("http://[::1]:8000/v1", Origin("http", "::1", 8000), "/v1"),
        ("http://10.0.0.1/a/b@c", Origin("http", "10.0.0.1", 80), "/a/b@c"),
    ],
)
def test_a_base_url_is_an_origin_and_a_path(written: str, origin: Origin, path_prefix: str) -> None:
    url = values.base_url(written)

    assert (url.origin, url.path_prefix) == (origin, path_prefix)


@pytest.mark.parametrize(
    ("written", "fix"),
    [
        ("", "https://api.openai.com/v1"),
        (None, "https://api.openai.com/v1"),
        (80, "https://api.openai.com/v1"),
        ("http:/host", "https://api.openai.com/v1"),
        ("http", "https://api.openai.com/v1"),
        ("file:///etc/passwd", "https://api.openai.com/v1"),
        (" http://host", "https://api.openai.com/v1"),
        ("http://", "Remove spaces"),
        ("http://ho st", "Remove spaces"),
        ("http://host/\r\nX: 1", "Remove spaces"),
        ("http://host\\@evil.example", "Remove spaces"),
        ("http://h\u00f6st", "Remove spaces"),
        ("http://host?a", "before the `?` or `#`"),
        ("http://host/#", "before the `?` or `#`"),
        ("http://key@host", "into `api_key`"),
        ("http://a:b@host", "into `api_key`"),
        ("http:///v1", "https://host:port/path"),
        ("http://:80", "https://host:port/path"),
        ("http://host:0", "https://host:port/path"),
        ("http://host:65536", "https://host:port/path"),
        ("http://host:", "https://host:port/path"),
        ("http://host:8a", "https://host:port/path"),
        ("http://[::1", "https://host:port/path"),
        ("http://300.1.1.1", "https://host:port/path"),
        ("http://2130706433", "https://host:port/path"),
    ],
)
def test_a_base_url_has_a_host_and_nothing_but_a_path_after_it(written: object, fix: str) -> None:
    with pytest.raises(BadValueError) as raised:
        values.base_url(written)

    assert fix in raised.value.fix


@settings(derandomize=True, deadline=None)
@given(st.text(max_size=40).map(lambda text: f"https://{text}"))
def test_a_base_url_names_one_valid_host_or_is_refused(written: str) -> None:
    try:
        url = values.base_url(written)
    except BadValueError:
        return

    assert url.origin.host
    assert 1 <= url.origin.port <= 65535
    assert not set("?#@ \\\r\n") & set(url.origin.host)
    assert not url.path_prefix.endswith("/")


@pytest.mark.parametrize("name", ["a", "A-z0.9", "anthropic/claude", "a:free", "x@y", "_", "n" * 200])
def test_groups_have_names_as_models_have(name: str) -> None:
    assert values.group_name(name) == name


@pytest.mark.parametrize("name", ["", "a b", "a\n", "\u00e4", "a*", "n" * 201])
def test_other_texts_are_no_names_of_groups(name: str) -> None:
    with pytest.raises(BadValueError, match="1-200 characters"):
        values.group_name(name)


@pytest.mark.parametrize("name", ["openai", "open_ai-2.x", "n" * 100])
def test_providers_have_names_without_slashes(name: str) -> None:
    assert values.provider_name(name) == name


@pytest.mark.parametrize("name", ["", "a/b", "a b", "a:b", "n" * 101])
def test_other_texts_are_no_names_of_providers(name: str) -> None:
    with pytest.raises(BadValueError, match="1-100 characters"):
        values.provider_name(name)


@pytest.mark.parametrize("name", ["gpt-5.4-nano", "org/model:free", "m" * 200])
def test_an_upstream_model_is_visible_text(name: str) -> None:
    assert values.upstream_model(name) == name


@pytest.mark.parametrize("name", ["", "a b", "a\r\nX: 1", "\u00e4", "m" * 201])
def test_a_model_name_that_could_break_a_header_is_refused(name: str) -> None:
    with pytest.raises(BadValueError, match="visible ASCII"):
        values.upstream_model(name)


def test_a_file_path_is_any_text_without_nul() -> None:
    assert values.file_path("~/a b") == "~/a b"


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_path_that_the_system_refuses_is_refused(path: str) -> None:
    with pytest.raises(BadValueError, match="path of a file"):
        values.file_path(path)


def test_a_credential_is_visible_text() -> None:
    assert values.credential("sk-1_2/3+4=") == "sk-1_2/3+4="


@pytest.mark.parametrize("key", ["", "a b", "a\n", "a\tb", "\u00e4", "\x7f"])
def test_a_credential_that_could_break_its_header_is_refused_unshown(key: str) -> None:
    with pytest.raises(BadValueError) as raised:
        values.credential(key)

    assert raised.value.message == "a key consists of visible ASCII characters without spaces"


@pytest.mark.parametrize("name", ["X-Title", "http-referer", "a", "x_y!"])
def test_a_header_name_is_a_token(name: str) -> None:
    assert values.header_name(name) == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "not a header name"),
        ("a b", "not a header name"),
        ("a:", "not a header name"),
        ("a\r\n", "not a header name"),
        ("\u00e4", "not a header name"),
        ("x" * 101, "not a header name"),
        ("Host", "sets this header itself"),
        ("content-LENGTH", "sets this header itself"),
        ("Transfer-Encoding", "sets this header itself"),
        ("authorization", "sets this header itself"),
        ("Connection", "one connection only"),
        ("Keep-Alive", "one connection only"),
        ("Upgrade", "one connection only"),
        ("TE", "one connection only"),
    ],
)
def test_headers_that_would_break_a_request_are_refused(name: str, message: str) -> None:
    with pytest.raises(BadValueError, match=message):
        values.header_name(name)


@pytest.mark.parametrize("value", ["a", "a b\tc", "https://example.org/?a=b", "\xe4\xff", "!" * 5000])
def test_a_header_value_is_a_line_of_latin_1(value: str) -> None:
    assert values.header_value(value) == value


@pytest.mark.parametrize("value", ["", " a", "a ", "\ta", "a\r\nb", "a\n", "a\0b", "\x7f", "\x85", "\u20ac"])
def test_a_header_value_that_would_break_a_request_is_refused(value: str) -> None:
    with pytest.raises(BadValueError, match="one line of Latin-1 text"):
        values.header_value(value)
