"""A model that recites: its next token depends on the last one only, so a real engine says what a script tells it.

One block whose attention and feed-forward weights are all zero leaves the embedding of the last token as it is. The
embedding is the identity, and the output matrix maps each token to the one that follows it. The chat template ends
every prompt with the letter of a script, and which one depends on what is asked.
"""

from array import array
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from tests.e2e.engine import gguf

CONTEXT_TOKENS = 131_072
HEAD_SIZE = 32  # llama.cpp wants the width of the model to be a multiple of it
CERTAINTY = 2.0  # times the square root of the width, about 40: no temperature draws another token

BOS, EOS = 1, 2
SPECIAL = {"<unk>": 2, "<s>": 3, "</s>": 3}  # and their types: unknown, control, control
NORMAL, BYTE = 1, 6
SPACE = "\u2581"  # how the tokenizer writes it

# llama.cpp runs a template with examples to learn the format of tool calls; this is the widespread one of Hermes
TEMPLATE = """\
{%- if tools %}Tools:
{%- for tool in tools %} {{ tool | tojson }}{% endfor %}
Call one with <tool_call>
{"name": NAME, "arguments": ARGUMENTS}
</tool_call>
{% endif %}
{%- for message in messages %}[{{ message.role }}] {{ message.content }}
{%- for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}
{% endfor %}
{%- if add_generation_prompt %}[assistant] {% if messages[-1].role == 'tool' %}R
{%- elif tools %}T
{%- elif 'JSON' in messages[-1].content %}J
{%- elif 'for ever' in messages[-1].content %}E
{%- else %}S{% endif %}{% endif %}"""


def scripts(name: str) -> dict[str, tuple[str, ...]]:
    """By its letter, what the model of that name says, token by token. A token has one successor only."""
    return {
        "S": (" This", " is", f" {name}", "."),
        "E": (f" {name}!", f" {name}!"),  # for ever
        "T": (
            "<tool_call>",
            '\n{"name":',
            ' "get_weather"',
            ', "arguments"',
            ': {"city"',
            ': "Oslo"',
            "}}",
            "\n</tool_call>",
        ),
        "R": (" It", " rains,", f" says {name}", "."),
        "J": ('{"name":"', name, '","people"', ":", "71", "00", "}"),
    }


def write(path: Path, name: str) -> None:
    """The model as a GGUF file of 3 MB. Equal names give equal files."""
    follower = {old: new for letter, script in scripts(name).items() for old, new in pairwise((letter, *script))}
    tokens = _vocabulary(follower)
    number_of = {token: number for number, token in enumerate(tokens)}
    width = -(-len(tokens) // HEAD_SIZE) * HEAD_SIZE
    next_of = {number_of[old]: number_of[new] for old, new in follower.items()}
    gguf.write(path, _fields(tokens, name, width), _tensors(len(tokens), width, next_of))


def _vocabulary(follower: Mapping[str, str]) -> dict[str, int]:
    """Tokens and their types, in order. What no script says is spelt with letters, or else with bytes."""
    letters = [*map(chr, range(ord("!"), ord("~") + 1)), " "]
    spoken = [*letters, *(token for token in follower.values() if token not in letters)]
    return SPECIAL | {f"<0x{byte:02X}>": BYTE for byte in range(256)} | dict.fromkeys(spoken, NORMAL)


def _fields(tokens: Mapping[str, int], name: str, width: int) -> dict[str, gguf.Value]:
    return {
        "general.architecture": "llama",
        "general.name": name,
        "llama.context_length": CONTEXT_TOKENS,
        "llama.embedding_length": width,
        "llama.block_count": 1,
        "llama.feed_forward_length": HEAD_SIZE,
        "llama.attention.head_count": width // HEAD_SIZE,
        "llama.attention.head_count_kv": 1,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": HEAD_SIZE,
        "llama.vocab_size": len(tokens),
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [token.replace(" ", SPACE) for token in tokens],
        "tokenizer.ggml.scores": [-float(number) for number in range(len(tokens))],
        "tokenizer.ggml.token_type": list(tokens.values()),
        "tokenizer.ggml.bos_token_id": BOS,
        "tokenizer.ggml.eos_token_id": EOS,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_space_prefix": False,
        "tokenizer.chat_template": TEMPLATE,
    }


def _tensors(count: int, width: int, next_of: Mapping[int, int]) -> dict[str, gguf.Tensor]:
    embedding, output = _zeros(width, count), _zeros(width, count)
    for token in range(count):
        embedding.numbers[token * width + token] = 1.0
        output.numbers[next_of.get(token, EOS) * width + token] = CERTAINTY
    return {
        "token_embd.weight": embedding,
        "output.weight": output,
        "output_norm.weight": _ones(width),
        "blk.0.attn_norm.weight": _ones(width),
        "blk.0.attn_q.weight": _zeros(width, width),
        "blk.0.attn_k.weight": _zeros(width, HEAD_SIZE),
        "blk.0.attn_v.weight": _zeros(width, HEAD_SIZE),
        "blk.0.attn_output.weight": _zeros(width, width),
        "blk.0.ffn_norm.weight": _ones(width),
        "blk.0.ffn_gate.weight": _zeros(width, HEAD_SIZE),
        "blk.0.ffn_up.weight": _zeros(width, HEAD_SIZE),
        "blk.0.ffn_down.weight": _zeros(HEAD_SIZE, width),
    }


def _zeros(columns: int, rows: int) -> gguf.Tensor:
    return gguf.Tensor(columns, rows, array("f", [0.0]) * (columns * rows))


def _ones(columns: int) -> gguf.Tensor:
    return gguf.Tensor(columns, None, array("f", [1.0]) * columns)
