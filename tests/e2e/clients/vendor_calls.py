"""Run by the Python of a client environment: calls a gateway through the SDK of a vendor and prints what it saw.

python vendor_calls.py BASE_URL MODEL KEY DIALECT
"""

import json
import sys
from importlib.metadata import version

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
ABOUT = {"name": "get_weather", "description": "The weather."}
HELLO = {"role": "user", "content": "hi"}


def by_chat(client, model):
    api = client.chat.completions
    tools = [{"type": "function", "function": {**ABOUT, "parameters": SCHEMA}}]

    def whole(messages, **more):
        return api.create(model=model, messages=messages, **more).choices[0].message

    def streamed(messages, **more):
        with api.stream(model=model, messages=messages, **more) as events:
            return events.until_done().get_final_completion().choices[0].message

    def call(message):
        function = message.tool_calls[0].function
        return [function.name, json.loads(function.arguments)]

    def round_of(called):
        result = {"role": "tool", "tool_call_id": called.tool_calls[0].id, "content": "rain"}
        return [HELLO, called.model_dump(exclude_none=True), result]

    return seen_by(whole, streamed, lambda message: message.content, call, round_of, tools)


def by_responses(client, model):
    tools = [{"type": "function", **ABOUT, "parameters": SCHEMA, "strict": False}]

    def whole(items, **more):
        return client.responses.create(model=model, input=items, store=False, **more)

    def streamed(items, **more):
        for event in client.responses.create(model=model, input=items, store=False, stream=True, **more):
            if event.type == "response.completed":
                return event.response
        raise ValueError("it was not completed")

    def item_of(answer):
        return next(item for item in answer.output if item.type == "function_call")

    def call(answer):
        return [item_of(answer).name, json.loads(item_of(answer).arguments)]

    def round_of(called):
        result = {"type": "function_call_output", "call_id": item_of(called).call_id, "output": "rain"}
        return [HELLO, *called.output, result]

    return seen_by(whole, streamed, lambda answer: answer.output_text, call, round_of, tools)


def by_messages(client, model):
    tools = [{**ABOUT, "input_schema": SCHEMA}]
    fields = {"model": model, "max_tokens": 64}

    def whole(messages, **more):
        return client.messages.create(messages=messages, **fields, **more)

    def streamed(messages, **more):
        with client.messages.stream(messages=messages, **fields, **more) as events:
            return events.get_final_message()

    def block(message, type_):
        return next(found for found in message.content if found.type == type_)

    def call(message):
        return [block(message, "tool_use").name, block(message, "tool_use").input]

    def round_of(called):
        result = {"type": "tool_result", "tool_use_id": block(called, "tool_use").id, "content": "rain"}
        return [HELLO, {"role": "assistant", "content": called.content}, {"role": "user", "content": [result]}]

    return seen_by(whole, streamed, lambda message: block(message, "text").text, call, round_of, tools)


def seen_by(whole, streamed, text, call, round_of, tools):
    called = whole([HELLO], tools=tools)
    return {
        "unary": text(whole([HELLO])),
        "stream": text(streamed([HELLO])),
        "tools": call(called),
        "streamed tools": call(streamed([HELLO], tools=tools)),
        "results": text(whole(round_of(called), tools=tools)),
        "streamed results": text(streamed(round_of(called), tools=tools)),
    }


if __name__ == "__main__":
    base_url, model, key, dialect = sys.argv[1:]
    if dialect == "anthropic_messages":
        from anthropic import Anthropic

        package, client = "anthropic", Anthropic(base_url=base_url.removesuffix("/v1"), api_key=key, max_retries=0)
        seen = by_messages(client, model)
    else:
        from openai import OpenAI

        package, client = "openai", OpenAI(base_url=base_url, api_key=key, max_retries=0)
        seen = (by_responses if dialect == "openai_responses" else by_chat)(client, model)
    print(json.dumps({"version": version(package), **seen}))
