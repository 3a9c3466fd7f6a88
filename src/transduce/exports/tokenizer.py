"""Builds tokenizer.json, which cleans and splits text in programs that use `tokenizers`."""

import json
from typing import Any

from transduce.inference.load import TaskModel
from transduce.text.clean import INVISIBLE
from transduce.vocabulary import Vocabulary

# The characters that `str.split`, and so `transduce.text.clean`, takes for whitespace.
BLANKS = "[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
NORMALISER = {
    "type": "Sequence",
    "normalizers": [
        {"type": "Replace", "pattern": {"Regex": INVISIBLE.pattern}, "content": ""},
        {"type": "NFC"},
        {"type": "Replace", "pattern": {"Regex": BLANKS}, "content": " "},
        {"type": "Strip", "strip_left": True, "strip_right": True},
    ],
}


def find_model_type(vocabulary: Vocabulary) -> str:
    """Return a vocabulary's model type as its tokenizer.json names it, such as "BPE"."""
    kind: str = json.loads(vocabulary.to_bytes())["model"]["type"]
    return kind


def build_tokenizer_json(vocabulary: Vocabulary, **changes: Any) -> bytes:  # noqa: ANN401
    """Return a vocabulary's tokenizer.json with our normaliser and the entries in `changes`.

    The normaliser of an imported vocabulary comes after ours.
    """
    document = json.loads(vocabulary.to_bytes())
    own = [document["normalizer"]] if document.get("normalizer") else []
    steps = [*NORMALISER["normalizers"], *own]
    document |= {"normalizer": NORMALISER | {"normalizers": steps}, **changes}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def name_tokenizers(model: TaskModel) -> dict[str, Vocabulary]:
    """Return a model's vocabularies by tokenizer file name: one if shared, else two."""
    source, target = model.task.source, model.task.target
    if source.hash == target.hash:
        return {"tokenizer.json": source}
    return {"source.tokenizer.json": source, "target.tokenizer.json": target}
