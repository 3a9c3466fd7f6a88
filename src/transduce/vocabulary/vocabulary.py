"""The class `Vocabulary`, which encodes text as token ids and decodes ids to text."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import final

from tokenizers import Tokenizer

from transduce.text.arguments import require_encodable
from transduce.vocabulary.file import deserialise, serialise
from transduce.vocabulary.kinds import VocabularyKind
from transduce.vocabulary.symbols import SPECIALS, make_readable


@final
class Vocabulary:
    """An encoding of strings as token ids, such as byte-pair encoding    (section 5.1)

    Byte-pair and word-piece encoding are lossless. A vocabulary of whole words writes a rare word
    as its class, and an imported SentencePiece vocabulary normalises text. Otherwise `encode` does
    not normalise; `transduce.text.clean.normalise` does (NFC, single blanks).
    """

    def __init__(self, kind: VocabularyKind) -> None:
        self._prepare = kind.prepare
        self._data = serialise(kind)
        self._tokenizer = Tokenizer.from_str(self._data.decode())
        # Encode "</s>" in a text as text, not as END; tokenizer.json cannot store this setting.
        self._tokenizer.encode_special_tokens = True
        self._symbols = kind.symbols
        self._bytes = kind.symbol_bytes()

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
        encodings = self._tokenizer.encode_batch_fast(
            [self._prepare(text) for text in texts], add_special_tokens=False
        )
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of token ids; END and BEGIN add nothing, invalid UTF-8 becomes U+FFFD."""
        return b"".join([self._bytes[number] for number in ids]).decode("utf-8", errors="replace")

    def lookup(self, symbols: Iterable[str]) -> list[int] | None:
        """Return the ids of whole symbols, or None if the vocabulary lacks any of them."""
        ids = [self._ids.get(symbol) for symbol in symbols]
        return None if None in ids else [number for number in ids if number is not None]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {symbol: number for number, symbol in enumerate(self._symbols)}

    @property
    def symbols(self) -> Sequence[str]:
        """Return all symbols, indexed by id, END and BEGIN first, as tokenizer.json spells them."""
        return tuple(self._symbols)

    def piece(self, number: int) -> str:
        """Return the piece with this id as readable text, such as "␣dog", "<C3>" or "</s>"."""
        symbol = self._symbols[number]
        return symbol if symbol in SPECIALS else make_readable(self._bytes[number])

    def piece_bytes(self, number: int) -> bytes:
        """Return the UTF-8 bytes of the piece with this id; b"" for END and BEGIN."""
        return self._bytes[number]

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
