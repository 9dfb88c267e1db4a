"""The configuration while it is being checked: its values, where each came from, and the problems so far."""

from typing import cast

from msgspec import Struct, field

from pointsman.config.problems import ConfigError, KeyPath, Problem, dotted, quoted
from pointsman.config.yaml_tree import Spot, Tree


class Document(Struct):
    """Plain data plus origins. A path is *closed* once its value was dropped as faulty."""

    source: str
    data: dict[str, object]
    spots: dict[KeyPath, Spot]
    origins: dict[KeyPath, str] = field(default_factory=dict)  # overridden values: by which variable
    written: dict[KeyPath, str] = field(default_factory=dict)  # text of the file before its references were resolved
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    closed: set[KeyPath] = field(default_factory=set)

    @classmethod
    def of(cls, source: str, tree: Tree) -> "Document":
        """A document whose faults of syntax are its first problems."""
        is_mapping = isinstance(tree.data, dict)
        document = cls(source, tree.data if isinstance(tree.data, dict) else {}, tree.spots)
        for fault in tree.faults:
            document.problems.append(
                Problem(dotted(fault.path), *fault.spot, message=fault.message, fix=fault.fix, source=source)
            )
            if not fault.path:
                document.closed.add(())
        if not is_mapping:
            fix = "Begin with `version: 1`, then `server:`, `providers:` and `models:`."
            document.add((), "the file must consist of `key: value` pairs", fix)
            document.closed.add(())
        return document

    def add(self, path: KeyPath, message: str, fix: str) -> None:
        """Note a problem, unless it only follows from one that is already noted."""
        if not self.is_closed(path):
            self.problems.append(self._problem(path, message, fix))

    def warn(self, path: KeyPath, message: str, fix: str) -> None:
        """Note something that works, but hardly as intended."""
        self.warnings.append(self._problem(path, message, fix))

    def raise_problems(self) -> None:
        """End here if there is any problem."""
        if self.problems:
            raise ConfigError(self.problems)

    def is_closed(self, path: KeyPath) -> bool:
        """Whether this value, or one that contains it, was dropped."""
        return any(path[:length] in self.closed for length in range(len(path) + 1))

    def is_whole(self, path: KeyPath) -> bool:
        """Whether nothing is missing in this value."""
        return not self.is_closed(path) and not any(other[: len(path)] == path for other in self.closed)

    def value(self, path: KeyPath) -> object:
        """The value at `path`; None: there is none."""
        current: object = self.data
        for key in path:
            if isinstance(current, dict):
                current = current.get(key)
            elif isinstance(current, list) and isinstance(key, int) and key < len(current):
                current = current[key]
            else:
                return None
        return current

    def put(self, path: KeyPath, value: object) -> None:
        """Set the value at `path`, whose holder exists."""
        holder = cast("dict[str | int, object]", self.value(path[:-1]))  # or a list, which takes the same statement
        holder[path[-1]] = value

    def origin(self, path: KeyPath) -> str | None:
        """The variable (or command line) that gave this value; None: the file, or nobody."""
        for length in range(len(path), 0, -1):
            if (origin := self.origins.get(path[:length])) is not None:
                return origin
        return None

    def shown(self, path: KeyPath, value: str) -> str:
        """How a message may show this value: as it stands in the file, never what a variable held."""
        if (origin := self.origin(path)) is not None:
            return f"(the value of {origin})"
        return quoted(self.written.get(path, value))

    def drop(self, path: KeyPath) -> None:
        """Remove and close the deepest mapping entry on the way to `path`, so that the rest can still be checked."""
        depth = next((n for n in range(len(path), 0, -1) if isinstance(path[n - 1], str)), 0)
        holder = self.value(path[: depth - 1]) if depth else None
        if isinstance(holder, dict):
            holder.pop(path[depth - 1], None)
        self.closed.add(path[:depth])

    def _problem(self, path: KeyPath, message: str, fix: str) -> Problem:
        if (origin := self.origin(path)) is not None:
            return Problem(dotted(path), 0, 0, message, fix, source=origin)
        line, column = 1, 1
        for length in range(len(path), 0, -1):
            if path[:length] in self.spots:
                line, column = self.spots[path[:length]]
                break
        return Problem(dotted(path), line, column, message, fix, source=self.source)
