"""Run by the Python of a client environment: calls a gateway through LangChain and prints what it saw.

python langchain_calls.py BASE_URL MODEL KEY DIALECT
"""

import json
import sys
from importlib.metadata import version

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool


@tool
def get_weather(city: str) -> str:
    """The weather."""
    return f"rain in {city}"


def model_for(dialect, base_url, model, key):
    if dialect == "anthropic_messages":
        from langchain_anthropic import ChatAnthropic  # noqa: PLC0415  # each in an environment of its own

        base_url = base_url.removesuffix("/v1")
        return ChatAnthropic(model=model, base_url=base_url, api_key=key, max_retries=0), "langchain-anthropic"
    from langchain_openai import ChatOpenAI  # noqa: PLC0415

    by_responses = dialect == "openai_responses"
    chat = ChatOpenAI(model=model, base_url=base_url, api_key=key, max_retries=0, use_responses_api=by_responses)
    return chat, "langchain-openai"


def whole(pieces):
    first, *others = pieces
    return sum(others, first)


def seen_by(chat):
    hello = HumanMessage("hi")
    with_tools = chat.bind_tools([get_weather])
    called = with_tools.invoke([hello])
    (call,) = called.tool_calls
    (streamed,) = whole(with_tools.stream([hello])).tool_calls
    result = ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"])
    return {
        "unary": chat.invoke([hello]).text,
        "stream": whole(chat.stream([hello])).text,
        "tools": [call["name"], call["args"]],
        "streamed tools": [streamed["name"], streamed["args"]],
        "results": with_tools.invoke([hello, called, result]).text,
        "streamed results": whole(with_tools.stream([hello, called, result])).text,
    }


if __name__ == "__main__":
    base_url, model, key, dialect = sys.argv[1:]
    chat, package = model_for(dialect, base_url, model, key)
    print(json.dumps({"version": version(package), **seen_by(chat)}))
