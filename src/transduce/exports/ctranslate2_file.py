"""The file model.bin of CTranslate2: arrays by name, and aliases for arrays with two names.

Writing it needs no CTranslate2. Numbers are little-endian. A string is stored as a 16-bit length,
its bytes, and a zero byte, which the length counts. The file has version 6 of the format and
revision 7 of its `TransformerSpec`.
"""

import struct
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

VERSION, NAME, REVISION = 6, "TransformerSpec", 7
TYPES = MappingProxyType({"float32": 0, "int8": 1, "int16": 2, "int32": 3})
Variables = dict[str, np.ndarray]


def serialise_variables(variables: Mapping[str, np.ndarray]) -> Iterator[bytes]:
    """Yield the bytes of model.bin in pieces; an array under several names is stored once."""
    first: dict[int, str] = {}
    aliases = list[tuple[str, str]]()
    for name in sorted(variables):
        original = first.setdefault(id(variables[name]), name)
        if original != name:
            aliases.append((name, original))
    yield struct.pack("<I", VERSION) + pack_string(NAME) + struct.pack("<I", REVISION)
    yield struct.pack("<I", len(first))
    for name in sorted(first.values()):
        yield pack_header(name, variables[name])
        yield np.ascontiguousarray(variables[name]).tobytes()
    yield struct.pack("<I", len(aliases))
    for name, original in aliases:
        yield pack_string(name) + pack_string(original)


def pack_header(name: str, value: np.ndarray) -> bytes:
    """Return the header before an array's bytes: name, shape, type and number of bytes."""
    sizes = struct.pack(f"<B{value.ndim}I", value.ndim, *value.shape)
    return pack_string(name) + sizes + struct.pack("<BI", TYPES[value.dtype.name], value.nbytes)


def pack_string(text: str) -> bytes:
    """Return a string's bytes in model.bin: its length, its UTF-8 bytes and a zero byte."""
    data = text.encode() + b"\0"
    return struct.pack("<H", len(data)) + data
