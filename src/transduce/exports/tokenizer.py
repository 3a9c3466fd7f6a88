"""A vocabulary as a tokenizer.json that cleans text, too, for programs that use `tokenizers`."""

import json
from typing import Any

from transduce.text.clean import INVISIBLE
from transduce.vocabulary import Vocabulary

# All that `str.split` takes for white space: see `transduce.text.clean.normalise`.
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
    """Return the kind of a vocabulary as its tokenizer.json spells it, such as "BPE"."""
    kind: str = json.loads(vocabulary.to_bytes())["model"]["type"]
    return kind


def build_tokenizer_json(vocabulary: Vocabulary, **changes: Any) -> bytes:  # noqa: ANN401
    """Return a vocabulary's tokenizer.json with a normaliser and `changes` of other entries."""
    document = json.loads(vocabulary.to_bytes())
    document |= {"normalizer": NORMALISER, **changes}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
