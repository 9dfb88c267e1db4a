import contextlib
import json
import time

import pytest

from pointsman.dialects.top_level import MAX_FIELDS, MAX_ITEMS, read_top_level, splice
from pointsman.domain.errors import GatewayError

LAYOUTS: dict[str, bytes] = {
    "compact": b'{"model":"a","n":12,"stream":true,"messages":[{"role":"user"}]}',
    "spaced": b'{"model": "a", "n": 12, "stream": true, "messages": [{"role": "user"}]}',
    "indented": b'\r\n{\n\t"model" : "a",\n\t"n":12 , "stream"\n:\ttrue,"messages" :[ {"role":"user"} ]\n}\n ',
    "one space": b'{"model":"a","n":12,"stream":true, "messages":[{"role":"user"}]}',
    "space at the end": b'{"model":"a","n":12,"stream":true,"messages":[{"role":"user"}]} ',
    "escaped name": b'{"\\u006dodel":"a","n":12,"strea\\u006D":true,"messages":[{"role":"user"}]}',
    "escaped slash": b'{"model":"a","n":12,"stream":true,"messages":[],"a\\/b":{"c":1}}',
    "escaped quote": b'{"\\"":"}","\\\\":"{","model":"a","n":12,"stream":true,"messages":[]}',
    "non-ASCII name": '{"ä":1,"北京":"👩","model":"a","n":12,"stream":true,"messages":[]}'.encode(),
    "non-ASCII value": '{"x":"北京","model":"a","n":12,"stream":true,"messages":[]}'.encode(),
    "names in values": b'{"x":"\\"model\\":1","y":{"model":2,"n":3},"model":"a","n":12,"stream":true,"messages":[]}',
    "empty name": b'{"":0,"model":"a","n":12,"stream":true,"messages":[]}',
    "white space within a value": b'{"model":"a","n":12,"stream":true,"messages":[ ]}',
}


def refusal(body: bytes) -> GatewayError:
    with pytest.raises(GatewayError) as raised:
        read_top_level(body)
    return raised.value


@pytest.mark.parametrize("body", LAYOUTS.values(), ids=LAYOUTS)
def test_the_span_of_every_field_holds_its_value(body: bytes) -> None:
    top = read_top_level(body)
    spans = {name: top.span(name) for name in top.values}

    assert {name: json.loads(body[start:end]) for name, (start, end) in spans.items()} == json.loads(body)


@pytest.mark.parametrize("body", LAYOUTS.values(), ids=LAYOUTS)
def test_a_span_holds_not_a_byte_more_than_the_value(body: bytes) -> None:
    top = read_top_level(body)

    for name, value in top.values.items():
        start, end = top.span(name)
        assert body[start:end] == bytes(value)


@pytest.mark.parametrize("body", LAYOUTS.values(), ids=LAYOUTS)
def test_a_field_that_is_not_there_has_no_span(body: bytes) -> None:
    top = read_top_level(body)

    with pytest.raises(KeyError):
        top.span("absent")


@pytest.mark.parametrize("name", ["compact", "non-ASCII value", "names in values", "white space within a value"])
def test_a_compact_body_is_counted_not_walked(name: str) -> None:
    assert read_top_level(LAYOUTS[name]).spans is None


@pytest.mark.parametrize(
    "name", ["spaced", "indented", "one space", "space at the end", "escaped name", "escaped quote"]
)
def test_any_other_layout_is_walked(name: str) -> None:
    assert read_top_level(LAYOUTS[name]).spans is not None


@pytest.mark.parametrize("body", [b"{}", b" { } ", b"\n{\t}\r\n"])
def test_an_empty_object_has_no_fields(body: bytes) -> None:
    assert read_top_level(body).values == {}


@pytest.mark.case("I18")
@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"a","model":"b"}',
        b'{"model":"a","model":"a"}',
        b'{"model":"b","x":1,"model":"a"}',
        b'{ "model" : "a" , "model" : "b" }',
        b'{"model":"a","\\u006dodel":"b"}',
        b'{"\\u006dodel":"a","model":"b"}',
        b'{"\\u006dodel":"a","\\u006Dodel":"a"}',
        b'{"model":"a","n":12,"model":"a","n":1}',
        b'{"n":12,"model":"a","n":1}',
        b'{"n":1,"model":"a","n":12}',
        b'{"n":1,"n":1.5}',
        b'{"n":12,"n":1}',
        b'{"n":-1,"n":-12,"n":-1}',
        b'{"a":1,"b":12,"a":1,"b":1}',
        b'{"x":{"a":1},"x":{"a":1}}',
        b'{"":1,"":1}',
        '{"ä":1,"ä":2}'.encode(),
        b'{"\\u00e4":1,"\xc3\xa4":2}',
        b'{"a":1,"a":11}',
        b'{"a":true,"a":true,"b":null}',
    ],
)
def test_a_repeated_field_is_refused(body: bytes) -> None:
    error = refusal(body)

    assert error.status == 400
    assert "more than once" in error.message


def test_the_refusal_of_a_repeated_field_names_it() -> None:
    error = refusal(b'{"model": "a", "model": "b"}')

    assert (error.param, "'model'" in error.message) == ("model", True)


def test_repeated_names_within_a_value_are_not_ours_to_judge() -> None:
    top = read_top_level(b'{"x":{"a":1,"a":2},"y":[{"x":1}]}')

    assert bytes(top.values["x"]) == b'{"a":1,"a":2}'


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b'{"a"',
        b'{"a":',
        b'{"a":1',
        b'{"a":1,',
        b'{"a":1,}',
        b'{,"a":1}',
        b'{"a":1 "b":2}',
        b"{'a':1}",
        b"{a:1}",
        b'{"a":1}}',
        b'{"a":1}{"a":1}',
        b'{"a":1} x',
        b'{"a":1}\x00',
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":-Infinity}',
        b'{"a":01}',
        b'{"a":.5}',
        b'{"a":+1}',
        b'{"a":"\n"}',
        b'{"a":"\\x"}',
        b'{"a\x00":1}',
        b'{"a":1,/* */"b":2}',
        b"[]",
        b'"a"',
        b"1",
        b"null",
        b"\xef\xbb\xbf{}",
        b'{"a":"\xff"}',
        b'{"\xff":1}',
        b'{"a":"\xc3"}',
        b'{"a":"\xed\xa0\x80"}',
        b'{"a":"\xc0\xaf"}',
        '{"a":1}'.encode("utf-16"),
        '{"a":1}'.encode("utf-16-be"),
        b'{"a":' + b"[" * 100_000,
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    ],
    ids=lambda body: repr(body[:20]),
)
def test_anything_but_one_object_of_utf_8_is_refused(body: bytes) -> None:
    assert refusal(body).status == 400


@pytest.mark.parametrize(
    ("body", "reason"), [(b"[]", "JSON object"), (b"{", "not valid JSON"), (b'{"a":"\xff"}', "not UTF-8 \\(byte 6\\)")]
)
def test_the_refusal_says_what_is_wrong(body: bytes, reason: str) -> None:
    with pytest.raises(GatewayError, match=reason):
        read_top_level(body)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([], b"0123456789"),
        ([(2, 4, b"XYZ")], b"01XYZ456789"),
        ([(2, 4, b""), (8, 8, b"+")], b"014567+89"),
        ([(8, 9, b"B"), (0, 1, b"AA")], b"AA1234567B9"),
        ([(0, 10, b"")], b""),
    ],
)
def test_edits_replace_their_spans_only(edits: list[tuple[int, int, bytes]], expected: bytes) -> None:
    assert splice(b"0123456789", edits) == expected


# --- bodies made to be expensive

MIB = 1 << 20
SIZE = 3 * MIB
WIDE = {
    "lists": b'{"model":"a","x":[%b[]]}' % (b"[]," * (SIZE // 3)),
    "objects": b'{"model":"a","tools":[%b{}]}' % (b"{}, " * (SIZE // 4)),
    "texts": b'{"model":"a","x":[%b""]}' % (b'"\\",",' * (SIZE // 6)),
    "fields": b"{%b}" % b",".join(b'"%d":0' % number for number in range(SIZE // 9)),
    "fields with spaces": b"{%b}" % b" , ".join(b'"%d" : "" ' % number for number in range(SIZE // 15)),
    "fields within": b'{"x":{%b}}' % b",".join(b'"%d":0' % number for number in range(SIZE // 9)),
    "numbers in between": b'{"model":"a","x":[%b1]}' % (b"{},1," * (SIZE // 5)),
}
LONG = {
    "a picture": b'{"model":"a","x":"%b"}' % (b"A" * SIZE),
    "text full of JSON": b'{"model":"a","x":"%b"}' % (b'{\\"a\\": [1, 2], \\"b\\\\n\\": 3}, ' * (SIZE // 30)),
    "inputs of embeddings": b'{"model":"a","input":[%b]}' % b",".join([b"[%b]" % b", ".join([b"12345"] * 300)] * 1_500),
    "numbers": b'{"model":"a","x":[%b-0.5e+3]}' % (b"1," * (SIZE // 2)),
}


@pytest.mark.case("T60", "I24")
@pytest.mark.parametrize("body", WIDE.values(), ids=WIDE)
def test_a_long_body_with_too_many_fields_and_items_is_refused(body: bytes) -> None:
    assert f"more than {MAX_ITEMS} fields and list items" in refusal(body).message


@pytest.mark.case("T60")
@pytest.mark.parametrize("body", LONG.values(), ids=LONG)
def test_a_long_body_is_taken_however_many_commas_its_texts_and_numbers_have(body: bytes) -> None:
    assert body.count(b",") > MAX_ITEMS or b"," not in body[20:]
    assert read_top_level(body).body is body


@pytest.mark.case("T60")
@pytest.mark.parametrize(("count", "taken"), [(MAX_FIELDS, True), (MAX_FIELDS + 1, False)])
@pytest.mark.parametrize("separator", [b",", b", "])
def test_so_many_fields_are_taken_and_not_one_more(count: int, separator: bytes, *, taken: bool) -> None:
    body = b"{%b}" % separator.join(b'"%d":0' % number for number in range(count))

    if taken:
        assert len(read_top_level(body).values) == count
    else:
        assert f"more than {MAX_FIELDS} fields" in refusal(body).message


@pytest.mark.case("T60", "I24")
@pytest.mark.parametrize("body", [*WIDE.values(), *LONG.values()], ids=[*WIDE, *LONG])
def test_three_megabytes_are_judged_before_anybody_else_has_to_wait(body: bytes) -> None:
    began = time.thread_time()
    with contextlib.suppress(GatewayError):
        read_top_level(body)

    assert time.thread_time() - began < 0.1


@pytest.mark.case("T60")
@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_a_body_nested_without_end_is_refused(opening: bytes) -> None:
    assert "recursion" in refusal(b'{"model":"a","x":' + opening * 100_000).message
