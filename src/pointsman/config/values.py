"""Values with a syntax of their own: durations, sizes, addresses, URLs, names. Messages never repeat the value."""

import ipaddress
import math
import re
from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from pointsman.config.settings import GIB, KIB, MIB, Address
from pointsman.domain.addresses import is_denied
from pointsman.domain.request import Dialect
from pointsman.domain.target import Origin

FORMAT_VERSION = 1

_DURATION = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)(ms|s|m|h|)")
_SECONDS: Mapping[str, float] = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}
_OVERFLOW = 1e300  # whole numbers have no bound, floats do
_SIZE = re.compile(r"([0-9]{1,15})(KiB|MiB|GiB|)")
_BYTES: Mapping[str, int] = {"": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB}
_HOST_PORT = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]{1,253}))(?::([0-9]{1,5}))?")
_MAX_PORT = 65535
_DEFAULT_PORT = {"http": 80, "https": 443}
_GROUP_NAME = re.compile(r"[A-Za-z0-9._:/@-]{1,200}")
_PROVIDER_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")  # no slash: the first one of `provider/model` splits
_VISIBLE = re.compile(r"[!-~]+")
_UPSTREAM_MODEL = re.compile(r"[!-~]{1,200}")  # goes into response headers, so neither spaces nor controls
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_HEADER_VALUE = re.compile(r"[!-~\xa0-\xff](?:[ \t!-~\xa0-\xff]*[!-~\xa0-\xff])?")
_OWN_HEADERS = frozenset({"authorization", "content-length", "host", "transfer-encoding"})
ANY_CHARACTERS = "*"
HASH_PREFIX = "hmac-sha256:"
_CALLER_NAME = re.compile(r"[A-Za-z0-9._:/@-]{1,100}")
_KEY_HASH = re.compile(rf"{HASH_PREFIX}[0-9a-f]{{64}}")
_MODEL_PATTERN = re.compile(r"[A-Za-z0-9._:/@*-]{1,200}")
_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})", re.IGNORECASE
)
_PARAMETER = re.compile(r"[A-Za-z0-9._-]{1,100}")
_MIN_PEPPER_CHARACTERS = 16  # nobody can guess 16 random ones
# what editors are told: a text in the syntax, or a plain number; bounds are for the check of the file itself
DURATION_SHAPE = {"anyOf": [{"type": "string", "pattern": f"^({_DURATION.pattern})$"}, {"type": "number"}]}
SIZE_SHAPE = {"anyOf": [{"type": "string", "pattern": f"^({_SIZE.pattern})$"}, {"type": "integer"}]}
TEXT_SHAPE = {"type": "string"}
_HOP_HEADERS = frozenset({"connection", "expect", "keep-alive", "proxy-connection", "te", "trailer", "upgrade"})


class BadValueError(ValueError):
    """A value that cannot be read; `message` says what it must be, `fix` what to write."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class BaseUrl(Struct, frozen=True):
    """An origin and the path before `/chat/completions`, without a trailing slash."""

    origin: Origin
    path_prefix: str


def duration_s(value: object) -> float:
    """Seconds: `250ms`, `30s`, `5m`, `1h`, or a plain number of seconds; finite and above 0."""
    seconds = math.nan
    if isinstance(value, str):
        if match := _DURATION.fullmatch(value):
            seconds = float(match[1]) * _SECONDS[match[2]]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value) if abs(value) < _OVERFLOW else math.nan
    if not seconds > 0:  # also when it is not a number
        raise BadValueError("must be a duration above 0", "Write for example 250ms, 30s, 5m or 1h.")
    return seconds


def duration_or_off_s(value: object) -> float:
    """As `duration_s`, or 0: off."""
    is_off = isinstance(value, int | float | str) and not isinstance(value, bool) and value in {0, "0"}
    return 0.0 if is_off else duration_s(value)


def size_bytes(value: object) -> int:
    """Bytes: `16KiB`, `32MiB`, `1GiB`, or a plain number of bytes; above 0."""
    size = 0
    if isinstance(value, str):
        if match := _SIZE.fullmatch(value):
            size = int(match[1]) * _BYTES[match[2]]
    elif isinstance(value, int) and not isinstance(value, bool):
        size = value
    if size <= 0:
        raise BadValueError("must be a size above 0", "Write for example 16KiB, 32MiB or 1GiB (not KB or MB).")
    return size


def address(value: object) -> Address:
    """Host and port: `127.0.0.1:4000`, `localhost:4000`, `[::1]:4000`."""
    host, port = _host_port(value) if isinstance(value, str) else (None, None)
    if host is None or port is None:
        raise BadValueError("must be an address with a port", "Write for example 127.0.0.1:4000 or '[::1]:4000'.")
    return Address(host, port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    return host.lower() == "localhost" or (_is_ip(host) and ipaddress.ip_address(host).is_loopback)


def version(value: int) -> int:
    """The version of the file's format."""
    if value != FORMAT_VERSION:
        message = f"must be {FORMAT_VERSION}, the only format there is"
        raise BadValueError(message, f"Write `version: {FORMAT_VERSION}`.")
    return value


def base_url(value: object) -> BaseUrl:
    """An http or https URL without credentials, query and fragment."""
    scheme, separator, rest = value.partition("://") if isinstance(value, str) else ("", "", "")
    if scheme.lower() not in _DEFAULT_PORT or not separator:
        raise BadValueError("must be an http or https URL", "Write for example https://api.openai.com/v1.")
    if not _VISIBLE.fullmatch(rest) or "\\" in rest:
        raise BadValueError("must be an http or https URL with a host", "Remove spaces, backslashes and non-ASCII.")
    if "?" in rest or "#" in rest:
        raise BadValueError("must have no query and no fragment", "End it before the `?` or `#`.")
    authority, slash, path = rest.partition("/")
    if "@" in authority:
        raise BadValueError("must not contain credentials", "Put the key into `api_key`.")
    host, port = _host_port(authority)
    if host is None or port == 0:
        raise BadValueError("must have a valid host, and a port in 1-65535 if any", "Write https://host:port/path.")
    if _is_ip(host) and is_denied(ipaddress.ip_address(host)):
        message = "must not be an unspecified, link-local, multicast or metadata address"
        raise BadValueError(message, "Write the address of the provider; of this machine, 127.0.0.1 or [::1].")
    scheme = scheme.lower()
    return BaseUrl(Origin(scheme, host.lower(), port or _DEFAULT_PORT[scheme]), (slash + path).rstrip("/"))


def group_name(value: str) -> str:
    """A name that callers may put into `model`."""
    return _matching(_GROUP_NAME, value, "names of groups and aliases have 1-200 characters of A-Z a-z 0-9 . _ : / @ -")


def provider_name(value: str) -> str:
    """A name that may stand before the slash of `provider/model`."""
    return _matching(_PROVIDER_NAME, value, "names of providers have 1-100 characters of A-Z a-z 0-9 . _ -")


def upstream_model(value: str) -> str:
    """A model name as the provider spells it."""
    return _matching(_UPSTREAM_MODEL, value, "must be 1-200 visible ASCII characters without spaces")


def target_name(value: str) -> str:
    """The public name of a target: `provider/model`."""
    provider, slash, model = value.partition("/")
    if not (slash and _PROVIDER_NAME.fullmatch(provider) and _UPSTREAM_MODEL.fullmatch(model)):
        raise BadValueError("must name a target as provider/model", "Write for example openai/gpt-5.4-nano.")
    return value


def dialects(value: list[Dialect]) -> list[Dialect]:
    """What a provider speaks."""
    if not value:
        raise BadValueError("must name at least one dialect", "Write null for those of the kind.")
    return value


def providers(value: list[str]) -> list[str]:
    """Who may serve a key."""
    if not value:
        raise BadValueError("must name at least one provider", "Write null for all.")
    return value


def file_path(value: str) -> str:
    """A path the system accepts."""
    if not value or "\0" in value:
        raise BadValueError("must be the path of a file", "Write null for the default place.")
    return value


def credential(value: str) -> str:
    """A key that can follow `Bearer `."""
    if not _VISIBLE.fullmatch(value):
        raise BadValueError("a key consists of visible ASCII characters without spaces", "Copy the key again.")
    return value


def pepper(value: str) -> str:
    """The key of the hash function: never empty, never a word."""
    if not _VISIBLE.fullmatch(value) or len(value) < _MIN_PEPPER_CHARACTERS:
        message = f"a pepper has at least {_MIN_PEPPER_CHARACTERS} visible ASCII characters, without spaces"
        raise BadValueError(message, "Make one with `openssl rand -hex 32`, or write null.")
    return value


def caller_name(value: str) -> str:
    """A name that may stand in records."""
    return _matching(_CALLER_NAME, value, "names of keys have 1-100 characters of A-Z a-z 0-9 . _ : / @ -")


def key_hash(value: str) -> str:
    """What `pointsman keys create` prints."""
    if not _KEY_HASH.fullmatch(value):
        fix = "Copy the line of `pointsman keys create` again, or make another key."
        raise BadValueError(f"must be {HASH_PREFIX} and 64 hexadecimal digits in lower case", fix)
    return value


def model_pattern(value: str) -> str:
    """A name of a group or alias, in which `*` stands for any characters."""
    return _matching(_MODEL_PATTERN, value, "must be a name of a model group or alias, in which * stands for any part")


def instant_utc_s(value: object) -> float:
    """Seconds since 1970 of an RFC 3339 instant with its offset."""
    try:
        if isinstance(value, str) and _INSTANT.fullmatch(value):
            return datetime.fromisoformat(value.upper()).timestamp()
    except ValueError:  # no such day or time
        pass
    raise BadValueError("must be an instant with its offset from UTC", "Write for example 2027-01-31T18:00:00Z.")


def header_name(value: str) -> str:
    """A request header that the gateway does not set itself."""
    if not _HEADER_NAME.fullmatch(value):
        raise BadValueError("this is not a header name", "Use letters, digits and hyphens.")
    if value.lower() in _OWN_HEADERS:
        raise BadValueError("the gateway sets this header itself", "Remove it; the credential belongs into `api_key`.")
    if value.lower() in _HOP_HEADERS:
        raise BadValueError("this header concerns one connection only", "Remove it.")
    return value


def header_value(value: str) -> str:
    """Latin-1 text on one line, without blanks around it."""
    if not _HEADER_VALUE.fullmatch(value):
        message = "a header value is one line of Latin-1 text without control characters or blanks around it"
        raise BadValueError(message, "Remove line breaks, control characters and other alphabets.")
    return value


def parameter(value: str) -> str:
    """A top-level field of a request."""
    return _matching(_PARAMETER, value, "names of parameters have 1-100 characters of A-Z a-z 0-9 . _ -")


def tag(value: str) -> str:
    """A label of a target."""
    return _matching(_PARAMETER, value, "tags have 1-100 characters of A-Z a-z 0-9 . _ -")


def term_name(value: str) -> str:
    """What a score term is called."""
    return _matching(_PARAMETER, value, "names of terms have 1-100 characters of A-Z a-z 0-9 . _ -")


def plugin_name(value: str) -> str:
    """The name of an entry point."""
    return _matching(_PARAMETER, value, "names of plugins have 1-100 characters of A-Z a-z 0-9 . _ -")


def slug(value: str) -> str:
    """The name of a provider, or of one of its models as provider/model."""
    return _matching(_UPSTREAM_MODEL, value, "must name a provider, or a target as provider/model")


def _matching(pattern: re.Pattern[str], value: str, rule: str) -> str:
    if not pattern.fullmatch(value):
        raise BadValueError(rule, "Rename it.")
    return value


def _host_port(text: str) -> tuple[str | None, int | None]:
    """Host None: not readable. Port None: none given."""
    match = _HOST_PORT.fullmatch(text)
    if match is None:
        return None, None
    literal, name, digits = match.groups()
    host = literal or name
    is_numeric = literal is not None or set(name) <= set("0123456789.")
    port = int(digits) if digits is not None else None
    if (is_numeric and not _is_ip(host)) or (port or 0) > _MAX_PORT or (literal is not None and ":" not in literal):
        return None, None
    return host, port


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
