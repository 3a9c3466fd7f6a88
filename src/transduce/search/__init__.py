"""Beam search and sampling, over anything that predicts the next symbol."""

from transduce.search.batching import Hypothesis, translate_ids, translate_in_any_order
from transduce.search.constraints import Rule, Ruled, RuledDecoder
from transduce.search.decoder import BEGIN, END, Decoder
from transduce.search.ensemble import Ensemble
from transduce.search.prefix import Prefix
from transduce.search.sampling import sample_in_any_order

__all__ = [
    "BEGIN",
    "END",
    "Decoder",
    "Ensemble",
    "Hypothesis",
    "Prefix",
    "Rule",
    "Ruled",
    "RuledDecoder",
    "sample_in_any_order",
    "translate_ids",
    "translate_in_any_order",
]
