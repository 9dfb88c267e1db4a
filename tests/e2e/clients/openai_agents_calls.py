"""Run by the Python of a client environment: calls a gateway through OpenAI's Agents SDK and prints what it saw.

python openai_agents_calls.py BASE_URL MODEL KEY DIALECT
"""

import asyncio
import json
import sys
from importlib.metadata import version

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(disabled=True)  # it would go to OpenAI


async def streamed(agent):
    running = Runner.run_streamed(agent, "hi")
    async for _ in running.stream_events():
        pass
    return running.final_output


async def seen_by(model):
    calls = []

    @function_tool
    def get_weather(city: str) -> str:
        """The weather."""
        calls.append(["get_weather", {"city": city}])
        return f"rain in {city}"

    plain, with_tools = Agent("plain", model=model), Agent("tools", model=model, tools=[get_weather])
    result = (await Runner.run(with_tools, "hi")).final_output
    streamed_result = await streamed(with_tools)
    return {
        "unary": (await Runner.run(plain, "hi")).final_output,
        "stream": await streamed(plain),
        "tools": calls[0],
        "streamed tools": calls[1],
        "results": result,
        "streamed results": streamed_result,
    }


if __name__ == "__main__":
    base_url, model, key, dialect = sys.argv[1:]
    client = AsyncOpenAI(base_url=base_url, api_key=key, max_retries=0)
    kind = OpenAIResponsesModel if dialect == "openai_responses" else OpenAIChatCompletionsModel
    print(json.dumps({"version": version("openai-agents"), **asyncio.run(seen_by(kind(model, client)))}))
