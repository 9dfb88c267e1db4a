"""Looking into a running gateway: what it decided, how its targets are, what it would do. A look is no touch."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
import pytest

from pointsman.control.api import PAGES
from pointsman.control.asking import NoAnswerError, ask_gateway
from pointsman.control.explain import Question
from pointsman.domain.request import Dialect
from pointsman.domain.secret import Secret
from pointsman.testing import Chat, FakeProvider, Status, keys
from pointsman.testing.wire import Reply, chat_request, post
from tests.integration.callers import ask
from tests.integration.conftest import Run
from tests.integration.harness import Gateway, group, weighted
from tests.properties.test_explain import contents

Start = Callable[..., AbstractAsyncContextManager[Gateway]]
TOKEN = "pm_admin_of-the-operator"
PEPPERED = {"pepper": keys.PEPPER, "admin_token": keys.declaration(TOKEN)["hash"]}
CHAT = b'{"model":"chat","messages":[]}'


def get(path: str, token: str | None = None, host: str = "localhost") -> bytes:
    line = "" if token is None else f"authorization: Bearer {token}\r\n"
    return f"GET {path} HTTP/1.1\r\nhost: {host}\r\n{line}\r\n".encode()


async def look(gw: Gateway, path: str, **options: Any) -> Any:
    """The JSON of one page."""
    reply = await ask(gw.admin_url, get(path, **options))
    assert reply.status == 200, reply.body
    return reply.json()


async def explain(gw: Gateway, body: bytes = CHAT, query: str = "") -> dict[str, Any]:
    reply = await ask(gw.admin_url, post(f"/api/v1/explain{query}", body).replace(b"host: test", b"host: localhost"))
    assert reply.status == 200, reply.body
    found: dict[str, Any] = reply.json()
    return found


def told(reply: Reply) -> str | None:
    value = reply.header("x-pointsman-explain")
    return None if value is None else value.decode()


# --- decisions


def test_decision_can_be_looked_at_at_once_and_is_the_one_of_the_file(gateway: Start, run: Run) -> None:
    async def scenario() -> None:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            reply = await ask(gw.base_url, chat_request("chat", headers=(("x-request-id", "mine-1"),)))
            listed = await look(gw, "/api/v1/decisions")
            one = await look(gw, "/api/v1/decisions/mine-1")

            assert reply.status == 200
            assert listed == {"decisions": [one], "before": None}
            assert await gw.records() == [one]

    run(scenario())


def test_decisions_are_filtered_and_paged(gateway: Start, run: Run) -> None:
    async def scenario() -> None:
        async with (
            FakeProvider(name="a", default=Status(500)) as a,
            FakeProvider(name="b") as b,
            gateway(a, b, groups={"chat": group(a, b), "sure": group(b)}) as gw,
        ):
            for name in ("sure", "chat", "nobodys", "sure"):
                await ask(gw.base_url, chat_request(name))

            async def groups(query: str) -> list[str | None]:
                return [record["group"] for record in (await look(gw, f"/api/v1/decisions{query}"))["decisions"]]

            assert await groups("") == ["sure", None, "chat", "sure"]
            assert await groups("?group=sure&limit=1") == ["sure"]
            assert await groups("?target=a/m-a") == ["chat"]
            assert await groups("?outcome=upstream_fault") == ["chat"]
            assert await groups("?reason=model_not_found") == [None]
            first = await look(gw, "/api/v1/decisions?limit=2")
            assert await groups(f"?before={first['before']}") == ["chat", "sure"]

    run(scenario())


def test_fewer_decisions_are_kept_after_a_reload_that_says_so(gateway: Start, run: Run) -> None:
    async def scenario() -> None:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            await ask(gw.base_url, chat_request("chat"))
            path = str(gw.file.parent / "decisions.jsonl")
            await gw.reload(records={"decisions": {"path": path, "max_rows": 0}})
            await ask(gw.base_url, chat_request("chat"))

            assert (await look(gw, "/api/v1/decisions"))["decisions"] == []
            assert len(await gw.records()) == 2

    run(scenario())


# --- targets


def test_targets_show_what_happened_to_them(gateway: Start, run: Run) -> None:
    async def scenario() -> None:
        async with (
            FakeProvider(name="a", default=Status(429, retry_after=60)) as a,
            FakeProvider(name="b") as b,
            gateway(a, b) as gw,
        ):
            await ask(gw.base_url, chat_request("chat"))
            first, second = (await look(gw, "/api/v1/targets"))["targets"]

            assert (first["target"], first["attempts"]) == ("a/m-a", {"rate_limited": 1})
            assert (first["state"]["breaker"], first["state"]["pause_cause"]) == ("open", "rate_limit")
            assert 50 < first["state"]["paused_for_s"] <= 75
            assert (second["state"]["breaker"], second["attempts"]) == ("closed", {"ok": 1})
            assert first["groups"] == [{"group": "chat", "weight": 1.0, "strategy": "failover"}]

    run(scenario())


# --- explain


@pytest.mark.req("X-13")
def test_explaining_sends_nothing_records_nothing_and_leaves_the_board_as_it_was(gateway: Start, run: Run) -> None:
    async def scenario() -> None:
        async with (
            FakeProvider(name="a", default=Status(500)) as a,
            FakeProvider(name="b") as b,
            gateway(a, b, groups={"chat": group(a, b, strategy="round_robin")}) as gw,
        ):
            for _ in range(4):
                await ask(gw.base_url, chat_request("chat"))
            requests = len(a.log) + len(b.log)
            before = contents(gw.app.board), gw.samples("decisions_total"), gw.samples("requests_total")

            for query in ("", "?state=fresh", "?seed=7"):
                await explain(gw, query=query)
            await explain(gw, b"no JSON")

            after = contents(gw.app.board), gw.samples("decisions_total"), gw.samples("requests_total")
            assert after == before
            assert len(a.log) + len(b.log) == requests
            assert len(await gw.records()) == 4

    run(scenario())


def test_explanation_comes_true(gateway: Start, run: Run) -> None:
    """Round robin draws no lots: what is explained is what happens next, in every state of the turns."""

    async def scenario() -> None:
        async with (
            FakeProvider(name="a") as a,
            FakeProvider(name="b") as b,
            gateway(a, b, groups={"chat": weighted((a, b), (3, 2), strategy="round_robin")}) as gw,
        ):
            for _ in range(10):
                expected = (await explain(gw))["explained"]["picked"]
                reply = await ask(gw.base_url, chat_request("chat"))
                assert (reply.header("x-pointsman-target") or b"").decode() == expected

    run(scenario())


def test_explanation_knows_what_the_gateway_has_learned(gateway: Start, run: Run) -> None:
    async def scenario() -> None:
        async with (
            FakeProvider(name="a", default=Status(429, retry_after=60)) as a,
            FakeProvider(name="b") as b,
            gateway(a, b) as gw,
        ):
            await ask(gw.base_url, chat_request("chat"))
            live, fresh = await explain(gw), await explain(gw, query="?state=fresh")

            assert (live["explained"]["picked"], fresh["explained"]["picked"]) == ("b/m-b", "a/m-a")
            assert "a/m-a out: it is paused, " in live["explained"]["line"]
            assert "(cause: rate_limit)" in live["explained"]["line"]

    run(scenario())


# --- the command asks


def question(body: bytes = CHAT) -> Question:
    return Question(body, Dialect.OPENAI_CHAT, 5)


async def asked(url: str, token: str | None = None) -> object:
    """What the command learns; the text of its error if there is one."""
    try:
        return await asyncio.to_thread(ask_gateway, question(), url, None if token is None else Secret(token))
    except NoAnswerError as error:
        return str(error)


def test_command_learns_what_the_page_says(gateway: Start, run: Run) -> None:
    async def scenario() -> None:
        async with FakeProvider(name="a") as a, FakeProvider(name="b") as b, gateway(a, b) as gw:
            found = await asked(f"{gw.admin_url}/")

            assert msgspec.json.decode(msgspec.json.encode(found)) == await explain(gw, query="?seed=5")

    run(scenario())


def test_command_says_what_keeps_it_from_an_answer(gateway: Start, run: Run) -> None:
    async def scenario() -> None:
        async with FakeProvider(name="a", default=Chat("x")) as a, gateway(a, auth={"mode": "none", **PEPPERED}) as gw:
            assert "Send the admin token" in str(await asked(gw.admin_url))
            assert "This is not the admin token" in str(await asked(gw.admin_url, "pm_admin_wrong"))
            assert "status 404" in str(await asked(gw.base_url, TOKEN))
            assert "Is it `server.admin_listen`?" in str(await asked("http://127.0.0.1:9", TOKEN))
            assert "must be an http or https URL" in str(await asked("file:///etc/passwd", TOKEN))
            assert not isinstance(await asked(gw.admin_url, TOKEN), str)

    run(scenario())


# --- the token


@pytest.mark.case("T95", "I14")
def test_token_is_asked_for_is_never_shown_and_goes_with_a_reload(
    gateway: Start, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[bytes] = []

    async def scenario() -> None:
        async with FakeProvider(name="a") as a, gateway(a, auth={"mode": "none", **PEPPERED}) as gw:

            async def status(token: str | None, path: str = "/api/v1/status", host: str = "localhost") -> int:
                reply = await ask(gw.admin_url, get(path, token, host))
                seen.append(reply.body)
                return reply.status

            assert [await status(token) for token in (None, "pm_admin_wrong", TOKEN)] == [401, 401, 200]
            assert [await status(None, path) for path in ("/livez", "/readyz", "/metrics")] == [200] * 3
            assert await status(None, "/metrics", "elsewhere.example") == 401
            assert await gw.reload(auth={"mode": "none"}) == "ok"
            assert [await status(token) for token in (None, TOKEN)] == [200, 200]
            assert await status(TOKEN, host="elsewhere.example") == 403
            assert await gw.reload(auth={"mode": "none", **PEPPERED}) == "ok"
            assert [await status(token) for token in (None, TOKEN)] == [401, 200]

    run(scenario())
    written = caplog.text + b"".join(seen).decode()
    assert TOKEN not in written
    assert str(PEPPERED["admin_token"]) not in written


@pytest.mark.case("T98", "I14")
@pytest.mark.bug("N-09")
def test_whoever_has_the_token_sees_no_credential(gateway: Start, run: Run) -> None:
    secrets = ("sk-of-the-provider", "x-header-of-the-provider", keys.PEPPER, "pm_of-a-caller")
    fields = {"a": {"api_key": secrets[0], "headers": {"x-team": secrets[1]}}}
    auth = {**keys.section(keys.declaration(secrets[3])), **PEPPERED}
    hashes = [str(auth["admin_token"]), str(keys.declaration(secrets[3])["hash"])]

    async def scenario() -> None:
        async with FakeProvider(name="a") as a, gateway(a, auth=auth, provider_fields=fields) as gw:
            await ask(gw.base_url, chat_request("chat", headers=(("x-api-key", secrets[3]), ("x-request-id", "r-1"))))
            paths = [page.path.replace("{request_id}", "r-1") for page in PAGES if page.method == "GET"]
            requests = [get(path, TOKEN) for path in paths]
            requests.append(post("/api/v1/explain", CHAT, (("authorization", f"Bearer {TOKEN}"),)))
            replies = [await ask(gw.admin_url, request) for request in requests]

            assert {reply.status for reply in replies} == {200}
            seen = b"".join(reply.body for reply in replies).decode()
            assert [secret for secret in (*secrets, *hashes) if secret.removeprefix("hmac-sha256:") in seen] == []

    run(scenario())


# --- the header


def with_header(model: str = "chat", *more: tuple[str, str], value: str = "full", **fields: Any) -> bytes:
    return chat_request(model, headers=(("x-pointsman-explain", value), *more), **fields)


@pytest.mark.parametrize("stream", [False, True])
def test_caller_that_asks_is_told_the_decision(gateway: Start, run: Run, stream: bool) -> None:
    async def scenario() -> None:
        async with FakeProvider(name="a", default=Status(500)) as a, FakeProvider(name="b") as b, gateway(a, b) as gw:
            reply = await ask(gw.base_url, with_header(stream=stream))

            assert reply.status == 200
            assert told(reply) == (
                "b/m-b chosen by failover: share 100% | a/m-a out: it was already tried for this request"
            )
            assert told(await ask(gw.base_url, chat_request("chat", stream=stream))) is None
            assert all(b"x-pointsman-explain" not in dict(received.headers) for received in (*a.log, *b.log))

    run(scenario())


def test_caller_is_told_why_nobody_could_be_chosen(gateway: Start, run: Run) -> None:
    async def scenario() -> None:
        async with (
            FakeProvider(name="a", default=Status(429, retry_after=60)) as a,
            gateway(a, groups={"chat": group(a, on_all_unavailable="refuse")}) as gw,
        ):
            await ask(gw.base_url, with_header())
            reply = await ask(gw.base_url, with_header())

            assert reply.status == 429
            assert (told(reply) or "").startswith("chat: nobody can be chosen | a/m-a out: it is paused, ")

    run(scenario())


def test_key_without_the_scope_is_refused_with_its_name_and_nothing_is_sent(gateway: Start, run: Run) -> None:
    plain, watching = "pm_plain", "pm_watching"
    auth = keys.section(
        keys.declaration(plain, name="plain"), keys.declaration(watching, name="watching", scopes=["chat", "explain"])
    )

    async def scenario() -> None:
        async with FakeProvider(name="a") as a, gateway(a, auth=auth) as gw:
            refused = await ask(gw.base_url, with_header("chat", ("x-api-key", plain)))
            served = await ask(gw.base_url, with_header("chat", ("x-api-key", watching)))

            assert (refused.status, refused.json()["error"]["code"]) == (403, "permission_denied")
            assert "'explain'" in refused.json()["error"]["message"]
            assert (told(refused), len(a.log)) == (None, 1)
            assert (served.status, told(served)) == (200, "a/m-a chosen by single: share 100%")
            first, second = await gw.records()
            assert (first["reason"], first["attempts"], second["reason"]) == ("permission_denied", [], "ok")

    run(scenario())


def test_other_value_of_the_header_is_refused(gateway: Start, run: Run) -> None:
    async def scenario() -> None:
        async with FakeProvider(name="a") as a, gateway(a) as gw:
            reply = await ask(gw.base_url, with_header(value="please"))

            assert (reply.status, reply.json()["error"]["code"]) == (400, "invalid_request")

    run(scenario())


def test_minimal_headers_tell_nobody(gateway: Start, run: Run) -> None:
    async def scenario() -> None:
        async with FakeProvider(name="a") as a, gateway(a, server={"response_headers": "minimal"}) as gw:
            reply = await ask(gw.base_url, with_header())

            assert (reply.status, told(reply)) == (200, None)

    run(scenario())
