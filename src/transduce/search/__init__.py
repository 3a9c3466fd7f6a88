"""Beam search and sampling, over anything that predicts the next symbol."""

from transduce.search.batching import Hypothesis, beam_search, beam_search_unordered
from transduce.search.constraints import (
    ConstrainedDecoder,
    ConstrainedSource,
    Constraint,
    ForcedPrefix,
)
from transduce.search.decoder import BEGIN, END, Decoder
from transduce.search.ensemble import Ensemble
from transduce.search.sampling import sample_unordered

__all__ = [
    "BEGIN",
    "END",
    "ConstrainedDecoder",
    "ConstrainedSource",
    "Constraint",
    "Decoder",
    "Ensemble",
    "ForcedPrefix",
    "Hypothesis",
    "beam_search",
    "beam_search_unordered",
    "sample_unordered",
]
