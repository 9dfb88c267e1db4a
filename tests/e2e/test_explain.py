"""`pointsman explain` as operators use it: a token made by one process, known to another, used by a third."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.processes import free_ports, running
from tests.integration.harness import At, group, write_configuration

PATIENCE_S = 20.0
A, B = At("a", "http://127.0.0.1:9/v1"), At("b", "http://127.0.0.1:9/v1")  # nobody is there: nothing is sent

pytestmark = pytest.mark.slow


def pointsman(folder: Path, *arguments: str, token: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"XDG_STATE_HOME": str(folder / "state"), "POINTSMAN_ADMIN_TOKEN": token}
    return subprocess.run(  # noqa: S603  # our own command
        [sys.executable, "-m", "pointsman", *arguments], env=environment, cwd=folder, text=True, capture_output=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip


@pytest.mark.case("T95", "T98")
def test_operator_makes_a_token_and_asks_a_running_gateway_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    port, admin_port = free_ports(2)
    file, admin_url = tmp_path / "pointsman.yaml", f"http://127.0.0.1:{admin_port}"
    server = {"listen": f"127.0.0.1:{port}", "admin_listen": f"127.0.0.1:{admin_port}"}
    (tmp_path / "request.json").write_text('{"model": "chat", "messages": []}')
    write_configuration(file, A, B, groups={"chat": group(A, B)}, server=server)

    made = pointsman(tmp_path, "keys", "admin")
    token, (line,) = made.stdout.splitlines()[0], re.findall(r"hmac-sha256:\w+", made.stdout)
    auth = {"mode": "none", "admin_token": line}
    write_configuration(file, A, B, groups={"chat": group(A, B)}, server=server, auth=auth)
    with running("gateway", [sys.executable, "-m", "pointsman", "serve", "--config", str(file)], port=port):
        without, wrong, asked = (
            pointsman(tmp_path, "explain", "request.json", "--admin", admin_url, "--json", token=each)
            for each in ("", token + "x", token)
        )
    offline = pointsman(tmp_path, "explain", "request.json")

    assert (made.returncode, without.returncode, wrong.returncode) == (0, 1, 1)
    assert "Send the admin token" in without.stderr
    assert "This is not the admin token" in wrong.stderr
    found = json.loads(asked.stdout)
    assert (asked.returncode, found["state"], found["explained"]["picked"]) == (0, "live", "a/m-a")
    assert (offline.returncode, "no gateway was asked" in offline.stdout) == (0, True)
    said = "".join(done.stdout + done.stderr for done in (without, wrong, asked, offline))
    assert token not in said
