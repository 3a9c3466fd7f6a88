"""The class `Vocabulary`, which encodes text as token ids and decodes ids to text."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, final

from tokenizers import Tokenizer

from transduce.durable.json import parse_json
from transduce.errors import FolderError
from transduce.machine.limits import require_encoding_threads
from transduce.text.arguments import require_encodable
from transduce.vocabulary.kinds import read_kind
from transduce.vocabulary.symbols import SPECIALS, VocabularyKind, assign_ids, make_readable
from transduce.vocabulary.tag_lexicon import TagLexicon


@final
class Vocabulary:
    """An encoding of strings as token ids, such as byte-pair encoding    (section 5.1)

    Byte-pair and word-piece encoding are lossless. A vocabulary of whole words replaces a rare word
    with a class of unknown words, such as <Aa*ing>. Only an imported SentencePiece vocabulary
    normalises text; for the others `transduce.text.clean.normalise` can do this first (NFC, single
    spaces).
    """

    def __init__(self, kind: VocabularyKind) -> None:
        self._prepare = kind.prepare
        self._data = serialise(kind)
        try:
            self._tokenizer = Tokenizer.from_str(self._data.decode())
        except Exception as error:  # noqa: BLE001 - the library raises no kind of its own
            raise foreign_file_error(str(error)) from None
        # Encode "</s>" in a text as text, not as END; tokenizer.json cannot store this setting.
        self._tokenizer.encode_special_tokens = True
        self._symbols = tuple(kind.symbols)
        self._bytes = kind.symbol_bytes

    def __len__(self) -> int:
        return len(self._symbols)

    def __reduce__(self) -> "tuple[Callable[[bytes], Vocabulary], tuple[bytes]]":
        return Vocabulary.from_bytes, (self._data,)

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text, without END."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """Return the token ids of many texts, encoded on all cores, without END."""
        texts = list(texts)
        require_no_surrogates(texts)
        require_encoding_threads()
        encodings = self._tokenizer.encode_batch_fast(
            [self._prepare(text) for text in texts], add_special_tokens=False
        )
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Iterable[int]) -> str:
        """Return ids as text: END adds nothing, whole words end in a space, bad UTF-8 is U+FFFD."""
        return b"".join([self._bytes[number] for number in ids]).decode("utf-8", errors="replace")

    def lookup(self, symbols: Iterable[str]) -> list[int] | None:
        """Return the ids of whole symbols, or None if the vocabulary lacks any of them."""
        ids = [self._ids.get(symbol) for symbol in symbols]
        return None if None in ids else [number for number in ids if number is not None]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return assign_ids(self._symbols)

    @property
    def symbols(self) -> Sequence[str]:
        """Return all symbols by id, END and BEGIN first, in the spelling of tokenizer.json."""
        return self._symbols

    def piece(self, piece_id: int) -> str:
        """Return the piece with this id as readable text, such as "␣dog", "<C3>" or "</s>"."""
        text = self._bytes[piece_id]
        return make_readable(text) if text else self._symbols[piece_id]

    def piece_bytes(self, piece_id: int) -> bytes:
        """Return the UTF-8 bytes of the piece with this id; b"" if it has no text, like END."""
        return self._bytes[piece_id]

    @cached_property
    def hash(self) -> str:
        """Return the sha256 of the vocabulary's file."""
        return hashlib.sha256(self._data).hexdigest()

    def to_bytes(self) -> bytes:
        """Return the bytes of the vocabulary's tokenizer.json, which `tokenizers` can read too."""
        return self._data

    @staticmethod
    def from_bytes(data: bytes) -> "Vocabulary":
        """Build a vocabulary from the bytes of its file; raise FolderError if they are invalid."""
        return Vocabulary(deserialise(data))


def require_no_surrogates(texts: Sequence[str]) -> None:
    """Raise InputError if a text has an unpaired surrogate, which UTF-8 cannot encode."""
    for number, text in enumerate(texts, start=1):
        require_encodable(f"text {number} of {len(texts)}", text)


def serialise(kind: VocabularyKind) -> bytes:
    """Return the bytes of a vocabulary's tokenizer.json; equal vocabularies give equal bytes."""
    return format_compactly(build_document(kind)).encode()


def format_compactly(document: object) -> str:
    """Return a value as JSON on one line without spaces."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def deserialise(data: bytes) -> VocabularyKind:
    """Parse a tokenizer.json; raise FolderError if `serialise` did not write it."""
    try:
        found = parse_json(data)
        kind = read_kind(found)
        expected = build_document(kind)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        why = str(error) if isinstance(error, ValueError) else f"its entries are others: {error}"
        raise foreign_file_error(why) from None
    # Python's == does not tell 67.0 from 67, but their JSON text differs
    if found != expected or format_compactly(found) != format_compactly(expected):
        raise foreign_file_error("its other fields do not follow from what it has learned")
    return kind


def foreign_file_error(why: str) -> FolderError:
    """Build the FolderError for a vocabulary that `serialise` did not write; it quotes `why`."""
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
        "normalizer": kind.normalizer,
        "pre_tokenizer": kind.pre_tokenizer,
        "post_processor": None,
        "decoder": kind.decoder,
        "model": kind.model,
    }


def special_token_json(symbol_id: int, name: str) -> dict[str, Any]:
    """Return the tokenizer.json entry of END or BEGIN, given the symbol's id and name."""
    return {
        "id": symbol_id,
        "content": name,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }


SHARED, SOURCE, TARGET = "vocabulary.json", "source.vocabulary.json", "target.vocabulary.json"
LEXICON = "tags.json"
MOST_VOCABULARY_BYTES = 1 << 28  # largest size of a vocabulary or lexicon file, in bytes


@final
@dataclass(frozen=True)
class Vocabularies:
    """The source and target vocabularies (one object if shared), and a tag lexicon for parsers.

    Iteration yields the source vocabulary and the target vocabulary.
    """

    source: Vocabulary
    target: Vocabulary
    lexicon: TagLexicon | None = None  # part-of-speech tags, for tasks whose outputs need them

    def __iter__(self) -> Iterator[Vocabulary]:
        return iter((self.source, self.target))

    def files(self) -> dict[str, bytes]:
        """Return a dict from file name to content; a shared vocabulary is one file."""
        names = vocabulary_file_names(shared=self.source is self.target)
        found = {name: each.to_bytes() for name, each in zip(names, self, strict=False)}
        return found | ({} if self.lexicon is None else {LEXICON: self.lexicon.to_bytes()})

    def hashes(self) -> Mapping[str, str]:
        """Return a dict from "source" and "target" (and "tags" for a lexicon) to a sha256."""
        found = {"source": self.source.hash, "target": self.target.hash}
        return found | ({} if self.lexicon is None else {"tags": self.lexicon.hash})


def vocabulary_file_names(*, shared: bool) -> tuple[str, ...]:
    """Return the names of a folder's vocabulary files: one if shared, else source and target."""
    return (SHARED,) if shared else (SOURCE, TARGET)


def read_vocabularies(
    folder: Path, read: Callable[[str], bytes], *, shared: bool, has_lexicon: bool
) -> Vocabularies:
    """Read a folder's vocabularies and any tag lexicon; `read` returns a file's bytes by name."""
    found = []
    for name in vocabulary_file_names(shared=shared):
        data = read(name)
        try:
            found.append(Vocabulary.from_bytes(data))
        except FolderError as error:
            raise FolderError(error.fact, error.hint, file=folder / name) from error
    lexicon = TagLexicon.from_bytes(read(LEXICON), folder / LEXICON) if has_lexicon else None
    return Vocabularies(found[0], found[-1], lexicon)
