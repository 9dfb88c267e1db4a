"""Run by the Python of a client environment: calls a gateway through LiteLLM and prints what it saw.

python litellm_calls.py BASE_URL MODEL KEY DIALECT
"""

import json
import os
import sys
from importlib.metadata import version

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it fetches its prices as it is imported

import litellm

PREFIXES = {"openai_chat": "openai", "anthropic_messages": "anthropic"}
HELLO = {"role": "user", "content": "hi"}
WEATHER = {
    "name": "get_weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
TOOLS = [{"type": "function", "function": WEATHER}]


def seen_by(ask):
    def streamed(messages, **fields):
        built = litellm.stream_chunk_builder(list(ask(messages=messages, stream=True, **fields)))
        return built.choices[0].message

    def whole(messages, **fields):
        return ask(messages=messages, **fields).choices[0].message

    called, streamed_call = (how([HELLO], tools=TOOLS) for how in (whole, streamed))
    (call,) = called.tool_calls
    (other,) = streamed_call.tool_calls
    result = {"role": "tool", "tool_call_id": call.id, "content": "rain"}
    round_ = [HELLO, called.model_dump(), result]
    return {
        "unary": whole([HELLO]).content,
        "stream": streamed([HELLO]).content,
        "tools": [call.function.name, json.loads(call.function.arguments)],
        "streamed tools": [other.function.name, json.loads(other.function.arguments)],
        "results": whole(round_, tools=TOOLS).content,
        "streamed results": streamed(round_, tools=TOOLS).content,
    }


if __name__ == "__main__":
    base_url, model, key, dialect = sys.argv[1:]
    base_url = base_url.removesuffix("/v1") if dialect == "anthropic_messages" else base_url

    def ask(**fields):
        return litellm.completion(f"{PREFIXES[dialect]}/{model}", base_url=base_url, api_key=key, **fields)

    print(json.dumps({"version": version("litellm"), **seen_by(ask)}))
