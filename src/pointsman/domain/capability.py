"""What a request may need of a target. A target has it, lacks it, or nobody knows: the three are never confused."""

from enum import StrEnum


class Capability(StrEnum):
    """The closed set; the configuration declares them by these names."""

    TOOLS = "tools"
    FORCED_TOOLS = "forced_tools"  # the request says that, or which, tool is to be called
    PARALLEL_TOOLS = "parallel_tools"  # it says that several may be called at once
    STRUCTURED_OUTPUT = "structured_output"
    IMAGES = "images"
    AUDIO = "audio"
    FILES = "files"
    REASONING = "reasoning"
    HONORS_MAX_TOKENS = "honors_max_tokens"  # it sets a cap on the output, which must hold
