"""GGUF, the file format of llama.cpp's models: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, version 3."""

import struct
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

Scalar: TypeAlias = bool | int | float | str
Value: TypeAlias = Scalar | Sequence[int] | Sequence[float] | Sequence[str]

ALIGNMENT_BYTES = 32  # of every tensor, unless the file says otherwise
FLOAT32_TENSOR = 0
STRING, ARRAY = 8, 9
# number and struct code of each type; llama.cpp insists on unsigned scalars and signed items of arrays
SCALARS = {bool: (7, "?"), int: (4, "I"), float: (6, "f"), str: (STRING, "")}
ITEMS = SCALARS | {int: (5, "i")}


class Tensor(Struct, frozen=True):
    """Float32 numbers, `columns` of them next to each other."""

    columns: int
    rows: int | None  # None: a vector
    numbers: array  # of "f"


def write(path: Path, fields: Mapping[str, Value], tensors: Mapping[str, Tensor]) -> None:
    """One model."""
    head = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(fields))]
    head += [_string(name) + _value(value) for name, value in fields.items()]
    data: list[bytes] = []
    offset = 0
    for name, tensor in tensors.items():
        shape = [tensor.columns] if tensor.rows is None else [tensor.columns, tensor.rows]
        head.append(_string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, FLOAT32_TENSOR, offset))
        data.append(_padded(tensor.numbers.tobytes()))
        offset += len(data[-1])
    path.write_bytes(b"".join([_padded(b"".join(head)), *data]))


def _value(value: Value) -> bytes:
    if isinstance(value, Scalar):
        number, code = SCALARS[type(value)]
        return struct.pack("<I", number) + _bare(value, code)
    number, code = ITEMS[type(value[0])]
    return struct.pack("<IIQ", ARRAY, number, len(value)) + b"".join(_bare(item, code) for item in value)


def _bare(value: Scalar, code: str) -> bytes:
    return _string(value) if isinstance(value, str) else struct.pack(f"<{code}", value)


def _string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _padded(raw: bytes) -> bytes:
    return raw + bytes(-len(raw) % ALIGNMENT_BYTES)
