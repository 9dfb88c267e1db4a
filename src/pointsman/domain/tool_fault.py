"""What makes an answer to a request with tools one that nobody can use, although it came whole."""

from enum import StrEnum


class ToolFault(StrEnum):
    """The closed set, the plainest first."""

    TRUNCATED = "truncated"  # it stopped for its length, and nobody had set a cap
    EMPTY = "empty"  # neither a text nor a call
    UNKNOWN_TOOL = "unknown_tool"
    INVALID_JSON = "invalid_json"  # the arguments of a call are no JSON object
    SCHEMA_MISMATCH = "schema_mismatch"  # they are not what the tool takes
