"""SDKs and frameworks as people use them, over a real engine that may be asked in one dialect only: native and bridged.

LangChain runs on every change; the others have a mark, and `make test-clients` installs them and runs them.
"""

from collections.abc import Iterator

import pytest

from pointsman.domain.request import Dialect
from tests.e2e.compatible import CASES, SPOKEN, Client, expected, result
from tests.e2e.engine.engine import Engine
from tests.e2e.gateway import Gateway, serve
from tests.integration.harness import group

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=SPOKEN, ids=[f"to_{spoken}" for spoken in SPOKEN])
def spoken(request: pytest.FixtureRequest) -> Dialect:
    """What the target speaks."""
    dialect: Dialect = request.param
    return dialect


@pytest.fixture(scope="module")
def gateway(spoken: Dialect, tmp_path_factory: pytest.TempPathFactory, alpha: Engine) -> Iterator[Gateway]:
    fields = {"dialects": [spoken.value]}
    with serve(tmp_path_factory.mktemp("gateway"), alpha, groups={"chat": group(alpha)}, fields=fields) as running:
        yield running


@pytest.mark.parametrize(
    ("client", "dialect"),
    [
        pytest.param(
            client,
            dialect,
            id=f"{client.environment}-{client.package}-{dialect}",
            marks=[getattr(pytest.mark, client.mark)] if client.mark else [],
        )
        for client, dialect in CASES
    ],
)
def test_whole_and_streamed_texts_calls_and_results_arrive(
    gateway: Gateway, alpha: Engine, client: Client, dialect: Dialect, spoken: Dialect
) -> None:
    found = result(client, dialect, gateway_url=gateway.base_url, engine_url=alpha.base_url)

    assert found == expected(client, dialect, spoken)
