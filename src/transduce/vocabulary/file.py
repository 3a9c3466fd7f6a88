"""The file of a vocabulary: the JSON that `tokenizers.Tokenizer` opens, with every field decided.

The list of merges says all: symbols, ids and the other fields follow from it. So a file is checked
by writing it anew from its merges. Whatever else stands in it - ids that were swapped, another
way to cut text into words, a normaliser - shows.
"""

import json
from collections.abc import Sequence
from typing import Any

from transduce.errors import FolderError
from transduce.vocabulary.symbols import SPECIALS, Merge, letters, symbols


def written(merges: Sequence[Merge]) -> bytes:
    """The file. Equal merges give equal bytes, under any version of the library."""
    text = json.dumps(document(merges), ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def merges_of(data: bytes) -> list[Merge]:
    """The merges of a file that is whole and ours."""
    try:
        found = json.loads(data)
        merges = checked_merges(found["model"]["merges"])
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise refused(f"{type(error).__name__}: {error}") from None
    if found != document(merges):
        raise refused("its other fields do not follow from its merges")
    return merges


def refused(why: str) -> FolderError:
    """The error for a file that is none of ours."""
    return FolderError(
        f"this is no vocabulary of transduce, or it is damaged ({why})",
        "copy the folder again, or learn the vocabulary anew from the same text",
    )


def checked_merges(merges: list[list[str]]) -> list[Merge]:
    """Pairs of symbols, each of two that are known before it."""
    known, checked = set(letters()), dict[Merge, None]()
    for left, right in merges:
        joined = left + right
        if left not in known or right not in known or joined in SPECIALS:
            raise ValueError(f"the merge of {left!r} and {right!r} is impossible")
        known.add(joined)
        checked[left, right] = None
    if len(checked) < len(merges):
        raise ValueError("a merge stands there twice")
    return list(checked)


def document(merges: Sequence[Merge]) -> dict[str, Any]:
    """The file as plain values."""
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special(number, name) for number, name in enumerate(SPECIALS)],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {symbol: number for number, symbol in enumerate(symbols(merges))},
            "merges": [list(merge) for merge in merges],
        },
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
