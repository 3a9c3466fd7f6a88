"""Beam search and its length penalties, over anything that predicts the next symbol."""

from transduce.search.decoder import BEGIN, END, Decoder
from transduce.search.translate import Hypothesis, translate_ids, translate_in_any_order

__all__ = [
    "BEGIN",
    "END",
    "Decoder",
    "Hypothesis",
    "translate_ids",
    "translate_in_any_order",
]
