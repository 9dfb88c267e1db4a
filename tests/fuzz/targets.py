"""What reads bytes of strangers: each function takes any bytes and raises only for a fault of ours."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from pointsman.config import rules
from pointsman.config.load import read_document
from pointsman.config.problems import ConfigError
from pointsman.config.schema_errors import validate
from pointsman.dialects.registry import DIALECTS
from pointsman.dialects.sse import EventTooLargeError, SseDecoder, SseEvent
from pointsman.domain.errors import ErrorKind, GatewayError
from pointsman.domain.request import Dialect
from pointsman.routing.retry_after import MAX_RETRY_AFTER_S, retry_after_s
from tests.unit.http1.heads import verdict

CORPUS = Path(__file__).parent / "corpus"
EVENT_LIMIT_BYTES = 1_024
NOW_UTC = 1_790_000_000.0


def request_head(raw: bytes) -> None:
    """A connection reads the same, however it is cut."""
    middle = len(raw) // 2
    assert verdict([raw[:middle], raw[middle:]]) == verdict([raw])


def sse(raw: bytes) -> None:
    """A stream has the same events, however it is cut; a limit may stop it at another place only."""
    whole, in_bytes = _events([raw]), _events([raw[at : at + 1] for at in range(len(raw))])
    assert whole is None or in_bytes is None or whole == in_bytes


def _events(pieces: list[bytes]) -> list[SseEvent] | None:
    decoder = SseDecoder(EVENT_LIMIT_BYTES)
    try:
        return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()
    except EventTooLargeError:
        return None


def front_door(dialect: Dialect) -> Callable[[bytes], None]:
    """What a dialect reads it can write with another model, and nothing but the model is another one then."""
    codec = DIALECTS[dialect]

    def read(raw: bytes) -> None:
        try:
            parsed = codec.read_request(raw)
        except GatewayError as refused:
            if refused.kind is not ErrorKind.BAD_REQUEST:
                raise
            return
        needs = codec.needs(parsed)
        again = codec.read_request(codec.write_request(parsed, "another"))
        assert again.facts.model == "another"
        assert again.facts.stream == parsed.facts.stream
        assert codec.needs(again) == needs

    return read


def retry_after(raw: bytes) -> None:
    """Seconds within bounds, or nothing."""
    first, _, second = raw.decode("latin-1").partition("\n")
    waits = retry_after_s(first, second, NOW_UTC), retry_after_s(first, None, NOW_UTC)
    assert all(wait is None or 0.0 <= wait <= MAX_RETRY_AFTER_S for wait in waits)


def configuration(raw: bytes) -> None:
    """A file is a configuration, or its problems are told with a place and a fix."""
    with tempfile.NamedTemporaryFile(dir=_memory(), suffix=".yaml") as file:
        file.write(raw)
        file.flush()
        try:
            document = read_document(Path(file.name), {})
            rules.check(document, validate(document))
            document.raise_problems()
        except ConfigError as error:
            if not error.problems or not all(problem.message and problem.fix for problem in error.problems):
                raise


def _memory() -> str | None:
    """Where files cost no disk, if there is such a place."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    "request_head": request_head,
    "sse": sse,
    "chat": front_door(Dialect.OPENAI_CHAT),
    "responses": front_door(Dialect.OPENAI_RESPONSES),
    "messages": front_door(Dialect.ANTHROPIC_MESSAGES),
    "retry_after": retry_after,
    "configuration": configuration,
}
