"""Run by the Python of a client environment: calls a gateway through the real OpenAI SDK and prints what it saw.

python openai_calls.py BASE_URL MODEL CALL
"""

import json
import sys

import openai
from pydantic import BaseModel

HELLO = [{"role": "user", "content": "hi"}]
WEATHER = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}


class City(BaseModel):
    name: str
    people: int


def unary(client, model):
    raw = client.chat.completions.with_raw_response.create(model=model, messages=HELLO, temperature=0.1)
    answer = raw.parse()
    return {
        "text": answer.choices[0].message.content,
        "finish": answer.choices[0].finish_reason,
        "tokens": answer.usage.completion_tokens,
        "target": raw.headers["x-pointsman-target"],
        "request_id": answer._request_id,
        "header_id": raw.headers["x-request-id"],
    }


def stream(client, model):
    events = list(client.chat.completions.create(model=model, messages=HELLO, stream=True))
    return {
        "text": "".join(event.choices[0].delta.content or "" for event in events),  # every event has a choice
        "finishes": [event.choices[0].finish_reason for event in events if event.choices[0].finish_reason],
    }


def stream_with_usage(client, model):
    options = {"include_usage": True}
    events = list(client.chat.completions.create(model=model, messages=HELLO, stream=True, stream_options=options))
    return {"choices_of_last": len(events[-1].choices), "tokens": events[-1].usage.completion_tokens}


def tools(client, model):
    answer = client.chat.completions.create(model=model, messages=HELLO, tools=[WEATHER])
    call = answer.choices[0].message.tool_calls[0]
    return {
        "name": call.function.name,
        "arguments": json.loads(call.function.arguments),
        "finish": answer.choices[0].finish_reason,
    }


def structured(client, model):
    parsed = client.chat.completions.parse(model=model, messages=HELLO, response_format=City)
    city = parsed.choices[0].message.parsed
    return {"name": city.name, "people": city.people}


def models(client, model):
    return {"ids": [found.id for found in client.models.list()], "one": client.models.retrieve(model).id}


def error(client, model):
    try:
        for _ in client.chat.completions.create(model=model, messages=HELLO, stream=True):
            pass
    except openai.APIError as failed:
        return {
            "kind": type(failed).__name__,
            "status": getattr(failed, "status_code", None),
            "code": failed.code,
            "type": failed.type,
            "message": failed.message,
        }
    return {"kind": "none"}


CALLS = {call.__name__: call for call in (unary, stream, stream_with_usage, tools, structured, models, error)}

if __name__ == "__main__":
    base_url, model, name = sys.argv[1:]
    client = openai.OpenAI(base_url=base_url, api_key="sk-caller", max_retries=2)
    print(json.dumps({"version": openai.__version__, **CALLS[name](client, model)}))
