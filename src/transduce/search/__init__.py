"""Beam search and its length penalties, over anything that predicts the next symbol."""

from transduce.search.decoder import BEGIN, END, Decoder
from transduce.search.penalties import PENALTIES
from transduce.search.translate import Hypothesis, translate_ids, translate_in_any_order

__all__ = [
    "BEGIN",
    "END",
    "PENALTIES",
    "Decoder",
    "Hypothesis",
    "translate_ids",
    "translate_in_any_order",
]
