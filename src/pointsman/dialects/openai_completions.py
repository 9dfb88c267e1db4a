"""OpenAI's legacy completions: `POST /v1/completions`, unary and streamed."""

from pointsman.dialects.openai_chat import OpenAIChat
from pointsman.domain.request import Dialect


class OpenAICompletions(OpenAIChat):
    """As Chat Completions but for the path: a choice has a text where the other has a message or a delta."""

    dialect = Dialect.OPENAI_COMPLETIONS
    path = "/completions"
