"""Settings of the process. Defaults that are no routing policy live here, with their reason."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from pointsman.domain.access import AdminToken

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Address(Struct, frozen=True):
    """Where to listen. Port 0 lets the system choose."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


DEFAULT_LISTEN = Address("127.0.0.1", 4000)  # loopback: nobody else is let in unless asked for
DEFAULT_ADMIN_LISTEN = Address("127.0.0.1", 4001)  # its own port, so that a firewall can tell them apart
DEFAULT_BODY_LIMIT_BYTES = 32 * MIB  # a long agent session with images; Anthropic's own cap
DEFAULT_MAX_CONNECTIONS = 10_000  # below what a raised file limit allows, far above what one process serves
DEFAULT_STRANGERS_PER_ADDRESS = 256  # a whole office behind one address opens fewer at a time and says nothing
DEFAULT_QUEUE_S = 0.1  # a request comes by the loop four times: half a second later than usual, and it is noticed
DEFAULT_STREAM_KEEPALIVE_S = 10.0  # proxies in front cut after a minute of silence, some clients after 15 s
DEFAULT_DRAIN_S = 30.0  # what Kubernetes grants before it kills
MAX_DRAIN_S = 600.0  # longer holds up every roll-out
DEFAULT_DECISIONS_MAX_BYTES = 256 * MIB  # about 300,000 decisions
DEFAULT_DECISIONS_MAX_ROWS = 10_000  # in memory: 10 MB, a quarter of an hour at ten requests per second
STATE_FOLDER = "pointsman"
DECISIONS_FILE = "decisions.jsonl"
PEPPER_FILE = "pepper"

SELF_HOSTED_IDLE_CONNECTION_S = 4.0  # vLLM and llama.cpp close idle sockets after 5 s; be earlier
HOSTED_IDLE_CONNECTION_S = 60.0  # hosted edges keep them for minutes, and a TLS handshake is worth saving


class Settings(Struct, frozen=True):
    """The process itself, apart from any request."""

    listen: Address
    admin_listen: Address
    body_limit_bytes: int
    max_connections: int
    strangers_per_address: int | None  # connections without a key; None: any number
    queue_s: float  # that requests wait for the loop, above which some are refused
    memory_bytes: int | None  # None: what the control group allows
    stream_keepalive_s: float  # of silence in a stream before a comment; 0: there are none
    drain_s: float
    decisions_path: Path
    decisions_max_bytes: int
    decisions_max_rows: int
    log_level: str  # debug | info | warning | error
    log_requests: bool  # one line per request
    admin_token: AdminToken | None  # None: the admin API answers this machine only


# Files and sockets that are open: other ones could fail to open, and nobody would be served while they are exchanged.
NEEDS_RESTART: Mapping[str, str] = MappingProxyType(
    {
        "listen": "server.listen",
        "admin_listen": "server.admin_listen",
        "decisions_path": "records.decisions.path",
    }
)  # field of Settings -> key of the file
