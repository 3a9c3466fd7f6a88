"""Folders of a stranger whose checksums are right and whose files are not what they should be."""

import gzip
import io
import itertools
import json
import pickle
import tarfile
import zipfile
from collections.abc import Iterator
from typing import Any

from tests.faults.strangers.folders import (
    MANIFEST,
    Files,
    change_json,
    join_tensors,
    reseal,
    seal_values,
    split_tensors,
)

Case = tuple[str, dict[str, bytes]]  # a name, and all files of a folder
WEIGHTS, RECIPE, VOCABULARY = "model.safetensors", "recipe.json", "vocabulary.json"


class Trap:
    """An object whose pickle runs a command when it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.system, ("echo trapped",)


def pack_zip(data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../escaped", data)
    return stream.getvalue()


def pack_tar(data: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        member = tarfile.TarInfo("../escaped")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


# what any of the files that are read may hold
CONTENTS = {
    "nothing": b"",
    "a blank": b" ",
    "zeros": bytes(100_000),
    "a pickle": pickle.dumps(Trap()),
    "a zip": pack_zip(b"x"),
    "a tar": pack_tar(b"x"),
    "a bomb": gzip.compress(bytes(10**7)),
    "a list": b"[]",
    "a number": b"5",
    "null": b"null",
    "an empty object": b"{}",
    "no number": b'{"a": NaN}',
    "a number too large": b'{"a": 1e999}',
    "5,000 digits": b'{"a": ' + b"9" * 5_000 + b"}",
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "a key twice": b'{"a": 1, "a": 2}',
    "half a pair": b'{"a": "\\ud800"}',
    "Latin-1": '{"ä": 1}'.encode("latin1"),
    "a mark": b"\xef\xbb\xbf{}",
    "control characters": b'{"\\u001b[2J": "\\u0007\\n"}',
    "many keys": json.dumps({f"key {n}": n for n in range(20_000)}).encode(),
}


def other_contents(files: Files) -> Iterator[Case]:
    """Every content in place of every file that is read."""
    names = [name for name in (WEIGHTS, RECIPE, VOCABULARY) if name in files]
    for name, (what, data) in itertools.product(names, CONTENTS.items()):
        yield f"{name}: {what}", reseal({**files, name: data})
    for what, data in CONTENTS.items():
        yield f"{MANIFEST}: {what}", {**files, MANIFEST: data}


# values of a manifest, by the path of its key
MANIFEST_VALUES: dict[str, tuple[object, ...]] = {
    "kind": ("run", "", None, 5, ["model"], "\x1b[2J" * 50, "m" * 100_000),
    "files": ([], {}, None, "model.safetensors", 5),
}
NAMES = (
    "../x",
    "/etc/passwd",
    "a/b",
    "",
    ".",
    "..",
    "a\0b",
    "a\nb",
    "x" * 300,
    ".hidden",
    MANIFEST,
    "é",
    "-",
    "C:\\x",
)
ENTRIES: tuple[object, ...] = (
    None, 5, [], {}, {"size": 1}, {"size": -1}, {"size": 1.5}, {"size": True}, {"size": 1 << 80},
    {"size": "9"}, {"sha256": "0"}, {"sha256": "z" * 64}, {"sha256": None}, {"mode": 0o777},
)  # fmt: skip


def other_manifests(files: Files) -> Iterator[Case]:
    """Manifests with right checksums of their own that list something else."""
    values = json.loads(files[MANIFEST])
    entry = values["files"][WEIGHTS]
    for path, several in MANIFEST_VALUES.items():
        for value in several:
            yield (
                f"{path} {str(value)[:20]!r}",
                {**files, MANIFEST: seal_values({**values, path: value})},
            )
    for name in NAMES:
        listed = {**values["files"], name: entry}
        yield f"lists {name[:20]!r}", {**files, MANIFEST: seal_values(values, listed)}
    for other in ENTRIES:
        changed = {**entry, **other} if isinstance(other, dict) and other else other
        listed = {**values["files"], WEIGHTS: changed}
        yield f"entry {str(other)[:30]}", {**files, MANIFEST: seal_values(values, listed)}
    for number in (0, -1, 2, 10**30, "1", None, True, 1.0):
        data = json.loads(files[MANIFEST]) | {"format": number}
        yield f"format {number}", {**files, MANIFEST: json.dumps(data).encode()}


def other_tensors(files: Files) -> Iterator[Case]:
    """Headers of weights that do not fit their bytes, the recipe, or reason."""
    header, body = split_tensors(files[WEIGHTS])
    first = next(name for name, one in header.items() if len(set(one["shape"])) == 2)
    entry, size = header[first], len(body)
    whole = files[WEIGHTS]
    changes = {
        "another type": {**entry, "dtype": "F16"},
        "integers": {**entry, "dtype": "I64"},
        "an unknown type": {**entry, "dtype": "PICKLE"},
        "a shape turned round": {**entry, "shape": entry["shape"][::-1]},
        "a shape below 0": {**entry, "shape": [-1, *entry["shape"][1:]]},
        "a shape of 2^60": {**entry, "shape": [1 << 60, 0]},
        "9 dimensions": {**entry, "shape": [1] * 9},
        "a shape of text": {**entry, "shape": "8"},
        "true": {**entry, "shape": [True, *entry["shape"][1:]]},
        "offsets turned round": {**entry, "data_offsets": entry["data_offsets"][::-1]},
        "offsets below 0": {**entry, "data_offsets": [-4, 0]},
        "offsets of 2^63": {**entry, "data_offsets": [0, 1 << 63]},
        "offsets that overlap": {**entry, "data_offsets": [4, entry["data_offsets"][1] + 4]},
        "one offset": {**entry, "data_offsets": [0]},
        "another key": {**entry, "code": "x"},
        "nothing": None,
    }
    empty = {**entry, "data_offsets": [size, size], "shape": [0]}
    many = {f"t{n}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for n in range(10_001)}
    made = {
        **{what: join_tensors({**header, first: one}, body) for what, one in changes.items()},
        "a name missing": join_tensors({n: header[n] for n in header if n != first}, body),
        "a name more": join_tensors({**header, "more": empty}, body),
        "another name": join_tensors({("\x1b" + n)[n != first:]: header[n] for n in header}, body),
        "10,001 tensors": join_tensors({**header, **many}, body),
        "a header of no object": join_tensors([header], body),
        "metadata": join_tensors({**header, "__metadata__": {"a": "b"}}, body),
        "a byte less": whole[:-1],
        "a byte more": whole + b"\0",
        "half": whole[: len(whole) // 2],
        "twice": whole * 2,
        "only a length": whole[:8],
        "NaN": join_tensors(header, b"\0\0\xc0\x7f" * (size // 4)),
        "infinity": join_tensors(header, body[:-4] + b"\0\0\x80\x7f"),
    }  # fmt: skip
    for length in (0, 7, 1 << 20, (1 << 20) + 1, 1 << 62, (1 << 64) - 1):
        made[f"a header of {length} bytes"] = length.to_bytes(8, "little") + whole[8:]
    for what, data in made.items():
        yield f"weights: {what}", reseal({**files, WEIGHTS: data})


RECIPE_VALUES: dict[str, tuple[object, ...]] = {
    "architecture.layers": (0, -1, 2, 10**9, 1.5, "1", None, True, ...),
    "architecture.d_model": (0, 7, 65_536, 10**30),
    "architecture.heads": (0, 3, 10**400 % 10**40),
    "architecture.dropout": (-0.1, 1.0, 0.9999999, 1e300),
    "architecture.positions": ("learned", "x", 5),
    "architecture.tie_embeddings": ("none", "x"),
    "architecture.mixing": ("recurrent", "os.system"),
    "data.task": ("parsing", "tagging", "x", None),
    "data.vocabulary": ("x", "", 5),
    "data.shared_vocabulary": (False, 1, "yes"),
    "data.max_length": (0, -5, 10**9),
    "search.beam": (0, -1, 10**6, 1e308),
    "search.alpha": (-1, 400, 1e308),
    "search.extra_length": (0, 10**9),
    "search.penalty": ("x", "__class__"),
    "training.steps": (-1, "many"),
    "training.threads": (-1, 10**9),
    "more": ({}, 1),
    "search.more": (1,),
    "name": (5, None, ...),
    "search": ({}, None, []),
}


def other_recipes(files: Files) -> Iterator[Case]:
    """Recipes with a setting that is absurd, missing, unknown, or of another model."""
    for path, values in RECIPE_VALUES.items():
        for value in values:
            data = change_json(files[RECIPE], path, value)
            yield f"{path} {str(value)[:20]}", reseal({**files, RECIPE: data})


def other_vocabularies(files: Files) -> Iterator[Case]:
    """Vocabularies that another library might accept."""
    data = json.loads(files[VOCABULARY])
    merges = data["model"]["merges"]
    exchanged = dict(data["model"]["vocab"])
    first, second = list(exchanged)[5:7]
    exchanged[first], exchanged[second] = exchanged[second], exchanged[first]
    slow = {
        "type": "Split",
        "pattern": {"Regex": "(a+)+$"},
        "behavior": "Isolated",
        "invert": False,
    }
    values: dict[str, tuple[object, ...]] = {
        "model.type": ("Unigram", "BPE2", None, ["BPE"]),
        "model.merges": (
            [], merges * 2, merges[::-1], "ab", [["a"]], [["a", "b", "c"]], [[1, 2]], [["x", "qq"]]
        ),
        "model.vocab": (exchanged, {}, []),
        "model.dropout": (0.5,),
        "model.unk_token": ("</s>",),
        "normalizer": ({"type": "Lowercase"},),
        "pre_tokenizer": (slow, None),
        "added_tokens": ([], data["added_tokens"] * 2),
        "version": ("2.0",),
    }  # fmt: skip
    for path, several in values.items():
        for value in several:
            changed = change_json(files[VOCABULARY], path, value)
            yield f"{path} {str(value)[:20]}", reseal({**files, VOCABULARY: changed})


def all_cases(files: Files) -> list[Case]:
    """All hostile folders made of a sound model folder's files."""
    kinds = (other_contents, other_manifests, other_tensors, other_recipes, other_vocabularies)
    return [case for kind in kinds for case in kind(files)]
