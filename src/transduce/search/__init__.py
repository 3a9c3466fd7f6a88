"""Search beyond the paper's: constraints, ensembles, sampling, traces and prefixes"""

from transduce.search.constraints import (
    ConstrainedDecoder,
    ConstrainedSource,
    Constraint,
    ConstraintState,
    ForcedPrefix,
    with_constraints,
)
from transduce.search.ensemble import Ensemble
from transduce.search.halving import search_in_memory
from transduce.search.label_constraint import LabelConstraint, LabelKind, LabelSymbols
from transduce.search.sampling import sampling_strategy
from transduce.search.trace import LiveHypothesis, SearchTrace, trace_beam_search
from transduce.search.tree_constraint import TreeConstraint, TreeSymbolKind, TreeSymbols

__all__ = [
    "ConstrainedDecoder",
    "ConstrainedSource",
    "Constraint",
    "ConstraintState",
    "Ensemble",
    "ForcedPrefix",
    "LabelConstraint",
    "LabelKind",
    "LabelSymbols",
    "LiveHypothesis",
    "SearchTrace",
    "TreeConstraint",
    "TreeSymbolKind",
    "TreeSymbols",
    "sampling_strategy",
    "search_in_memory",
    "trace_beam_search",
    "with_constraints",
]
