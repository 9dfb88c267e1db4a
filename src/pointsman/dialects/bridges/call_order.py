"""Which call a piece of one belongs to, in the streams of engines that say it in many ways (pure)."""

import msgspec

from pointsman.dialects.bridges.chat_shapes import Function, ToolCall
from pointsman.dialects.bridges.events import CallBegun, CallDelta
from pointsman.dialects.provider_error import UNREADABLE


class _Open:
    """A call whose arguments may not be complete."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.arguments = ""


class CallOrder:
    """A new id opens a call, or a new name after complete arguments; a piece without an id goes on with one (G-02)."""

    def __init__(self) -> None:
        self._count = 0
        self._by_id: dict[str, _Open] = {}
        self._by_index: dict[int, _Open] = {}
        self._last: _Open | None = None

    def take(self, piece: ToolCall, answer_id: str) -> list[CallBegun | CallDelta]:
        """What the piece says. `answer_id`: to name a call that came without an id."""
        function = piece.function or Function()
        found: list[CallBegun | CallDelta] = []
        call = self._known(piece, function.name or "")
        if call is None:
            call = _Open(self._count)
            self._count += 1
            id_ = piece.id or f"call_{answer_id}_{call.number}"
            self._by_id[id_] = call
            found.append(CallBegun(call.number, id_, function.name or ""))
        if piece.index is not None:
            self._by_index[piece.index] = call
        self._last = call
        if function.arguments:
            call.arguments += function.arguments
            found.append(CallDelta(call.number, function.arguments))
        return found

    def _known(self, piece: ToolCall, name: str) -> _Open | None:
        """The call that goes on; None: a new one."""
        if piece.id:
            return self._by_id.get(piece.id)
        call = self._last if piece.index is None else self._by_index.get(piece.index)
        if call is None:
            return None if name else self._last
        return None if name and is_complete(call.arguments) else call


def is_complete(arguments: str) -> bool:
    """Whether these are all arguments of a call: an object that has come to its end."""
    if not arguments.rstrip().endswith("}"):
        return False
    try:
        return isinstance(msgspec.json.decode(arguments), dict)
    except UNREADABLE:
        return False
