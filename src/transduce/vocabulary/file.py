"""The file of a vocabulary: the JSON that `tokenizers.Tokenizer` reads, with every field fixed.

The list of merges says all of a byte-pair vocabulary, the list of pieces all of one of word-pieces:
symbols, ids and the other fields follow from it. So a file is checked by writing it anew from its
list. Whatever else stands in it - ids that were swapped, another way to cut text into words, a
normaliser - shows.
"""

import json
from typing import Any

from transduce.errors import FolderError
from transduce.vocabulary.kinds import BYTE_LEVEL, MODELS, Kind
from transduce.vocabulary.symbols import SPECIALS


def serialise(kind: Kind) -> bytes:
    """Return the bytes of a vocabulary's file; equal merges or pieces give equal bytes."""
    text = json.dumps(build_document(kind), ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def deserialise(data: bytes) -> Kind:
    """Parse and check a vocabulary's file; raise FolderError if it is damaged or foreign."""
    try:
        found = json.loads(data)
        kind = MODELS[found["model"]["type"]].from_model(found["model"])
        expected = build_document(kind)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise foreign_file_error(f"{type(error).__name__}: {error}") from None
    if found != expected:
        raise foreign_file_error("its other fields do not follow from what it has learned")
    return kind


def foreign_file_error(why: str) -> FolderError:
    """Build the error for a file that is not a vocabulary of this library."""
    return FolderError(
        f"this is no vocabulary of transduce, or it is damaged ({why})",
        "copy the folder again, or learn the vocabulary anew from the same text",
    )


def build_document(kind: Kind) -> dict[str, Any]:
    """Build a vocabulary's file as plain JSON values."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special_token(number, name) for number, name in enumerate(SPECIALS)],
        "normalizer": None,
        "pre_tokenizer": kind.pre_tokenizer_json(),
        "post_processor": None,
        "decoder": BYTE_LEVEL,
        "model": kind.model_json(),
    }


def special_token(number: int, name: str) -> dict[str, Any]:
    """Build the JSON entry of a special token, which text never becomes."""
    return {
        "id": number,
        "content": name,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
