"""Beam search and sampling with any model that computes log-probabilities of the next symbol."""

from transduce.search.beam import beam_search, beam_search_unordered
from transduce.search.constraints import (
    ConstrainedDecoder,
    ConstrainedSource,
    Constraint,
    ConstraintState,
    ForcedPrefix,
    with_constraints,
)
from transduce.search.continuous_batching import Hypothesis
from transduce.search.decoder import BEGIN, END, Decoder
from transduce.search.ensemble import Ensemble
from transduce.search.label_constraint import LabelConstraint, LabelKind, LabelSymbols
from transduce.search.length_score import LengthScore, score_log_probs
from transduce.search.sampling import sample_unordered
from transduce.search.trace import LiveHypothesis, SearchTrace, trace_beam_search
from transduce.search.tree_constraint import TreeConstraint, TreeSymbolKind, TreeSymbols

__all__ = [
    "BEGIN",
    "END",
    "ConstrainedDecoder",
    "ConstrainedSource",
    "Constraint",
    "ConstraintState",
    "Decoder",
    "Ensemble",
    "ForcedPrefix",
    "Hypothesis",
    "LabelConstraint",
    "LabelKind",
    "LabelSymbols",
    "LengthScore",
    "LiveHypothesis",
    "SearchTrace",
    "TreeConstraint",
    "TreeSymbolKind",
    "TreeSymbols",
    "beam_search",
    "beam_search_unordered",
    "sample_unordered",
    "score_log_probs",
    "trace_beam_search",
    "with_constraints",
]
