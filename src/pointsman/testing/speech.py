"""How each dialect says what an answer scripts. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from pointsman.domain.request import Dialect
from pointsman.testing import chat, messages, plain, responses
from pointsman.testing.answers import Chat
from pointsman.testing.chat import Asked, Payload

# finish reasons are scripted in OpenAI's words, and an unknown one is said as it is
STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
INCOMPLETE_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}


class Spoken(Struct, frozen=True):
    """A stream: events before the first content, the pieces of the answer, and its end but for the terminator."""

    opening: list[bytes]
    pieces: list[bytes]
    closing: list[bytes]
    done: bytes  # the terminator


class Speech(Protocol):
    """One dialect."""

    done: bytes  # the terminator of a stream that is given event by event

    def whole(self, answer: Chat, to: Asked) -> Payload: ...
    def stream(self, answer: Chat, to: Asked) -> Spoken: ...
    def error(self, status: int, said: str | Mapping[str, object] | None) -> Payload: ...
    def sse(self, event: Mapping[str, object]) -> bytes: ...


class ChatSpeech:
    """OpenAI Chat."""

    done = chat.DONE

    def whole(self, answer: Chat, to: Asked) -> Payload:
        return chat.completion(
            answer.text,
            to=to,
            finish_reason=_finish_reason(answer),
            tool_calls=answer.tool_calls,
            usage=_chat_usage(answer, to),
            reasoning=answer.reasoning,
        )

    def stream(self, answer: Chat, to: Asked) -> Spoken:
        deltas = [
            *map(chat.reasoning_delta, chat.words(answer.reasoning)),
            *map(chat.text_delta, chat.words(answer.text)),
            *chat.tool_call_deltas(answer.tool_calls),
        ]
        closing = [chat.chunk({}, to=to, finish_reason=_finish_reason(answer))]
        usage = _chat_usage(answer, to)
        if to.include_usage and usage is not None:
            closing.append(chat.usage_chunk(usage, to=to))
        return Spoken(
            [chat.sse(chat.chunk(chat.role_delta(), to=to))],
            [chat.sse(chat.chunk(delta, to=to)) for delta in deltas],
            [*map(chat.sse, closing)],
            self.done,
        )

    def error(self, status: int, said: str | Mapping[str, object] | None) -> Payload:
        return chat.error(status, said)

    def sse(self, event: Mapping[str, object]) -> bytes:
        return chat.sse(event)


class MessagesSpeech:
    """Anthropic Messages."""

    done = messages.STOP

    def whole(self, answer: Chat, to: Asked) -> Payload:
        content = [messages.thinking_block(answer.reasoning)] if answer.reasoning else []
        content += [messages.text_block(answer.text)] if answer.text else []
        content += map(messages.tool_use_block, answer.tool_calls)
        return messages.message(content, to=to, stop_reason=_stop_reason(answer), usage=self._usage(answer, to))

    def stream(self, answer: Chat, to: Asked) -> Spoken:
        usage = self._usage(answer, to)
        begin = messages.message_start(to=to, usage=None if usage is None else usage | {"output_tokens": 1})
        return Spoken(
            [*map(messages.sse, (begin, messages.ping()))],
            [*map(messages.sse, self._blocks(answer))],
            [messages.sse(messages.message_delta(_stop_reason(answer), usage))],
            self.done,
        )

    def error(self, status: int, said: str | Mapping[str, object] | None) -> Payload:
        return messages.error(status, said)

    def sse(self, event: Mapping[str, object]) -> bytes:
        return messages.sse(event)

    def _blocks(self, answer: Chat) -> list[Payload]:
        blocks = [messages.thinking_events(answer.reasoning, 0)] if answer.reasoning else []
        if answer.text:
            blocks.append(messages.text_events(answer.text, len(blocks)))
        for call in answer.tool_calls:
            blocks.append(messages.tool_use_events(call, len(blocks)))
        return [event for block in blocks for event in block]

    def _usage(self, answer: Chat, to: Asked) -> Payload | None:
        return None if answer.usage is None else messages.usage(answer.usage, to=to, text=answer.text)


class ResponsesSpeech:
    """OpenAI Responses."""

    done = responses.COMPLETED

    def whole(self, answer: Chat, to: Asked) -> Payload:
        items = [*map(responses.reasoning_item, filter(None, [answer.reasoning]))]
        items += [responses.message_item(answer.text, len(items))] if answer.text else []
        items += [responses.call_item(call, index) for index, call in enumerate(answer.tool_calls, len(items))]
        reason = INCOMPLETE_REASONS.get(_finish_reason(answer))
        usage = None if answer.usage is None else responses.usage(answer.usage, to=to, text=answer.text)
        status = "incomplete" if reason else "completed"
        return responses.response(items, to=to, status=status, usage=usage, incomplete=reason)

    def stream(self, answer: Chat, to: Asked) -> Spoken:
        opening, pieces = responses.created(to=to), self._items(answer)
        events = responses.numbered([*opening, *pieces, responses.ended(self.whole(answer, to))])
        *said, done = map(responses.sse, events)
        return Spoken(said[: len(opening)], said[len(opening) :], [], done)

    def error(self, status: int, said: str | Mapping[str, object] | None) -> Payload:
        return chat.error(status, said)

    def sse(self, event: Mapping[str, object]) -> bytes:
        return responses.sse(event)

    def _items(self, answer: Chat) -> list[Payload]:
        items = [responses.reasoning_events(answer.reasoning, 0)] if answer.reasoning else []
        if answer.text:
            items.append(responses.text_events(answer.text, len(items)))
        for call in answer.tool_calls:
            items.append(responses.call_events(call, len(items)))
        return [event for item in items for event in item]


class CompletionsSpeech:
    """OpenAI's legacy completions."""

    done = chat.DONE

    def whole(self, answer: Chat, to: Asked) -> Payload:
        return plain.completion(answer.text, to=to, finish_reason=_finish_reason(answer), usage=_chat_usage(answer, to))

    def stream(self, answer: Chat, to: Asked) -> Spoken:
        events = [plain.completion(word, to=to) for word in chat.words(answer.text)]
        closing = [plain.completion("", to=to, finish_reason=_finish_reason(answer))]
        usage = _chat_usage(answer, to)
        if to.include_usage and usage is not None:
            closing.append(plain.completion("", to=to) | {"choices": [], "usage": usage})
        return Spoken([], [*map(chat.sse, events)], [*map(chat.sse, closing)], self.done)

    def error(self, status: int, said: str | Mapping[str, object] | None) -> Payload:
        return chat.error(status, said)

    def sse(self, event: Mapping[str, object]) -> bytes:
        return chat.sse(event)


class EmbeddingsSpeech(ChatSpeech):
    """OpenAI embeddings: of an answer only its usage matters. Nothing is ever streamed."""

    def whole(self, answer: Chat, to: Asked) -> Payload:
        usage = None if answer.usage is None else plain.embeddings_usage(answer.usage, to=to)
        return plain.embeddings(to=to, usage=usage)


def _chat_usage(answer: Chat, to: Asked) -> Payload | None:
    return None if answer.usage is None else chat.usage(answer.usage, to=to, text=answer.text)


def _finish_reason(answer: Chat) -> str:
    return answer.finish_reason or ("tool_calls" if answer.tool_calls else "stop")


def _stop_reason(answer: Chat) -> str:
    reason = _finish_reason(answer)
    return STOP_REASONS.get(reason, reason)


SPEECHES: Mapping[Dialect, Speech] = MappingProxyType(
    {
        Dialect.OPENAI_CHAT: ChatSpeech(),
        Dialect.OPENAI_RESPONSES: ResponsesSpeech(),
        Dialect.ANTHROPIC_MESSAGES: MessagesSpeech(),
        Dialect.OPENAI_EMBEDDINGS: EmbeddingsSpeech(),
        Dialect.OPENAI_COMPLETIONS: CompletionsSpeech(),
    }
)
