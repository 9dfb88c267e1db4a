"""The dialects spoken here; a new one is one file and one line."""

from collections.abc import Mapping
from types import MappingProxyType

from pointsman.dialects.anthropic_messages import AnthropicMessages
from pointsman.dialects.codec import Codec
from pointsman.dialects.openai_chat import OpenAIChat
from pointsman.dialects.openai_completions import OpenAICompletions
from pointsman.dialects.openai_embeddings import OpenAIEmbeddings
from pointsman.dialects.openai_responses import OpenAIResponses
from pointsman.domain.request import Dialect

DIALECTS: Mapping[Dialect, Codec] = MappingProxyType(
    {
        Dialect.OPENAI_CHAT: OpenAIChat(),
        Dialect.OPENAI_RESPONSES: OpenAIResponses(),
        Dialect.ANTHROPIC_MESSAGES: AnthropicMessages(),
        Dialect.OPENAI_EMBEDDINGS: OpenAIEmbeddings(),
        Dialect.OPENAI_COMPLETIONS: OpenAICompletions(),
    }
)
