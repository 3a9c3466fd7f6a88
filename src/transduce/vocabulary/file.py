"""The file of a vocabulary: a tokenizer.json that `tokenizers.Tokenizer` reads.

The file's list of merges (byte-pair), pieces (word-piece) or symbols (fixed list, words) determines
all other fields, ids included. A file is therefore checked by building the whole document again
from that list: any difference, such as exchanged ids, another pre-tokenizer or a normaliser, makes
the file invalid.
"""

import json
from typing import Any

from transduce.durable import parse_json
from transduce.errors import FolderError
from transduce.vocabulary.kinds import MODELS, VocabularyKind
from transduce.vocabulary.sentencepiece import SentencePiece
from transduce.vocabulary.symbols import SPECIALS


def serialise(kind: VocabularyKind) -> bytes:
    """Return the bytes of a vocabulary's tokenizer.json; equal vocabularies give equal bytes."""
    return format_compactly(build_document(kind)).encode()


def format_compactly(document: object) -> str:
    """Return a value as JSON on one line without blanks."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def deserialise(data: bytes) -> VocabularyKind:
    """Parse a tokenizer.json; raise FolderError if `serialise` did not write it."""
    try:
        found = parse_json(data)
        kind = read_kind(found)
        expected = build_document(kind)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise foreign_file_error(f"{type(error).__name__}: {error}") from None
    if found != expected or format_compactly(found) != format_compactly(expected):  # 67.0 is not 67
        raise foreign_file_error("its other fields do not follow from what it has learned")
    return kind


def read_kind(found: Any) -> VocabularyKind:  # noqa: ANN401 - parsed JSON
    """Build the vocabulary of a parsed tokenizer.json by the type in its "model" entry."""
    if found["model"]["type"] == "Unigram":  # the normaliser is part of the vocabulary
        return SentencePiece.from_document(found)
    return MODELS[found["model"]["type"]](found["model"])


def foreign_file_error(why: str) -> FolderError:
    """Build the FolderError for a file that `serialise` did not write, for the reason `why`."""
    return FolderError(
        f"this is no vocabulary of transduce, or it is damaged ({why})",
        "copy the folder again, or learn the vocabulary anew from the same text",
    )


def build_document(kind: VocabularyKind) -> dict[str, Any]:
    """Return a vocabulary as the JSON object that its tokenizer.json holds."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special_token_json(number, name) for number, name in enumerate(SPECIALS)],
        "normalizer": kind.normalizer_json() if isinstance(kind, SentencePiece) else None,
        "pre_tokenizer": kind.pre_tokenizer_json(),
        "post_processor": None,
        "decoder": kind.decoder_json(),
        "model": kind.model_json(),
    }


def special_token_json(number: int, name: str) -> dict[str, Any]:
    """Return the tokenizer.json entry of END or BEGIN, given the symbol's id and name."""
    return {
        "id": number,
        "content": name,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
