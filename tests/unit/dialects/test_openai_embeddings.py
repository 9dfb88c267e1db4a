import pytest

from pointsman.dialects.codec import AnswerFacts
from pointsman.dialects.openai_embeddings import OpenAIEmbeddings
from pointsman.domain.outcome import ProviderError, Usage
from pointsman.domain.request import Dialect, RequestFacts
from tests.unit.dialects.reader import Reader

CODEC = OpenAIEmbeddings()
answer = Reader(CODEC).answer
ROW = {"object": "embedding", "index": 0, "embedding": [0.1]}


def test_nothing_that_a_request_says_makes_it_a_stream() -> None:
    body = b'{"model":"m","input":[[1,2]],"stream":true,"stream_options":{},"tools":[{}],"max_tokens":5}'

    assert CODEC.read_request(body).facts == RequestFacts(Dialect.OPENAI_EMBEDDINGS, "m", False, len(body))


def test_base64_is_asked_for_as_the_caller_did() -> None:
    body = b'{"input":"a","model":"m","encoding_format":"base64","dimensions":256}'

    assert CODEC.write_request(CODEC.read_request(body), "m") == body


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"prompt_tokens": 8, "total_tokens": 8}, Usage(8, 0)),
        ({"prompt_tokens": 0, "total_tokens": 0}, Usage(0, 0)),
        ({"total_tokens": 8}, None),
        ({"prompt_tokens": -1}, None),
        ({"prompt_tokens": "8"}, None),
        (None, None),
        ("x", None),
    ],
)
def test_all_tokens_are_input(usage: object, read: Usage | None) -> None:
    assert answer({"data": [ROW], "usage": usage}) == AnswerFacts(read)


@pytest.mark.parametrize("row", [ROW, {"embedding": "AACAPg=="}, {"what_comes_next": 1}, None])
def test_vectors_are_not_looked_into(row: object) -> None:
    assert answer({"data": [row]}) == AnswerFacts()


@pytest.mark.bug("B-16")
@pytest.mark.parametrize("data", [[], None])
def test_an_answer_without_vectors_is_empty(data: object) -> None:
    assert answer({"object": "list", "data": data}) == AnswerFacts(fault="empty")


@pytest.mark.bug("B-11")
@pytest.mark.parametrize("data", [{}, "x", 5])
def test_an_answer_of_another_shape_is_malformed(data: object) -> None:
    assert answer({"data": data}) == AnswerFacts(fault="malformed")


@pytest.mark.bug("B-15")
def test_an_error_within_a_success_keeps_the_usage() -> None:
    found = answer({"error": {"message": "x"}, "usage": {"prompt_tokens": 3}})

    assert found == AnswerFacts(Usage(3, 0), ProviderError("x"))
