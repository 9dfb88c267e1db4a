"""Which form of the core runs."""

import pytest

from pointsman import core
from pointsman.core import Core


@pytest.mark.parametrize(
    ("file", "form"),
    [
        ("/opt/pointsman/http1/server.py", Core.INTERPRETED),
        ("/opt/pointsman/http1/server.cpython-311-x86_64-linux-gnu.so", Core.COMPILED),
    ],
)
def test_form_of_the_core_is_that_of_the_edge(monkeypatch: pytest.MonkeyPatch, file: str, form: Core) -> None:
    monkeypatch.setattr(core.server, "__file__", file)

    assert core.core() is form
