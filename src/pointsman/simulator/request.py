"""One request of a workload."""

from pointsman.domain.conversation import Prefix, Session
from pointsman.domain.value import Leaf

BLOCK_TOKENS = 512  # of a prompt, as prefix caches keep them
BYTES_PER_TOKEN = 4


class Request(Leaf):
    """What somebody asks for, and how long the answer is going to be."""

    id: str
    at_s: float
    input_tokens: int
    output_tokens: int
    caller: str = "alice"
    session: Session | None = None
    blocks: tuple[int, ...] = ()  # of the prompt, each one named by all text up to its end

    @property
    def prefix(self) -> Prefix | None:
        """How its prompt begins, as the gateway sees it."""
        if not self.blocks:
            return None
        ends = tuple([block.to_bytes(8, "big") for block in self.blocks])
        lengths = tuple([BLOCK_TOKENS * BYTES_PER_TOKEN * (number + 1) for number in range(len(ends))])
        return Prefix(ends, lengths)
