"""Recorded requests."""

import gzip
from pathlib import Path

import pytest

from pointsman.simulator.trace import TraceError, read_trace

MOONCAKE = """\
{"timestamp": 6000, "input_length": 1100, "output_length": 52, "hash_ids": [0, 1, 2]}
{"timestamp": 3000, "input_length": 600, "output_length": 26, "hash_ids": [0, 3]}
"""
AZURE = "t_ms,in_tokens,out_tokens\n0,4808,10\n52,3180,8\n90000,10,1\n"


def test_mooncake_trace_is_read_in_order_with_its_whole_blocks(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(MOONCAKE)

    first, second = read_trace(path, duration_s=60.0)

    assert (first.at_s, first.input_tokens, first.output_tokens, first.blocks) == (0.0, 600, 26, (0,))
    assert (second.at_s, second.blocks) == (3.0, (0, 1))


def test_azure_trace_may_be_compressed_sped_up_and_cut(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv.gz"
    path.write_bytes(gzip.compress(AZURE.encode()))

    found = read_trace(path, speed=2.0, duration_s=40.0)

    assert [(each.at_s, each.input_tokens) for each in found] == [(0.0, 4808), (0.026, 3180)]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("trace.txt", "", "neither .jsonl nor .csv"),
        ("trace.csv", "t_ms,in_tokens,out_tokens\n", "no request"),
        ("trace.csv", "t_ms,in_tokens,out_tokens\n0,x,1\n", "trace.csv:2: this is not a request"),
        ("trace.csv", "a,b\n0,1\n", "must be t_ms,in_tokens,out_tokens"),
        ("trace.jsonl", '{"timestamp": 1}\n', "trace.jsonl:1: "),
        ("trace.jsonl.gz", "not compressed", "cannot read the trace"),
    ],
)
def test_trace_that_cannot_be_read_says_what_to_do(tmp_path: Path, name: str, text: str, told: str) -> None:
    path = tmp_path / name
    path.write_text(text)

    with pytest.raises(TraceError, match=told):
        read_trace(path, duration_s=60.0)


def test_trace_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"no\.csv: cannot read the trace"):
        read_trace(tmp_path / "no.csv", duration_s=60.0)
