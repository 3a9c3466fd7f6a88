"""The file of a vocabulary: the JSON that `tokenizers.Tokenizer` opens, with every field decided.

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


def written(kind: Kind) -> bytes:
    """The file. Equal lists give equal bytes, under any version of the library."""
    text = json.dumps(document(kind), ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def kind_of(data: bytes) -> Kind:
    """What a file that is whole and ours has learned."""
    try:
        found = json.loads(data)
        kind = MODELS[found["model"]["type"]].of_model(found["model"])
        expected = document(kind)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise refused(f"{type(error).__name__}: {error}") from None
    if found != expected:
        raise refused("its other fields do not follow from what it has learned")
    return kind


def refused(why: str) -> FolderError:
    """The error for a file that is none of ours."""
    return FolderError(
        f"this is no vocabulary of transduce, or it is damaged ({why})",
        "copy the folder again, or learn the vocabulary anew from the same text",
    )


def document(kind: Kind) -> dict[str, Any]:
    """The file as plain values."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special(number, name) for number, name in enumerate(SPECIALS)],
        "normalizer": None,
        "pre_tokenizer": kind.words(),
        "post_processor": None,
        "decoder": BYTE_LEVEL,
        "model": kind.model(),
    }


def special(number: int, name: str) -> dict[str, Any]:
    """A symbol that text never becomes."""
    return {
        "id": number,
        "content": name,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
