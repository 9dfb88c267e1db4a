"""Run by the Python of a client environment: eight callers ask a gateway again and again through the real OpenAI SDK.

They print a line of JSON for each answer, as it ends, and go on until standard input ends.

python openai_crowd.py BASE_URL MODEL short|long|long_stream
"""

import json
import sys
import time
from itertools import count
from threading import Event, Lock, Thread

import openai

CALLERS = 8
KINDS = {  # what they ask, for how many tokens, and whether by turns as a stream or always
    "short": ("Who are you?", 20, (False, True)),
    "long": ("Go on for ever.", 200, (False,)),
    "long_stream": ("Go on for ever.", 200, (True,)),
}


def one(client, model, content, max_tokens, stream):
    seen = {"stream": stream, "begun_s": time.monotonic(), "text": "", "finish": None, "error": None}
    try:
        raw = client.chat.completions.with_raw_response.create(
            model=model, messages=[{"role": "user", "content": content}], max_tokens=max_tokens, stream=stream
        )
        seen["target"], seen["id"] = raw.headers["x-pointsman-target"], raw.headers["x-request-id"]
        if not stream:
            choice = raw.parse().choices[0]
            return {**seen, "text": choice.message.content, "finish": choice.finish_reason}
        for event in raw.parse():
            seen["text"] += event.choices[0].delta.content or ""
            seen["finish"] = event.choices[0].finish_reason
    except Exception as failed:  # noqa: BLE001  # an answer the SDK cannot read is an error of the gateway, too
        seen["error"] = {"kind": type(failed).__name__, "code": getattr(failed, "code", None), "message": str(failed)}
    return seen


def main():
    base_url, model, kind = sys.argv[1:]
    content, max_tokens, ways = KINDS[kind]
    client = openai.OpenAI(base_url=base_url, api_key="sk-caller", max_retries=0)  # nothing is mended behind our back
    stopped, speaking = Event(), Lock()

    def ask_on():
        for number in count():
            if stopped.is_set():
                return
            seen = one(client, model, content, max_tokens, ways[number % len(ways)])
            with speaking:
                print(json.dumps(seen), flush=True)

    callers = [Thread(target=ask_on) for _ in range(CALLERS)]
    for caller in callers:
        caller.start()
    sys.stdin.read()
    stopped.set()
    for caller in callers:
        caller.join()


if __name__ == "__main__":
    main()
