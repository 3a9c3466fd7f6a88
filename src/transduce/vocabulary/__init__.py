"""Lossless encoding of text as token ids: byte-pair encoding or word-pieces over UTF-8 bytes."""

from transduce.vocabulary.learn import learn_vocabulary, max_vocabulary_size
from transduce.vocabulary.symbols import BEGIN, BYTES, END
from transduce.vocabulary.vocabulary import Vocabulary

__all__ = ["BEGIN", "BYTES", "END", "Vocabulary", "learn_vocabulary", "max_vocabulary_size"]
