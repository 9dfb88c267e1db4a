"""The key ring: finds callers by their keys, and shows nothing of either."""

import ast
import hashlib
import hmac
import inspect

import pytest
from msgspec import structs

from pointsman.domain import access
from pointsman.domain.access import digest_of
from pointsman.domain.secret import Secret
from pointsman.proxy import auth
from pointsman.testing import builders, keys

KEY, OTHER_KEY = "pm_of-alice", "pm_of-bob"
ALICE, BOB = builders.caller("alice"), builders.caller("bob")
RING = keys.ring({KEY: ALICE, OTHER_KEY: BOB})


@pytest.mark.parametrize(("key", "caller"), [(KEY, ALICE), (OTHER_KEY, BOB)])
def test_key_finds_its_own_caller(key: str, caller: object) -> None:
    found = RING.find(key.encode())

    assert found is not None
    assert found.caller is caller


@pytest.mark.case("T96")
@pytest.mark.bug("N-03")
@pytest.mark.parametrize(
    "presented",
    [
        b"", KEY.encode()[:-1], KEY.encode() + b"x", KEY.upper().encode(), b" " + KEY.encode(), KEY.encode() + b"\x00",
        b"' OR '1'='1", b"%", b"*", "schl\u00fcssel".encode(), b"\xff\xfe", b"x" * 1_000_000,
        digest_of(KEY.encode(), Secret(keys.PEPPER)).encode(), b"0" * 64, keys.PEPPER.encode(),
    ],
)  # fmt: skip
def test_nothing_else_finds_anybody(presented: bytes) -> None:
    assert RING.find(presented) is None


@pytest.mark.case("T96")
def test_key_is_worth_nothing_under_another_pepper() -> None:
    assert structs.replace(RING, pepper=Secret("another-pepper")).find(KEY.encode()) is None


def test_ring_without_keys_knows_nobody() -> None:
    assert keys.ring({}).find(KEY.encode()) is None


def test_digest_is_the_hmac_that_any_other_tool_computes() -> None:
    expected = hmac.new(b"pepper", b"key", hashlib.sha256).hexdigest()

    assert digest_of(b"key", Secret("pepper")) == expected


@pytest.mark.case("T98", "I14")
def test_ring_shows_neither_pepper_nor_digest() -> None:
    (entry, _) = RING.keys.values()
    shown = f"{RING!r}{RING!s}{entry!r}{builders.snapshot([], keys=RING)!r}"

    assert keys.PEPPER not in shown
    assert not any(digest[:12] in shown for digest in RING.keys)


@pytest.mark.case("T96")
@pytest.mark.bug("N-10")
def test_keys_and_digests_meet_in_comparisons_of_constant_time() -> None:
    trees = [ast.parse(inspect.getsource(module)) for module in (access, auth)]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    equalities = [node for node in nodes if isinstance(node, ast.Compare) for op in node.ops if isinstance(op, ast.Eq)]
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "hmac.compare_digest"]

    assert equalities == []
    assert len(calls) == 2  # for a key of a caller, and for the admin token
