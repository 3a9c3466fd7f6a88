"""Builds tokenizer.json, which cleans and splits text in programs that use `tokenizers`."""

import json
from typing import Any

from transduce.inference.load import TaskModel
from transduce.text.clean import INVISIBLE
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.sentencepiece import RESERVED, UNKNOWN, UNKNOWN_ID
from transduce.vocabulary.vocabulary import special_token_json

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

# separates the < of a literal </s>, <s> or <unk>, as an imported vocabulary does before it cuts
WITHOUT_SPECIALS = {"type": "Replace", "pattern": {"Regex": RESERVED.pattern}, "content": "< "}


def find_model_type(vocabulary: Vocabulary) -> str:
    """Return a vocabulary's model type as its tokenizer.json names it, such as "BPE"."""
    kind: str = json.loads(vocabulary.to_bytes())["model"]["type"]
    return kind


def build_tokenizer_json(vocabulary: Vocabulary, **changes: Any) -> bytes:  # noqa: ANN401
    """Return a vocabulary's tokenizer.json with our normaliser and the entries in `changes`.

    The normaliser of an imported vocabulary comes after ours. Its unknown symbol is decoded to
    nothing.
    """
    document = json.loads(vocabulary.to_bytes()) | changes
    steps = [*NORMALISER["normalizers"]]
    if document.get("normalizer"):
        steps += [WITHOUT_SPECIALS, document["normalizer"]]
        unknown = special_token_json(UNKNOWN_ID, UNKNOWN)
        document["added_tokens"] = [*document["added_tokens"], unknown]
    document["normalizer"] = NORMALISER | {"normalizers": steps}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def name_tokenizers(model: TaskModel) -> dict[str, Vocabulary]:
    """Return a model's vocabularies by tokenizer file name: one if shared, else two."""
    source, target = model.task.source, model.task.target
    if source.hash == target.hash:
        return {"tokenizer.json": source}
    return {"source.tokenizer.json": source, "target.tokenizer.json": target}
