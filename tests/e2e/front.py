"""Reverse proxies as operators put them in front of a gateway: connections are kept on both sides, and shared."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import Struct

from benchmarks.processes import free_ports, running

SYSTEM_FOLDERS = "/usr/sbin:/usr/local/sbin"  # not in the PATH of everybody

NGINX = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {folder}/bodies;
  proxy_temp_path {folder}/answers;
  fastcgi_temp_path {folder}/unused-1;
  uwsgi_temp_path {folder}/unused-2;
  scgi_temp_path {folder}/unused-3;
  upstream gateway {{ server 127.0.0.1:{behind}; keepalive 4; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://gateway;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_request_buffering off;
    }}
  }}
}}
"""

HAPROXY = """
defaults
  mode http
  option http-keep-alive
  http-reuse always
  timeout connect 5s
  timeout client 30s
  timeout server 30s
listen front
  bind 127.0.0.1:{port}
  server gateway 127.0.0.1:{behind}
"""


class Kind(Struct, frozen=True):
    """One kind of proxy: the options of its command before the name of its configuration, and that configuration."""

    options: tuple[str, ...]
    configuration: str
    package: str


KINDS = {
    "nginx": Kind(("-c",), NGINX, "nginx-light"),
    "haproxy": Kind(("-db", "-f"), HAPROXY, "haproxy"),
}


@contextmanager
def front(name: str, folder: Path, behind: int) -> Iterator[str]:
    """The base URL of such a proxy in front of whatever listens on the port `behind`."""
    kind, (port,) = KINDS[name], free_ports(1)
    program = shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SYSTEM_FOLDERS}")
    if program is None:
        pytest.fail(f"{name} is not installed: apt-get install {kind.package}")
    file = folder / f"{name}.conf"
    file.write_text(kind.configuration.format(folder=folder, port=port, behind=behind), encoding="ascii")
    with running(name, [program, *kind.options, str(file)], port=port):
        yield f"http://127.0.0.1:{port}/v1"
