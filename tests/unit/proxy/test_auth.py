"""The key in a request's headers becomes its caller, or a refusal that tells nothing."""

import pytest

from pointsman.domain.errors import GatewayError
from pointsman.domain.request import Caller, Scope
from pointsman.http1.header_block import HeaderBlock
from pointsman.proxy.auth import MAX_KEY_BYTES, caller_of
from pointsman.testing import builders, keys

KEY, OTHER_KEY = "pm_of-alice", "pm_of-bob"
ALICE = builders.caller("alice")
RING = keys.ring({KEY: ALICE, OTHER_KEY: builders.caller("bob")})
NOW_UTC_S = 1_800_000_000.0

VALID = [
    (f"Authorization: Bearer {KEY}",),
    (f"authorization: bearer {KEY}",),
    (f"AUTHORIZATION: BEARER   {KEY}",),
    (f"X-Api-Key: {KEY}",),
    (f"api-key: {KEY}",),
    (f"x-api-key:\t{KEY} ",),
    (f"Authorization: Bearer {KEY}", f"x-api-key: {KEY}", f"api-key: {KEY}"),
]
MISSING = [
    (),
    ("Authorization: Bearer ",),
    ("Authorization: Bearer",),
    ("x-api-key:",),
    (f"Authorization: Basic {KEY}",),
    (f"Authorization: {KEY}",),
    (f"Authorization: Bearer {KEY} {KEY}",),
    (f"Proxy-Authorization: Bearer {KEY}",),
    (f"Cookie: x-api-key={KEY}",),
    (f"x-goog-api-key: {KEY}",),
]
WRONG = [
    ("Authorization: Bearer sk-wrong",),
    (f"x-api-key: {KEY[:-1]}",),
    (f"x-api-key: {KEY}x",),
    (f"x-api-key: {KEY.upper()}",),
    (f"x-api-key: Bearer {KEY}",),
    (f"x-api-key: {KEY}", f"x-api-key: {KEY}"),
    ("x-api-key: ' OR '1'='1",),
    (f"x-api-key: {'x' * 30_000}",),
]
CONFLICT = [
    (f"Authorization: Bearer {KEY}", f"x-api-key: {OTHER_KEY}"),
    (f"Authorization: Bearer {KEY}", "api-key: wrong"),
    (f"x-api-key: {KEY}", "api-key:"),
    (f"Authorization: Basic {KEY}", f"x-api-key: {KEY}"),
]


def caller(*lines: str, needs: Scope | None = Scope.CHAT) -> Caller:
    return caller_of(RING, headers(*lines), needs, NOW_UTC_S)


def headers(*lines: str) -> HeaderBlock:
    return HeaderBlock("\r\n".join(["", "Host: a", *lines, ""]).encode("latin-1"))


def refusal(*lines: str) -> GatewayError:
    with pytest.raises(GatewayError) as caught:
        caller(*lines)
    return caught.value


@pytest.mark.bug("N-05")
@pytest.mark.parametrize("lines", VALID)
def test_key_is_taken_from_each_header_that_sdks_use(lines: tuple[str, ...]) -> None:
    assert caller(*lines) is ALICE


@pytest.mark.bug("N-05")
@pytest.mark.parametrize(
    ("lines", "beginning"),
    [
        *((lines, "There is no API key") for lines in MISSING),
        *((lines, "This API key is not valid") for lines in WRONG),
        *((lines, "This request carries different API keys") for lines in CONFLICT),
    ],
)
def test_everything_else_is_refused_and_told_why(lines: tuple[str, ...], beginning: str) -> None:
    error = refusal(*lines)

    assert (error.status, error.code, error.should_retry) == (401, "invalid_api_key", False)
    assert error.message.startswith(beginning)


@pytest.mark.case("T98", "I14")
@pytest.mark.bug("N-08")
@pytest.mark.parametrize("lines", [*MISSING, *WRONG, *CONFLICT])
def test_refusal_repeats_no_part_of_a_key(lines: tuple[str, ...]) -> None:
    error = refusal(*lines)

    assert not any(part in f"{error.message}{error!r}" for part in (KEY[:8], OTHER_KEY[:8], "sk-wrong", "xxx"))


@pytest.mark.case("T96")
@pytest.mark.parametrize(("length", "is_taken"), [(MAX_KEY_BYTES, True), (MAX_KEY_BYTES + 1, False)])
def test_key_of_more_than_256_bytes_is_refused_unhashed(length: int, is_taken: bool) -> None:
    key = "k" * length
    ring = keys.ring({key: ALICE})

    try:
        found = caller_of(ring, headers(f"x-api-key: {key}"), None, NOW_UTC_S)
    except GatewayError:
        assert not is_taken
    else:
        assert is_taken
        assert found is ALICE


@pytest.mark.parametrize("left_s", [0.0, -1.0])
def test_expired_key_is_refused_like_a_wrong_one_and_told_so(left_s: float) -> None:
    ring = keys.ring({KEY: ALICE}, expires_utc_s=NOW_UTC_S + left_s)

    with pytest.raises(GatewayError) as caught:
        caller_of(ring, headers(f"x-api-key: {KEY}"), None, NOW_UTC_S)

    assert (caught.value.status, caught.value.code) == (401, "invalid_api_key")
    assert caught.value.message.startswith("This API key has expired.")


def test_key_is_taken_until_it_expires() -> None:
    ring = keys.ring({KEY: ALICE}, expires_utc_s=NOW_UTC_S + 0.001)

    assert caller_of(ring, headers(f"x-api-key: {KEY}"), None, NOW_UTC_S) is ALICE


def test_missing_scope_is_named() -> None:
    watcher = builders.caller("watcher", Scope.EXPLAIN)

    with pytest.raises(GatewayError) as caught:
        caller_of(keys.ring({KEY: watcher}), headers(f"x-api-key: {KEY}"), Scope.CHAT, NOW_UTC_S)

    assert (caught.value.status, caught.value.code) == (403, "permission_denied")
    assert "lacks the scope 'chat'" in caught.value.message


def test_path_that_needs_no_scope_is_for_every_key() -> None:
    watcher = builders.caller("watcher", Scope.EXPLAIN)

    assert caller_of(keys.ring({KEY: watcher}), headers(f"x-api-key: {KEY}"), None, NOW_UTC_S) is watcher
