"""Run by the Python of a client environment: calls a gateway through the real OpenAI SDK and prints what it saw.

python openai_calls.py BASE_URL MODEL CALL KEY
"""

import json
import sys

import openai
from pydantic import BaseModel

HELLO = [{"role": "user", "content": "hi"}]
IN_JSON = [{"role": "user", "content": "Answer in JSON."}]
FOR_EVER = [{"role": "user", "content": "Go on for ever."}]
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


def forced_tool_in_a_stream(client, model):
    events = client.chat.completions.create(
        model=model, messages=HELLO, tools=[WEATHER], tool_choice="required", stream=True
    )
    choices = [event.choices[0] for event in events]
    pieces = [call for choice in choices for call in choice.delta.tool_calls or ()]
    return {
        "name": pieces[0].function.name,
        "pieces": len(pieces),
        "arguments": json.loads("".join(piece.function.arguments for piece in pieces)),
        "finish": choices[-1].finish_reason,
    }


def tool_round(client, model):
    called = client.chat.completions.create(model=model, messages=HELLO, tools=[WEATHER]).choices[0].message
    result = {"role": "tool", "tool_call_id": called.tool_calls[0].id, "content": "rain"}
    answer = client.chat.completions.create(model=model, messages=[*HELLO, called, result], tools=[WEATHER])
    return {"text": answer.choices[0].message.content, "finish": answer.choices[0].finish_reason}


def structured(client, model):
    parsed = client.chat.completions.parse(model=model, messages=IN_JSON, response_format=City)
    city = parsed.choices[0].message.parsed
    return {"name": city.name, "people": city.people}


def same_prefix_twice(client, model):
    messages = [{"role": "system", "content": "Rules. " * 200}, *HELLO]
    answers = [client.chat.completions.create(model=model, messages=messages) for _ in range(2)]
    return {
        "prompt": [answer.usage.prompt_tokens for answer in answers],
        "cached": [answer.usage.prompt_tokens_details.cached_tokens for answer in answers],
    }


def leave(client, model):
    stream = client.chat.completions.create(model=model, messages=FOR_EVER, stream=True)
    text = ""
    while not text:
        text = next(stream).choices[0].delta.content or ""
    stream.close()
    return {"text": text}


def models(client, model):
    return {"ids": [found.id for found in client.models.list()], "one": client.models.retrieve(model).id}


def error(client, model, messages=HELLO):
    try:
        for _ in client.chat.completions.create(model=model, messages=messages, stream=True):
            pass
    except openai.APIError as failed:
        return {
            "kind": type(failed).__name__,
            "status": getattr(failed, "status_code", None),
            "code": failed.code,
            "type": failed.type,
            "message": failed.message,
            "body": failed.response.text if isinstance(failed, openai.APIStatusError) else None,
        }
    return {"kind": "none"}


def too_long(client, model):
    return error(client, model, [{"role": "user", "content": "word " * 30_000}])


def error_of_much(client, model):
    """As a long session of an agent sends it: in many reads."""
    return error(client, model, [{"role": "user", "content": "x" * 8_000_000}])


CALLS = {
    call.__name__: call
    for call in (
        unary, stream, stream_with_usage, tools, forced_tool_in_a_stream, tool_round, structured, same_prefix_twice,
        leave, models, error, too_long, error_of_much,
    )
}  # fmt: skip

if __name__ == "__main__":
    base_url, model, name, key = sys.argv[1:]
    client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=2)
    print(json.dumps({"version": openai.__version__, **CALLS[name](client, model)}))
