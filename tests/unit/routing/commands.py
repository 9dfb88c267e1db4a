"""What a command says, for assertions."""

from pointsman.routing.exchange import Command, Finish, Send, Wait
from tests.unit.routing.asking import Request


def target_of(command: Command) -> str:
    assert isinstance(command, Send), command
    return command.target.id


def error_of(command: Command) -> tuple[str, str | None]:
    """The reason and the code that the caller sees."""
    assert isinstance(command, Finish), command
    return command.reason, None if command.error is None else command.error.code


def told(command: Command) -> tuple[int, int | None]:
    """Status and Retry-After that the caller sees."""
    assert isinstance(command, Finish), command
    assert command.error is not None
    return command.error.status, command.error.retry_after_header


def wait_s(request: Request, command: Command) -> float:
    assert isinstance(command, Wait), command
    return command.until - request.now
