"""Run by the Python of a client environment: calls a gateway through the real Anthropic SDK and prints what it saw.

python anthropic_calls.py BASE_URL MODEL CALL KEY
"""

import json
import sys

import anthropic

HELLO = [{"role": "user", "content": "hi"}]
FOR_EVER = [{"role": "user", "content": "Go on for ever."}]
SHORT = {"max_tokens": 64, "messages": HELLO}
THINKING = {"type": "enabled", "budget_tokens": 1024}
WEATHER = {
    "name": "get_weather",
    "description": "The weather.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}


def seen_of(message):
    return {
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "thought": "".join(block.thinking for block in message.content if block.type == "thinking"),
        "types": [block.type for block in message.content],
        "calls": [[block.name, block.input] for block in message.content if block.type == "tool_use"],
        "stop": message.stop_reason,
        "input": message.usage.input_tokens,
        "output": message.usage.output_tokens,
        "cached": message.usage.cache_read_input_tokens,
    }


def unary(client, model):
    raw = client.messages.with_raw_response.create(model=model, **SHORT)
    message = raw.parse()
    return {
        **seen_of(message),
        "target": raw.headers["x-pointsman-target"],
        "request_id": message._request_id,
        "header_id": raw.headers["request-id"],
    }


def stream(client, model):
    with client.messages.stream(model=model, **SHORT) as events:
        text = "".join(events.text_stream)
        return {**seen_of(events.get_final_message()), "pieces": text}


def events(client, model):
    return {"types": [event.type for event in client.messages.create(model=model, stream=True, **SHORT)]}


def tools(client, model):
    return seen_of(client.messages.create(model=model, tools=[WEATHER], **SHORT))


def streamed_tools(client, model):
    with client.messages.stream(model=model, tools=[WEATHER], **SHORT) as events:
        return seen_of(events.get_final_message())


def tool_round(client, model):
    called = client.messages.create(model=model, tools=[WEATHER], **SHORT)
    (call,) = [block for block in called.content if block.type == "tool_use"]
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "rain"}
    messages = [*HELLO, {"role": "assistant", "content": called.content}, {"role": "user", "content": [result]}]
    return seen_of(client.messages.create(model=model, max_tokens=64, messages=messages, tools=[WEATHER]))


def thinking(client, model):
    with client.messages.stream(model=model, max_tokens=2048, messages=HELLO, thinking=THINKING) as events:
        return seen_of(events.get_final_message())


def beta(client, model):
    return seen_of(client.beta.messages.create(model=model, betas=["a-2026-01-01", "b-2026-02-02"], **SHORT))


def count(client, model):
    return {"tokens": client.messages.count_tokens(model=model, messages=HELLO, tools=[WEATHER]).input_tokens}


def models(client, model):
    page = client.models.list(limit=1)
    return {"ids": [found.id for found in page], "one": client.models.retrieve(model).display_name}


def same_prefix_twice(client, model):
    messages = [{"role": "user", "content": "Rules. " * 200}]
    answers = [client.messages.create(model=model, max_tokens=64, messages=messages) for _ in range(2)]
    return {"answers": [seen_of(answer) for answer in answers]}


def leave(client, model):
    with client.messages.stream(model=model, max_tokens=4096, messages=FOR_EVER) as events:
        return {"text": next(iter(events.text_stream))}


def failed(ask):
    try:
        ask()
    except anthropic.APIStatusError as error:
        return {
            "kind": type(error).__name__,
            "status": error.status_code,
            "body": error.body,
            "request_id": error.request_id,
        }
    return {"kind": "none"}


def error(client, model):
    return failed(lambda: client.messages.create(model=model, **SHORT))


def error_in_a_stream(client, model):
    return failed(lambda: list(client.messages.create(model=model, stream=True, **SHORT)))


def too_long(client, model):
    return failed(
        lambda: client.messages.create(
            model=model, max_tokens=64, messages=[{"role": "user", "content": "word " * 30_000}]
        )
    )


def retried(client, model):
    return error(client.with_options(max_retries=2), model)


CALLS = {
    call.__name__: call
    for call in (
        unary, stream, events, tools, streamed_tools, tool_round, thinking, beta, count, models, same_prefix_twice,
        leave, error, error_in_a_stream, too_long, retried,
    )
}  # fmt: skip

if __name__ == "__main__":
    base_url, model, name, key = sys.argv[1:]
    client = anthropic.Anthropic(base_url=base_url, api_key=key, max_retries=0)
    print(json.dumps({"version": anthropic.__version__, **CALLS[name](client, model)}))
