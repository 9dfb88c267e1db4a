"""Where requests can go: providers, targets and the model groups that callers name."""

from enum import StrEnum

from pointsman.domain.policy import RoutingPolicy, Timeouts
from pointsman.domain.price import Price
from pointsman.domain.request import Dialect
from pointsman.domain.secret import Secret
from pointsman.domain.traits import Traits
from pointsman.domain.value import Value


class Terminator(StrEnum):
    """What proves that a stream is complete."""

    STRICT = "strict"  # the dialect's own terminator, e.g. `[DONE]`
    LENIENT = "lenient"  # a finish reason is enough; for engines that send no terminator


class KeyStyle(StrEnum):
    """How an origin wants its key."""

    BEARER = "bearer"  # `authorization: Bearer KEY`
    X_API_KEY = "x_api_key"  # `x-api-key: KEY`


class Origin(Value):
    """Scheme, host and port: what a credential is bound to."""

    scheme: str
    host: str
    port: int

    @property
    def is_tls(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = 443 if self.is_tls else 80
        return host if self.port == default else f"{host}:{self.port}"


class Provider(Value, eq=False):
    """One account at one origin. Equal only to itself, so that what is derived from it can be kept beside it."""

    name: str
    kind: str
    origin: Origin
    path_prefix: str  # of the base URL, without a trailing slash
    timeouts: Timeouts
    api_key: Secret | None = None  # None: the origin wants no key, or none is configured
    key_style: KeyStyle = KeyStyle.BEARER
    headers: tuple[tuple[str, Secret], ...] = ()  # any of them may carry a credential
    terminator: Terminator = Terminator.STRICT
    idle_connection_s: float = 4.0  # see config: below what the origin itself keeps
    counts_tokens: bool = False  # of Messages requests, without answering them
    checks_signatures: bool = False  # of thoughts, and refuses those that it has not signed


class Limits(Value):
    """What may be sent to one target at most, whatever it could take; None: no limit."""

    max_concurrent: int | None = None  # requests in flight
    max_rps: float | None = None  # requests per second
    max_tpm: int | None = None  # tokens per minute, input and output


class Target(Value, eq=False):
    """One place a request can be sent: a provider account plus an upstream model. Equal only to itself."""

    id: str  # "provider/upstream_model", the public name
    provider: str
    upstream_model: str
    state_key: str  # identity of everything learned: provider + upstream model + credential
    dialects: frozenset[Dialect] = frozenset((Dialect.OPENAI_CHAT,))  # what its provider speaks
    has_credential: bool = True  # False: its provider wants a key and none is configured
    price: Price | None = None  # None: not known, never "free"
    traits: Traits = Traits()
    limits: Limits | None = None  # None: only what is learned
    flagged: bool = False  # its model does far worse than it should, by the benchmark in the configuration


class Member(Value):
    """A target as part of one group."""

    target: Target
    weight: float  # group-local; 0 excludes
    tags: frozenset[str] = frozenset()  # group-local
    shares_space: bool = True  # False: its embeddings cannot be compared with those of the group's first target


class ModelGroup(Value, eq=False):
    """The name a caller asks for. Equal only to itself: a reloaded group is another one."""

    name: str
    aliases: tuple[str, ...]
    members: tuple[Member, ...]
    policy: RoutingPolicy
    embedding_space: str | None = None  # what its vectors can be compared with; None: no target takes requests
