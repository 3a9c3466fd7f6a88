"""Parts that only some folders of strangers have: lists of words, tags, and chosen heads."""

import json
from collections.abc import Iterator
from typing import Any

from tests.faults.strangers.contents import Case
from tests.faults.strangers.folders import MANIFEST, Files, describe, reseal, seal_values

from transduce.durable.json import to_checksummed_json

ORIGINS: dict[str, tuple[object, ...]] = {
    "run": ("\x1b[2J", [1], "0" * 15, None),
    "averaged": ("x", [-1], [2, 2], [4, 2], [1.5], [True], {}),
    "parent": ({}, "../x", "Z" * 64),
    "imported": (5, ""),
    "code": ("import os",),
}
SYMBOLS = ("a b", "a\nb", "a\tb", "", "</s>")
TAGS = ("(X", "X)", "A B", "A\nB", "", 5)
HEADS: dict[str, tuple[object, ...]] = {
    "layer": (0, 2, 10**9, "1", True, None),
    "heads": ([], [1, 1], [2, 1], [0], [3], "1", list(range(1, 10_000))),
    "shifted": (1, None),
    "aer": (-5, 101, "\x1b[2J", None, True),
    "pairs": (-1, 1.5, 10**400),
    "model": ("0" * 64, []),
    "more": (1,),
}


def other_origins(files: Files) -> Iterator[Case]:
    """Manifests that say something else of where the model is from."""
    values = json.loads(files[MANIFEST])
    for name, several in ORIGINS.items():
        for value in several:
            changed = seal_values({**values, name: value})
            yield f"{name} {str(value)[:20]!r}", {**files, MANIFEST: changed}
    for name in ("run", "averaged"):
        changed = seal_values({key: value for key, value in values.items() if key != name})
        yield f"no {name}", {**files, MANIFEST: changed}
    changed = seal_values({**values, "imported": "0" * 64})
    yield "a run and an import", {**files, MANIFEST: changed}


def other_symbols(files: Files) -> Iterator[Case]:
    """Vocabularies of whole words with a symbol that is no word."""
    for name in ("source.vocabulary.json", "target.vocabulary.json"):
        data = json.loads(files[name])
        if data["model"]["type"] != "WordLevel":
            continue
        last = list(data["model"]["vocab"])[-1]
        for symbol in SYMBOLS:
            vocab = {symbol if one == last else one: n for one, n in data["model"]["vocab"].items()}
            changed = data | {"model": {**data["model"], "vocab": vocab}}
            content = json.dumps(changed, ensure_ascii=False, separators=(",", ":")).encode()
            yield f"{name} {symbol!r}", reseal({**files, name: content})


def other_spellings(files: Files) -> Iterator[Case]:
    """Vocabularies whose JSON has a key twice, or 2.0 where 2 should be."""
    text = files["vocabulary.json"].decode()
    for what, changed in {
        "a key twice": text.replace('"vocab":{', '"vocab":{"a":7,'),
        "a number with a point": text.replace('"<s>":1,', '"<s>":1.0,'),
        "true": text.replace('"<s>":1,', '"<s>":true,'),
    }.items():
        assert changed != text
        yield what, reseal({**files, "vocabulary.json": changed.encode()})


def other_tags(files: Files) -> Iterator[Case]:
    """Lexicons with a tag that would end its leaf or its line."""
    values = json.loads(files["tags.json"])
    for tag in TAGS:
        places: tuple[dict[str, Any], ...] = (
            {"unknown": tag},
            {"words": {**values["words"], "the": tag}},
            {"endings": {**values["endings"], "ing": tag}},
        )
        for place in places:
            changed = seal_values({**values, **place})
            yield f"{next(iter(place))} {tag!r}", reseal({**files, "tags.json": changed})


def other_heads(files: Files) -> Iterator[Case]:
    """Choices of heads that are none, or of another model."""
    model = describe(files[MANIFEST])["sha256"]
    sound = {"model": model, "layer": 1, "heads": [1], "shifted": True, "aer": 25.5, "pairs": 3}
    for name, several in HEADS.items():
        for value in several:
            content = to_checksummed_json({**sound, name: value})
            yield f"{name} {str(value)[:20]}", {**files, "alignment.json": content}
