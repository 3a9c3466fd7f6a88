"""The task of tagging: one label for each token of a sentence.

A source line is a sentence, its tokens separated by spaces; a target line is their labels. The
model writes labels of a fixed vocabulary, and the search is constrained to one label per token.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, final

from transduce.errors import InputError, short_repr
from transduce.settings import Data, Search
from transduce.settings.data import ModelDescription
from transduce.tasks.task import SentenceTask, SplitLevel, TaskKind
from transduce.text.tags import NO_SPANS, NO_TYPE, OUTSIDE, SPAN_PREFIXES, read_tagged
from transduce.text.words import normalise_blanks, split_words, to_source_text
from transduce.vocabulary import BEGIN

if TYPE_CHECKING:
    from transduce.search.constraints import LabelConstraint, LabelSymbols

METRICS = {
    "bio": ("spans", "accuracy"),
    "iob1": ("spans", "accuracy"),
    "raw": ("accuracy",),
    "raw runs": ("spans-raw", "accuracy"),  # runs of one label between tokens labelled O
}


@final
@dataclass(frozen=True)
class Tagging(SentenceTask):
    """The task of labelling every token of a sentence, scored by span F1 or by accuracy.

    The output vocabulary has all labels of the training data.
    """

    scheme: str  # the label scheme: "bio", "iob1" or "raw"

    split_levels: ClassVar[tuple[SplitLevel, ...]] = (  # a line is one sentence
        SplitLevel("sentences", lambda line: [line], " "),
        SplitLevel("tokens", split_words, " "),
    )
    card: ClassVar[ModelDescription] = ModelDescription(
        pipeline_tag="token-classification",
        title="tagger, {}",
        purpose="labels every token of a sentence ({})",
        command="tag",
        files=("sentences.txt", "tags.tsv"),
    )

    @property
    def metrics(self) -> Sequence[str]:
        """The names of the metrics: span F1 and accuracy, or accuracy alone.

        In the scheme "raw" accuracy stands alone if there is no label O: then a label, such as a
        part of speech, is about one token, and runs of one label mean nothing.
        """
        has_runs = self.scheme == "raw" and OUTSIDE in self.target.symbols
        return METRICS["raw runs" if has_runs else self.scheme]

    def list_symbols(self, line: str) -> list[str]:
        """Return the labels of a line."""
        return split_words(line)

    def decode(self, ids: Sequence[int], line: str) -> str:
        """Return a label per token; drop surplus ones, repeat the last, or the last symbol."""
        labels = [self.target.symbols[number] for number in ids] or [self.target.symbols[-1]]
        count = len(split_words(line))
        return " ".join((labels + labels[-1:] * count)[:count])

    def find_fault(self, ids: Sequence[int], line: str) -> str:
        """Return a message if there are more or fewer label ids than tokens in `line`, else ""."""
        count = len(split_words(line))
        return "" if len(ids) == count else f"{len(ids)} labels for {count} tokens, repaired"

    def parse_output(self, output: str) -> list[str]:
        """Convert an output line to the list of its labels."""
        return split_words(output)

    @cached_property
    def label_symbols(self) -> "LabelSymbols":
        """The `LabelKind` and the entity type of every target id, for constrained decoding."""
        from transduce.search.constraints import (  # imports torch
            NO_ENTITY,
            LabelKind,
            LabelSymbols,
        )

        labels = self.target.symbols[BEGIN + 1 :]
        types = {label[2:]: number for number, label in enumerate(labels) if self.is_span(label)}
        kinds, entities = [LabelKind.OTHER] * (BEGIN + 1), [NO_ENTITY] * (BEGIN + 1)
        for label in labels:
            is_inside = (
                self.is_span(label) and label.startswith("I-") and f"B-{label[2:]}" in labels
            )
            kinds.append(LabelKind.INSIDE if is_inside else LabelKind.FREE)
            entities.append(types[label[2:]] if self.is_span(label) else NO_ENTITY)
        return LabelSymbols(tuple(kinds), tuple(entities))

    def is_span(self, label: str) -> bool:
        """Return whether the scheme is "bio" and a label, such as B-NP, is part of a span."""
        return self.scheme == "bio" and label[:2] in ("B-", "I-")

    def constraint(self, line: str, search: Search) -> "LabelConstraint":  # noqa: ARG002
        """Return the constraint that the output has one valid label of the scheme per token."""
        from transduce.search.constraints import LabelConstraint  # imports torch

        return LabelConstraint(len(split_words(line)), self.label_symbols)


def read_tagged_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (tokens, labels) for every sentence of a two-column file, each joined by spaces."""
    for sentence in read_tagged(path):
        yield " ".join(sentence.tokens), " ".join(sentence.labels)


def find_length_mismatch(line: str, labels: str) -> str:
    """Return a phrase on how the numbers of tokens and labels differ, or "" if they are equal."""
    tokens, found = len(split_words(line)), len(split_words(labels))
    return "" if tokens == found else f"{found} labels for {tokens} tokens"


def format_labels(line: str, labels: str) -> str:
    """Return lines of token, tab and label for a sentence and its labels, then a blank line."""
    pairs = zip(split_words(line), split_words(labels), strict=True)
    return "".join(f"{token}\t{label}\n" for token, label in pairs) + "\n"


@final
@dataclass
class LabelForms:
    """How a text's spans begin (B- or I-), and its first label without a prefix, if any."""

    plain: str = ""  # the first label that is neither O nor has a prefix such as B- or I-
    first_b: int = 0  # number of spans that begin with B-X or S-X
    first_i: int = 0  # number of spans that begin with I-X or E-X

    def add(self, labels: Sequence[str]) -> None:
        """Count how a sentence's spans begin (B- or I-); store the first label without prefix."""
        before = ""  # the type of the span that the token before belongs to
        for label in labels:
            prefix, _, span_type = label.partition("-")
            if label == OUTSIDE:
                before = ""
            elif prefix not in SPAN_PREFIXES:
                self.plain = self.plain or label
            else:
                span_type = span_type or NO_TYPE
                self.first_b += prefix in "BS"
                self.first_i += prefix in "IE" and span_type != before
                before = span_type

    @property
    def scheme(self) -> str:
        """The label scheme that the labels added so far show: "raw", "bio" or "iob1"."""
        if self.plain or not self.first_b + self.first_i:
            return "raw"
        return "iob1" if self.first_i > self.first_b else "bio"


def infer_scheme(pairs: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Return {"data.label_scheme": scheme} for the scheme of the labels in these targets."""
    forms = LabelForms()
    for _, labels in pairs:
        forms.add(split_words(labels))
    return {"data.label_scheme": forms.scheme}


def check_labels(data: Data, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines of labels unchanged; InputError, perhaps at the end, if they break the scheme.

    The scheme "bio" is refused at the end if more spans begin with I- than with B-.
    """
    forms, scheme = LabelForms(), data.label_scheme
    for number, line in enumerate(lines, start=1):
        forms.add(split_words(line))
        if forms.plain and scheme != "raw":
            raise InputError(
                f"sentence {number:,}: the label {short_repr(forms.plain)} is not O, B-… or I-…, "
                f"as in the scheme {scheme}",
                NO_SPANS,
            )
        yield line
    if scheme == "bio" and forms.scheme == "iob1":
        raise InputError(
            f"{forms.first_i:,} of {forms.first_b + forms.first_i:,} spans begin with "
            "I-…, and in the scheme bio each begins with B-…",
            "that is the scheme iob1: train with --set data.label_scheme=iob1",
        )


TAGGING = TaskKind(
    build=lambda data, both: Tagging(both.source, both.target, data.label_scheme),
    read_file=read_tagged_pairs,
    read_test_file=read_tagged_pairs,
    test_file="a token, a tab and its label on each line",
    options="--tags FILE",
    sides=("words", "labels"),
    unit="sentence",
    normalise=normalise_blanks,
    find_mismatch=find_length_mismatch,
    format_output=format_labels,
    source_text=to_source_text,
    is_tokenised=True,
    target_symbols=lambda _data, line: split_words(line),
    check_targets=check_labels,
    infer_settings=infer_scheme,
)
KINDS = {"tagging": TAGGING}
