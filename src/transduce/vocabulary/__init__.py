"""Strings to ids and back, without loss: byte pairs or word-pieces over the bytes of UTF-8."""

from transduce.vocabulary.learn import learn, supported
from transduce.vocabulary.symbols import BEGIN, BYTES, END
from transduce.vocabulary.vocabulary import Vocabulary

__all__ = ["BEGIN", "BYTES", "END", "Vocabulary", "learn", "supported"]
