"""Run by the Python of a client environment: calls Responses, embeddings and completions through the real OpenAI SDK.

python openai_paths_calls.py BASE_URL MODEL CALL KEY
"""

import json
import sys

import openai
from pydantic import BaseModel

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
TOO_LONG = "word " * 140_000


class City(BaseModel):
    name: str
    people: int


def response(client, model):
    raw = client.responses.with_raw_response.create(model=model, input="hi", store=False)
    answer = raw.parse()
    return {
        "text": answer.output_text,
        "status": answer.status,
        "tokens": answer.usage.output_tokens,
        "cached": answer.usage.input_tokens_details.cached_tokens,
        "target": raw.headers["x-pointsman-target"],
        "request_id": answer._request_id,
        "header_id": raw.headers["x-request-id"],
    }


def streamed_response(client, model):
    events = list(client.responses.create(model=model, input="hi", stream=True))
    last = events[-1]
    return {
        "text": "".join(event.delta for event in events if event.type == "response.output_text.delta"),
        "first": events[0].type,
        "last": last.type,
        "numbers": [getattr(event, "sequence_number", None) for event in events],
        "tokens": last.response.usage.output_tokens if last.response.usage else None,
        "error": last.response.error.model_dump() if last.response.error else None,
        "id": last.response.id,
    }


def helped_stream(client, model):
    """The helper of the SDK, which builds the answer from the events and is strict about them."""
    with client.responses.stream(model=model, input="hi") as stream:
        types = [event.type for event in stream]
        answer = stream.get_final_response()
    return {"text": answer.output_text, "last": types[-1]}


def tool_of_response(client, model):
    answer = client.responses.create(model=model, input="hi", tools=[WEATHER])
    calls = [item for item in answer.output if item.type == "function_call"]
    return {"calls": [[call.name, json.loads(call.arguments)] for call in calls]}


def streamed_tool(client, model):
    events = list(client.responses.create(model=model, input="hi", tools=[WEATHER], stream=True))
    pieces = [event.delta for event in events if event.type == "response.function_call_arguments.delta"]
    names = [event.item.name for event in events if event.type == "response.output_item.added"]
    return {"names": names, "arguments": json.loads("".join(pieces)), "last": events[-1].type}


def tool_round(client, model):
    asked = [{"role": "user", "content": "hi"}]
    first = client.responses.create(model=model, input=asked, tools=[WEATHER])
    call = next(item for item in first.output if item.type == "function_call")
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}
    made = {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments}
    answer = client.responses.create(model=model, input=[*asked, made, result], tools=[WEATHER])
    return {"text": answer.output_text, "status": answer.status}


def structured_response(client, model):
    city = client.responses.parse(model=model, input="Answer in JSON.", text_format=City).output_parsed
    return {"name": city.name, "people": city.people}


def failed_response(client, model, said="hi"):
    return _failed(lambda: list(client.responses.create(model=model, input=said, stream=True)))


def too_long_response(client, model):
    return failed_response(client, model, TOO_LONG)


def left_response(client, model):
    text = ""
    with client.responses.create(model=model, input="Go on for ever.", stream=True) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                text += event.delta
                break
    return {"text": text}


def stored_response(client, model):
    made = client.responses.create(model=model, input="hi")
    read = client.responses.retrieve(made.id)
    items = client.responses.input_items.list(made.id)
    client.responses.create(model=model, input="go on", previous_response_id=made.id)
    client.responses.delete(made.id)
    gone = _failed(lambda: client.responses.retrieve(made.id))
    return {"same": read.output_text == made.output_text, "items": len(items.data), "gone": gone["kind"]}


def embeddings(client, model):
    raw = client.embeddings.with_raw_response.create(model=model, input=["one", "two"])
    answer = raw.parse()
    return {
        "vectors": [row.embedding for row in answer.data],
        "tokens": answer.usage.prompt_tokens,
        "target": raw.headers["x-pointsman-target"],
    }


def embeddings_as_numbers(client, model):
    answer = client.embeddings.create(model=model, input="one", encoding_format="float")
    return {"vectors": [row.embedding for row in answer.data]}


def failed_embeddings(client, model):
    return _failed(lambda: client.embeddings.create(model=model, input="one"))


def completion(client, model):
    answer = client.completions.create(model=model, prompt="S", max_tokens=32)
    choice = answer.choices[0]
    return {"text": choice.text, "finish": choice.finish_reason, "tokens": answer.usage.completion_tokens}


def streamed_completion(client, model):
    events = list(client.completions.create(model=model, prompt="S", stream=True))
    return {
        "text": "".join(event.choices[0].text for event in events),  # every event has a choice
        "finishes": [event.choices[0].finish_reason for event in events if event.choices[0].finish_reason],
    }


def failed_completion(client, model):
    return _failed(lambda: list(client.completions.create(model=model, prompt="S", stream=True)))


def _failed(call):
    try:
        call()
    except openai.APIError as failed:
        return {
            "kind": type(failed).__name__,
            "status": getattr(failed, "status_code", None),
            "code": failed.code,
            "message": failed.message,
        }
    return {"kind": "none"}


CALLS = {
    call.__name__: call
    for call in (
        response, streamed_response, helped_stream, tool_of_response, streamed_tool, tool_round, structured_response,
        failed_response, too_long_response, left_response, stored_response, embeddings, embeddings_as_numbers,
        failed_embeddings, completion, streamed_completion, failed_completion,
    )
}  # fmt: skip

if __name__ == "__main__":
    base_url, model, name, key = sys.argv[1:]
    client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=2)
    print(json.dumps({"version": openai.__version__, **CALLS[name](client, model)}))
