"""Scores of files or lists of lines, by functions such as `transduce.score` and `score_trees`.

For trees, tags and alignments one function scores and another compares outputs; `score` does both.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from transduce.errors import InputError, short_repr
from transduce.scores.alignments import AER, parse_gold_links, parse_links, read_alignments
from transduce.scores.brackets.counting import (
    NO_TREE_HINT,
    TERMINALS,
    build_bracket_metric,
    copy_tags,
)
from transduce.scores.brackets.parameters import COLLINS, BracketParameters, find_parameters
from transduce.scores.brackets.report import BracketReport, score_brackets
from transduce.scores.score import Score
from transduce.scores.scoring import (
    SAMPLES,
    SEED,
    Comparison,
    compare_outputs,
    compute_score,
    require_language,
    require_parallel,
)
from transduce.scores.spans import ACCURACY, SpanReport, build_span_metric, score_spans
from transduce.settings.fields import require
from transduce.text.arguments import Text, check_lines, read_path, read_text, require_lines
from transduce.text.tags import TaggedSentence, read_tagged
from transduce.text.trees.brackets import format_tree, parse_trees, read_trees
from transduce.text.trees.tree import clean_tree

USUAL_METRICS = ("bleu", "chrf", "ter")
Tagged = Path | str | Sequence[TaggedSentence]


@overload
def score(
    hypotheses: Text,
    *references: Text,
    metrics: Sequence[str] = ...,
    language: str = ...,
    against: None = None,
) -> list[Score]:
    """Score hypotheses against one or several references, with one `Score` for each metric."""


@overload
def score(
    hypotheses: Text,
    *references: Text,
    metrics: Sequence[str] = ...,
    language: str = ...,
    against: Text,
    samples: int = ...,
    seed: int = ...,
) -> list[Comparison]:
    """Compare hypotheses with the output `against` by each metric, and test the differences."""


def score(
    hypotheses: Text,
    *references: Text,
    metrics: Sequence[str] = USUAL_METRICS,
    language: str = "",
    against: Text | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> list[Score] | list[Comparison]:
    """Score hypotheses against references by each metric, or compare them with output `against`.

        for score in transduce.score(["A dog runs."], ["A dog ran."], metrics=["bleu", "chrf"]):
            print(score)

    Texts are files or lists of lines. `language` is the language of the texts, such as "de"; the
    paper's BLEU is for German only. If `against` is another output of the same lines, the result is
    one comparison for each metric: both scores, and a test of their difference by paired bootstrap
    resampling, with `samples` test sets drawn by `seed`.
    """
    require_lines("metrics", metrics)
    require_language(language)
    metrics = list(check_lines("metrics", metrics))
    ours = read_text("hypotheses", hypotheses)
    reference_texts = [read_text("references", one) for one in references]
    if against is None:
        fact = "samples and seed are for a comparison, and no other output is given"
        require((samples, seed) == (SAMPLES, SEED), fact, "against=OUTPUT, or leave them out")
        return [compute_score(m, ours, *reference_texts, language=language) for m in metrics]
    both, draws = (ours, read_text("against", against)), {"samples": samples, "seed": seed}
    return [compare_outputs(m, both, *reference_texts, language=language, **draws) for m in metrics]


def score_trees(
    gold: Text,
    output: Text,
    *,
    parameters: BracketParameters | Path | str = COLLINS,
    cutoff: int | None = None,
    gold_tags: bool = False,
    clean: bool = False,
) -> BracketReport:
    """Score output trees against gold trees as EVALB does, one tree per line.

        report = transduce.score_trees(["(S (NN a))"], ["(S (NN a))"])
        print(report.all.f1, report.all.f1_of_all_sentences)

    Texts are files or lists of lines. `parameters` is "COLLINS", "new" or "unlabelled", or the path
    of an EVALB .prm file. One summary covers sentences of up to `cutoff` words, by default the
    cut-off of the parameters, 40. With `gold_tags` the gold tags are put on the output's leaves
    before scoring, because EVALB deletes punctuation by its tag. With `clean` the gold trees may
    be a treebank's, over several lines, and their outer brackets, traces and function tags are
    removed as for training.
    """
    gold_lines, lines = read_gold(gold, clean=clean), read_trees_as_lines("output", output)
    require_parallel(lines, [gold_lines])
    require_gold(gold_lines, lines)
    chosen = choose_parameters(parameters, cutoff)
    tagged = list(map(copy_tags, lines, gold_lines)) if gold_tags else lines
    return score_brackets(gold_lines, tagged, chosen)


def compare_trees(  # noqa: PLR0913 - one parameter for each choice of the caller
    gold: Text,
    outputs: tuple[Text, Text],
    *,
    parameters: BracketParameters | Path | str = COLLINS,
    gold_tags: bool = False,
    clean: bool = False,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Compare two parsers' trees of the same sentences by bracket F1, and test the difference.

    The test is paired bootstrap resampling; `parameters`, `gold_tags` and `clean` are those of
    `score_trees`.
    """
    ours, theirs = (read_trees_as_lines("outputs", one) for one in outputs)
    metric = build_bracket_metric(choose_parameters(parameters, None), gold_tags=gold_tags)
    gold_lines = read_gold(gold, clean=clean)
    for output in (ours, theirs):
        require_parallel(output, [gold_lines])
        require_gold(gold_lines, output)
    return compare_outputs(metric, (ours, theirs), gold_lines, samples=samples, seed=seed)


def require_gold(gold: Sequence[str], output: Sequence[str]) -> None:
    """Raise InputError if gold lacks a tree that the output has, or only the output has traces.

    Either shows that the files were exchanged: only a parser omits trees, and none writes traces.
    """
    hint = "gold trees come first, then the output: are the two exchanged?"
    for number, (gold_line, line) in enumerate(zip(gold, output, strict=True), start=1):
        fact = f"line {number:,}: the output has a tree, and the gold file has none"
        require(bool(gold_line.strip()) or not line.strip(), fact, hint)
    traces = [any("(-NONE- " in line for line in text) for text in (gold, output)]
    require(traces != [False, True], "the output has traces (-NONE-), and the gold has none", hint)


def choose_parameters(
    parameters: BracketParameters | Path | str, cutoff: int | None
) -> BracketParameters:
    """Return EVALB parameters given by value, name or file, with `cutoff` as cut-off if given."""
    if not isinstance(parameters, BracketParameters):
        parameters = find_parameters(str(parameters))
    if cutoff is None:
        return parameters
    fact = f"a cut-off is a number of words, not {short_repr(cutoff)}"
    require(type(cutoff) is int and cutoff > 0, fact, "--cutoff 40")
    return replace(parameters, cutoff=cutoff)


def read_gold(gold: Text, *, clean: bool) -> list[str]:
    """Return the gold trees as lines, one tree per line, cleaned if `clean`.

    With `clean` the text may have any layout, and trees are cleaned as for training. Cleaning
    leaves out a tree without words, such as one with only traces.
    """
    if not clean:
        return read_trees_as_lines("gold", gold)
    trees = (
        read_trees(gold) if isinstance(gold, Path | str) else parse_trees(read_text("gold", gold))
    )
    found = (clean_tree(tree) for tree in trees)
    return [format_tree(tree) for tree in found if tree is not None]


def read_trees_as_lines(name: str, text: Text) -> list[str]:
    """Return a text's lines; raise InputError if none of them has a leaf such as (NN dog)."""
    lines = read_text(name, text)
    if lines and not any(map(TERMINALS.search, lines)):
        file = text if isinstance(text, Path | str) else None
        where = "" if file else f"{name}: "
        raise InputError(f"{where}no line holds a tree", NO_TREE_HINT, file=file)
    return lines


def score_tags(gold: Tagged, output: Tagged, *, scheme: str = "bio") -> SpanReport:
    """Score the labels of tagged text: F1 of spans by type and on average, and accuracy.

    `gold` and `output` are files with a token, a tab and a label on each line, or lists of
    sentences as `transduce.text.tags.read_tagged` yields them; their tokens must be equal.
    `scheme` says which labels form a span: "bio", "bio-strict" (seqeval's strict mode), "iob1", or
    "raw", where each run of equal labels is a span.
    """
    wanted, found = read_sentences(gold), read_sentences(output)
    if not found:
        raise InputError("there are no sentences to score", "look at the files")
    require_equal_tokens(wanted, found)
    return score_spans([one.labels for one in wanted], [one.labels for one in found], scheme)


def compare_tags(
    gold: Tagged,
    outputs: tuple[Tagged, Tagged],
    *,
    scheme: str = "bio",
    samples: int = SAMPLES,
    seed: int = SEED,
) -> list[Comparison]:
    """Return two comparisons of two taggers' labels: the first by span F1, the second by accuracy.

    Raises InputError unless both outputs have the tokens of the gold text.
    """
    texts = [read_sentences(text) for text in (gold, *outputs)]
    for output in texts[1:]:
        require_equal_tokens(texts[0], output)
    gold_lines, ours, theirs = ([" ".join(one.labels) for one in text] for text in texts)
    return [
        compare_outputs(metric, (ours, theirs), gold_lines, samples=samples, seed=seed)
        for metric in (build_span_metric(scheme), ACCURACY)
    ]


def read_sentences(text: object) -> list[TaggedSentence]:
    """Return the sentences of a list, or of the tagged file at a path; else raise InputError."""
    if isinstance(text, Path | str):
        return list(read_tagged(read_path("tagged text", text)))
    found: list[Any] = list(text) if isinstance(text, Iterable) else [text]
    for one in found:
        if not isinstance(one, TaggedSentence):
            raise InputError(f"a tagged text is a file or tagged sentences, not {short_repr(one)}")
        fact = f"{len(one.tokens)} tokens and {len(one.labels)} labels: {short_repr(one)}"
        require(len(one.tokens) == len(one.labels), fact, "give each token one label")
    return found


def require_equal_tokens(gold: Sequence[TaggedSentence], output: Sequence[TaggedSentence]) -> None:
    """Raise InputError if gold and output differ in the number of sentences or in a token."""
    for number, (wanted, found) in enumerate(zip(gold, output, strict=False), start=1):
        if [*wanted.tokens] == [*found.tokens]:
            continue
        both = enumerate(zip(wanted.tokens, found.tokens, strict=False), start=1)
        unequal = ((place, a, b) for place, (a, b) in both if a != b)
        after_shorter = (min(len(wanted.tokens), len(found.tokens)) + 1, "", "")
        place, gold_token, token = next(unequal, after_shorter)
        are_alike = unicodedata.normalize("NFC", token) == unicodedata.normalize("NFC", gold_token)
        show = ascii if are_alike else repr  # `ascii` tells é of one character from é of two
        fact = f"the output has {show(token)}, the gold file {show(gold_token)}"
        if not gold_token:
            fact = f"the output has {len(found.tokens)} tokens, the gold file {len(wanted.tokens)}"
        raise InputError(
            f"sentence {number:,}, token {place}: {fact}",
            "labels are compared token by token; do both files separate sentences alike?",
        )
    if len(gold) != len(output):
        raise InputError(
            f"{len(output):,} sentences are to be scored, but the gold file has {len(gold):,}",
            "sentence n of the one belongs to sentence n of the other",
        )


def score_alignments(gold: Text, output: Text) -> Score:
    """Compute the alignment error rate of word alignments, with precision and recall.

        score = transduce.score_alignments(["0-0 1p1"], ["0-0 1-1"])
        print(score.value, score.details["precision"], score.details["recall"])

    Texts are files or lists of lines, each with the links of a sentence pair: `i-j`, words counted
    from 0. In the gold text `i-j` is a sure link and `ipj` a possible one.
    """
    gold_lines = read_alignments("gold", gold, parse_gold_links)
    return compute_score(AER, read_alignments("output", output, parse_links), gold_lines)


def compare_alignments(
    gold: Text, outputs: tuple[Text, Text], *, samples: int = SAMPLES, seed: int = SEED
) -> Comparison:
    """Compare two alignments of the same sentence pairs by their alignment error rate.

    The test of the difference is paired bootstrap resampling.
    """
    ours, theirs = (read_alignments("outputs", one, parse_links) for one in outputs)
    gold_lines = read_alignments("gold", gold, parse_gold_links)
    return compare_outputs(AER, (ours, theirs), gold_lines, samples=samples, seed=seed)
