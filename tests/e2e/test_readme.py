"""The snippets of the front page, run as they are printed; only the address is another one."""

import subprocess
from pathlib import Path

import pytest

from tests.docs import pages
from tests.e2e.engine.engine import Engine
from tests.e2e.gateway import serve
from tests.e2e.sdk import CLIENTS, PATIENCE_S

PRINTED_URL = "http://127.0.0.1:4000/v1"
SNIPPETS = pages.blocks(pages.text("README.md"), "python")

pytestmark = pytest.mark.slow


def test_the_front_page_has_a_snippet() -> None:
    assert any("stream=True" in snippet for snippet in SNIPPETS)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_snippet_of_the_front_page_works(snippet: str, client: str, alpha: Engine, tmp_path: Path) -> None:
    groups = {"chat": {"targets": [{"model": f"{alpha.name}/m"}]}}
    with serve(tmp_path, alpha, groups=groups, auth={"mode": "none"}) as gateway:
        assert PRINTED_URL in snippet
        command = [str(CLIENTS[client]), "-c", snippet.replace(PRINTED_URL, gateway.base_url)]

        printed = subprocess.check_output(command, timeout=PATIENCE_S, text=True)  # noqa: S603  # our own text

    assert "alpha" in printed
