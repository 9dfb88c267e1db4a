"""What is known about a request before any target is looked at."""

from enum import StrEnum

from pointsman.domain.capability import Capability
from pointsman.domain.conversation import Session
from pointsman.domain.preferences import Preferences
from pointsman.domain.score_policy import PromptFeature
from pointsman.domain.value import Leaf, Value


class Dialect(StrEnum):
    """Wire format of a request."""

    OPENAI_CHAT = "openai_chat"
    OPENAI_RESPONSES = "openai_responses"
    ANTHROPIC_MESSAGES = "anthropic_messages"
    OPENAI_EMBEDDINGS = "openai_embeddings"
    OPENAI_COMPLETIONS = "openai_completions"


class Scope(StrEnum):
    """What a caller may do beyond being answered."""

    CHAT = "chat"
    STEER = "steer"
    EXPLAIN = "explain"


class Script(StrEnum):
    """What most of a text is written in, as far as tokenizers treat it differently."""

    LATIN = "latin"  # and every other alphabet
    CJK = "cjk"


class Caller(Value):
    """Who asks. The name scopes sessions, limits and evidence; it is never a credential."""

    name: str
    scopes: frozenset[Scope]
    groups: frozenset[str] | None = None  # names of the model groups it may use; None: all
    policy: Preferences | None = None  # which targets may serve it; None: any


class RequestFacts(Leaf):
    """Scalars derived once from a parsed request. No text: records and traces show this as it is."""

    dialect: Dialect
    model: str
    stream: bool
    body_bytes: int
    tool_count: int = 0
    structured_output: bool = False
    reasoning: bool = False
    max_output_tokens: int | None = None  # None: the caller set no cap
    wants_usage: bool = False  # the caller asked for the usage event of a stream itself
    text_chars: int | None = None  # without images and files; None: not counted, the group's strategy has no use for it
    script: Script | None = None  # None: as above
    session: Session | None = None  # None: there is none, or the group's policy has no use for it
    needs: tuple[Capability, ...] | None = None  # None: not looked for, as nobody in the group is known to lack any
    preferences: tuple[str, ...] = ()  # names of those that the request came with
    features: tuple[PromptFeature, ...] | None = None  # what it is about; None: not looked for, as nobody goes by it
    has_images: bool | None = None  # None: as above
