"""The file model.bin of CTranslate2: named arrays, and other names for arrays that are shared.

It is written without that program. Numbers are little-endian; a string is its length with a closing
zero in 16 bits, its bytes, and the zero. Version 6 of the format, revision 7 of `TransformerSpec`.
"""

import struct
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

VERSION, NAME, REVISION = 6, "TransformerSpec", 7
TYPES = MappingProxyType({"float32": 0, "int8": 1, "int16": 2, "int32": 3})
Variables = dict[str, np.ndarray]


def serialise_variables(variables: Mapping[str, np.ndarray]) -> Iterator[bytes]:
    """Yield the bytes of model.bin; an array that occurs again is stored once, with an alias."""
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
    """Return what stands before an array's bytes: name, sizes, type and number of bytes."""
    sizes = struct.pack(f"<B{value.ndim}I", value.ndim, *value.shape)
    return pack_string(name) + sizes + struct.pack("<BI", TYPES[value.dtype.name], value.nbytes)


def pack_string(text: str) -> bytes:
    """Return a string as its length, its bytes and a zero."""
    data = text.encode() + b"\0"
    return struct.pack("<H", len(data)) + data
