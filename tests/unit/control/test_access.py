"""Who may read what on the admin listener."""

import pytest

from pointsman.control.access import MAX_TOKEN_BYTES, Access
from pointsman.control.api import PAGES, Page
from tests.unit.control.admin import ELSEWHERE, LOCAL, TOKEN, Admin, Answer

WRONG = "pm_admin_wrong"
ALL = [pytest.param(page, id=page.path) for page in PAGES]
API = [pytest.param(page, id=page.path) for page in PAGES if page.access is Access.API]


def asked(admin: Admin, page: Page, **options: object) -> Answer:
    return admin.ask(page.method, page.path.replace("{request_id}", "r-1"), **options)  # type: ignore[arg-type]


def is_open(answer: Answer) -> bool:
    return answer.status not in {401, 403}


@pytest.mark.case("T95")
@pytest.mark.parametrize("page", ALL)
def test_without_a_token_this_machine_may_read_everything(page: Page) -> None:
    assert is_open(asked(Admin(), page))


@pytest.mark.case("T95")
@pytest.mark.parametrize("page", ALL)
def test_without_a_token_others_may_read_what_is_no_api(page: Page) -> None:
    answer = asked(Admin(), page, client=ELSEWHERE)

    assert is_open(answer) is (page.access is not Access.API)


@pytest.mark.case("T95")
@pytest.mark.parametrize("page", ALL)
@pytest.mark.parametrize("client", [LOCAL, ELSEWHERE])
def test_whoever_has_the_token_may_read_everything(page: Page, client: tuple[str, int]) -> None:
    assert is_open(asked(Admin(has_token=True), page, client=client, token=TOKEN))


@pytest.mark.case("T95")
@pytest.mark.bug("N-05")
@pytest.mark.parametrize("page", ALL)
@pytest.mark.parametrize("token", [None, WRONG, TOKEN + "x", TOKEN[:-1], "x" * (MAX_TOKEN_BYTES + 1)])
@pytest.mark.parametrize("client", [LOCAL, ELSEWHERE])
def test_without_the_token_that_is_set_the_api_is_shut_for_everybody(
    page: Page, token: str | None, client: tuple[str, int]
) -> None:
    answer = asked(Admin(has_token=True), page, client=client, token=token)

    may = {Access.PUBLIC: True, Access.METRICS: client is LOCAL, Access.API: False}
    assert is_open(answer) is may[page.access]
    if not is_open(answer):
        assert answer.status == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.headers["content-type"] == "application/problem+json"
        assert "pointsman keys admin" in answer.json()["detail"]


@pytest.mark.parametrize("page", API)
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},  # a web page whose name was made to lead here
        {"host": "192.0.2.1:4001"},
        {"x-forwarded-for": "127.0.0.1"},
        {"x-real-ip": "127.0.0.1"},
        {"forwarded": "for=127.0.0.1"},
    ],
)
def test_web_page_or_proxy_on_this_machine_is_not_this_machine(page: Page, headers: dict[str, str]) -> None:
    answer = asked(Admin(), page, headers=headers)

    assert answer.status == 403
    assert "auth.admin_token" in answer.json()["detail"]


@pytest.mark.parametrize("host", ["127.0.0.1:4001", "localhost", "[::1]:4001", "127.8.8.8"])
@pytest.mark.parametrize("client", [("127.0.0.1", 1), ("::1", 1)])
def test_every_name_of_this_machine_counts(host: str, client: tuple[str, int]) -> None:
    assert Admin().get("/api/v1/status", headers={"host": host}, client=client).status == 200


def test_peer_that_is_not_known_is_not_this_machine() -> None:
    assert Admin().get("/api/v1/status", client=None).status == 403


@pytest.mark.parametrize("written", [f"bearer {TOKEN}", f"BEARER   {TOKEN}"])
def test_scheme_may_be_written_in_any_case(written: str) -> None:
    assert Admin(has_token=True).get("/api/v1/status", headers={"authorization": written}).status == 200


@pytest.mark.parametrize("written", [TOKEN, f"Basic {TOKEN}", "Bearer ", f"Bearer {TOKEN} {TOKEN}", "Bearer \xe9"])
def test_other_ways_to_send_a_token_are_refused(written: str) -> None:
    answer = Admin(has_token=True).get("/api/v1/status", headers={"authorization": written})

    assert answer.status == 401


@pytest.mark.bug("N-05")
def test_two_tokens_in_one_request_are_refused() -> None:
    both = [("authorization", f"Bearer {TOKEN}"), ("Authorization", f"Bearer {WRONG}")]

    assert Admin(has_token=True).get("/api/v1/status", more=both).status == 401
    assert Admin(has_token=True).get("/api/v1/status", more=both[:1]).status == 200


@pytest.mark.case("I14")
def test_no_answer_repeats_what_was_presented() -> None:
    answer = Admin(has_token=True).get("/api/v1/status", token=WRONG)

    assert WRONG not in answer.body.decode() + str(answer.headers)


def test_unknown_path_says_nothing() -> None:
    assert Admin(has_token=True).get("/api/v1/nothing").status == 404


@pytest.mark.parametrize("page", ALL)
def test_page_takes_its_own_method_only(page: Page) -> None:
    other = "GET" if page.method == "POST" else "POST"

    answer = Admin().ask(other, page.path)

    assert answer.status == 405
