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
from transduce.search.sampling import sampling_strategy

__all__ = [
    "ConstrainedDecoder",
    "ConstrainedSource",
    "Constraint",
    "ConstraintState",
    "Ensemble",
    "ForcedPrefix",
    "sampling_strategy",
    "search_in_memory",
    "with_constraints",
]
