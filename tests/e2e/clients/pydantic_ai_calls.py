"""Run by the Python of a client environment: calls a gateway through Pydantic AI and prints what it saw.

python pydantic_ai_calls.py BASE_URL MODEL KEY DIALECT
"""

import json
import sys
from importlib.metadata import version

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider


def model_for(dialect, base_url, model, key):
    if dialect == "anthropic_messages":
        provider = AnthropicProvider(base_url=base_url.removesuffix("/v1"), api_key=key)
        return AnthropicModel(model, provider=provider)
    kind = OpenAIResponsesModel if dialect == "openai_responses" else OpenAIChatModel
    return kind(model, provider=OpenAIProvider(base_url=base_url, api_key=key))


def seen_by(model):
    calls = []

    def get_weather(city: str) -> str:
        """The weather."""
        calls.append(["get_weather", {"city": city}])
        return f"rain in {city}"

    plain, with_tools = Agent(model), Agent(model, tools=[get_weather])
    streamed = plain.run_stream_sync("hi").get_output()
    result = with_tools.run_sync("hi").output
    streamed_result = with_tools.run_stream_sync("hi").get_output()
    return {
        "unary": plain.run_sync("hi").output,
        "stream": streamed,
        "tools": calls[0],
        "streamed tools": calls[1],
        "results": result,
        "streamed results": streamed_result,
    }


if __name__ == "__main__":
    base_url, model, key, dialect = sys.argv[1:]
    print(json.dumps({"version": version("pydantic-ai-slim"), **seen_by(model_for(dialect, base_url, model, key))}))
