"""EVALB's scores of trees: labelled brackets, complete matches, crossing brackets, tags."""

from transduce.scores.brackets.counting import SentenceCounts
from transduce.scores.brackets.metric import BracketF1
from transduce.scores.brackets.parameters import (
    COLLINS,
    NEW,
    PARAMETERS,
    UNLABELLED,
    BracketParameters,
    find_parameters,
    read_parameters,
)
from transduce.scores.brackets.report import BracketReport, score_brackets
from transduce.scores.brackets.summary import BracketSummary
from transduce.scores.brackets.tags import copy_tags

__all__ = [
    "COLLINS",
    "NEW",
    "PARAMETERS",
    "UNLABELLED",
    "BracketF1",
    "BracketParameters",
    "BracketReport",
    "BracketSummary",
    "SentenceCounts",
    "copy_tags",
    "find_parameters",
    "read_parameters",
    "score_brackets",
]
