"""The vocabulary itself: text to ids and ids to text."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import final

from tokenizers import Tokenizer

from transduce.errors import InputError
from transduce.vocabulary.file import kind_of, written
from transduce.vocabulary.kinds import Kind
from transduce.vocabulary.symbols import SPECIALS, bytes_of, letters, readable


@final
class Vocabulary:
    """Byte pairs or word-pieces: any string becomes ids and comes back as it was    (section 5.1)

    `encode` takes text as it is; that it is regular (NFC, single blanks) is the care of `text`.
    """

    def __init__(self, kind: Kind) -> None:
        self._data = written(kind)
        self._tokenizer = Tokenizer.from_str(self._data.decode())
        # A "</s>" in a text stays text. The library does not keep this in its file.
        self._tokenizer.encode_special_tokens = True
        values = {letter: byte for byte, letter in enumerate(letters())}
        self._symbols = kind.symbols
        self._bytes = [bytes_of(symbol, values) for symbol in self._symbols]

    def __len__(self) -> int:
        return len(self._symbols)

    def __reduce__(self) -> "tuple[Callable[[bytes], Vocabulary], tuple[bytes]]":
        """Copies and other processes get a vocabulary that was loaded like any other."""
        return Vocabulary.from_bytes, (self._data,)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without an end."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """The ids of many texts, by all cores."""
        texts = list(texts)
        refuse_half_characters(texts)
        encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; end and begin say nothing, bytes that are no UTF-8 become U+FFFD."""
        return b"".join([self._bytes[number] for number in ids]).decode("utf-8", errors="replace")

    def piece(self, number: int) -> str:
        """One symbol for people: "␣dog", "<C3>", "</s>"."""
        symbol = self._symbols[number]
        return symbol if symbol in SPECIALS else readable(self._bytes[number])

    @cached_property
    def hash(self) -> str:
        """The sha256 of the file."""
        return hashlib.sha256(self._data).hexdigest()

    def to_bytes(self) -> bytes:
        """The file: JSON that `tokenizers.Tokenizer.from_str` opens too."""
        return self._data

    @staticmethod
    def from_bytes(data: bytes) -> "Vocabulary":
        """The vocabulary of a file; FolderError if it is damaged or foreign."""
        return Vocabulary(kind_of(data))


def refuse_half_characters(texts: Sequence[str]) -> None:
    """Strings of Python can hold halves of surrogate pairs, which stand for no character."""
    for number, text in enumerate(texts, start=1):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"text {number} of {len(texts)} has half a surrogate pair "
                f"(U+{ord(text[error.start]):04X}) at character {error.start + 1}",
                "transduce.text.clean.normalise replaces it by U+FFFD",
            ) from None
