"""Scores of labelled tokens: F1 of spans as seqeval counts it, and accuracy."""

from transduce.scores.spans.finding import SCHEMES, find_spans
from transduce.scores.spans.metric import Accuracy, SpanF1
from transduce.scores.spans.report import SpanReport, score_spans

__all__ = ["SCHEMES", "Accuracy", "SpanF1", "SpanReport", "find_spans", "score_spans"]
