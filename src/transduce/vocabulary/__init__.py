"""Vocabularies: lossless byte-pair or word-piece encoding of text, and lists of label symbols."""

from transduce.vocabulary.symbols import BEGIN, BYTES, END
from transduce.vocabulary.vocabulary import Vocabulary

__all__ = ["BEGIN", "BYTES", "END", "Vocabulary"]
