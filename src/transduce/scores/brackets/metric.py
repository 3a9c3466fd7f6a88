"""Labelled F1 of brackets as a metric, and the copying of gold tags to outputs without tags.

EVALB deletes punctuation by its tag. If all leaves of an output are tagged XX, EVALB keeps the
output's punctuation but not the gold tree's, and each sentence with a full stop fails.
"""

from functools import partial
from typing import Any

from transduce.errors import InputError
from transduce.scores.brackets.counting import (
    FAILED,
    SCORED,
    SKIPPED,
    TERMINALS,
    count_sentence,
)
from transduce.scores.brackets.parameters import BracketParameters
from transduce.scores.metric import CountScorer, Figures, Metric, Texts, percentage
from transduce.version import __version__

TRACE = "-NONE-"
NO_TREE_HINT = "a leaf is (TAG word)"


def build_bracket_metric(parameters: BracketParameters, *, gold_tags: bool = False) -> Metric:
    """Build the labelled bracket F1 metric, computed over all sentences with EVALB's parameters.

    With `gold_tags` the leaves of the outputs get the tags of the reference before they are scored.
    """
    tags = "reference" if gold_tags else "output"
    return Metric(
        "bracket F1",
        "trees, one a line: EVALB's labelled F1, failed sentences counted; tags of the leaves are "
        + ("those of the reference" if gold_tags else "the output's own"),
        CountScorer(
            f"params:{parameters.name}|failed:no match|version:{__version__}|tags:{tags}",
            partial(count_brackets, parameters=parameters, gold_tags=gold_tags),
            total_brackets,
        ),
        require_trees,
    )


def require_trees(texts: Texts) -> tuple[Texts, str]:
    """Return the texts unchanged, and ""; raise InputError if a non-empty text has no tree."""
    for number, text in enumerate(texts):
        if any(text) and not any(map(TERMINALS.search, text)):
            name = "the reference" if number else "the output"
            raise InputError(f"{name}: no line holds a tree", NO_TREE_HINT)
    return texts, ""


def total_brackets(matched: int, gold: int, test: int, failed: int, skipped: int) -> Figures:
    """Return F1 in percent from sums of `count_brackets`, with recall, precision and the sums."""
    details: dict[str, Any] = {
        "recall": percentage(matched, gold),
        "precision": percentage(matched, test),
        "matched": matched,
        "gold": gold,
        "test": test,
        "failed": failed,
        "skipped": skipped,
    }
    return Figures(percentage(2 * matched, gold + test), details)


def count_brackets(
    texts: Texts, *, parameters: BracketParameters, gold_tags: bool
) -> list[tuple[int, int, int, int, int]]:
    """Return each output tree's counts of matching, gold and output constituents, and two flags.

    The flags are 1 if the tree failed or was skipped; then its output constituents count as 0.
    """
    if len(texts) != 2:
        raise InputError("brackets are scored against one reference", "name one gold file")
    outputs, gold = texts
    if gold_tags:
        outputs = list(map(copy_tags, outputs, gold))
    rows = []
    for gold_line, output_line in zip(gold, outputs, strict=True):
        counts, _ = count_sentence(gold_line, output_line, parameters)
        scored = counts.status == SCORED
        rows.append(
            (
                counts.matched if scored else 0,
                counts.gold_constituents,
                counts.test if scored else 0,
                int(counts.status == FAILED),
                int(counts.status == SKIPPED),
            )
        )
    return rows


def copy_tags(output_line: str, gold_line: str) -> str:
    """Return an output tree's line with the gold tree's part-of-speech tags on its leaves.

    Traces of the gold tree (-NONE-) are not words. A tree whose words differ stays unchanged.
    """
    gold = [leaf for leaf in TERMINALS.finditer(gold_line) if leaf["tag"] != TRACE]
    words = [leaf["word"] for leaf in TERMINALS.finditer(output_line)]
    if words != [leaf["word"] for leaf in gold]:
        return output_line
    tags = iter(gold)
    return TERMINALS.sub(lambda leaf: f"({next(tags)['tag']} {leaf['word']})", output_line)
