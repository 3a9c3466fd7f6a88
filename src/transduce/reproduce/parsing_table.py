"""Table 4: the F1 of a trained parser on test trees, with baselines and the paper's parsers.

Files in the output folder OUTPUT:

OUTPUT/run/         the training run, unless a model is given
OUTPUT/model/       the average of the run's last snapshots
OUTPUT/table4.md    the report, also as table4.json
OUTPUT/trees.txt    the parser's trees of the test sentences
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from transduce.reproduce.tree_baselines.baselines import BASELINES
from transduce.scores.brackets.report import score_brackets
from transduce.scores.files import score_trees
from transduce.settings.fields import require
from transduce.tasks.parsing import read_test_trees, to_tree
from transduce.text.tags_of_trees import tag_parts_of_speech
from transduce.text.trees.brackets import format_tree
from transduce.text.trees.tree import Tree

if TYPE_CHECKING:
    from transduce.inference.translator import Translator

SENTENCE = "S"  # the root label of a declarative sentence
OnMessage = Callable[[str], None]


@final
@dataclass(frozen=True)
class ParserScores:
    """EVALB's scores of one parser on a test set; the parser's trees get the gold tags."""

    parser: str
    trained_on: str
    f1: float  # over all trees; a failed output counts as a tree without brackets
    f1_up_to_40: float  # over the trees of at most 40 words
    f1_of_sentences: float  # over the trees whose gold tree has the root S
    complete: float  # the percentage of trees whose constituents all match
    failed: int  # sentences that EVALB refuses or skips
    trees: int


@final
@dataclass(frozen=True)
class ParsingTable:
    """The scores of our parser and the baselines, and whether the paper's scores are comparable."""

    rows: tuple[ParserScores, ...]
    test_set: str
    is_comparable: bool  # whether training and test trees are those of the paper


def measure_parser(
    model: "Translator",
    gold: Sequence[str],
    *,
    name: str,
    trained_on: str,
    on_message: OnMessage,
) -> tuple[ParserScores, list[str]]:
    """Parse the words of gold trees with a model; return its scores and its trees."""
    outputs = []
    sentences = (" ".join(to_tree(line).words) for line in gold)
    for number, tree in enumerate(model.translate_lines(sentences), start=1):
        outputs.append(tree)
        if number % 500 == 0:
            on_message(f"parsed {number:,} of {len(gold):,} sentences")
    return score_parser(name, trained_on, gold, outputs), outputs


def measure_baselines(
    gold: Sequence[str], train: Iterable[Tree], trained_on: str, on_message: OnMessage
) -> list[ParserScores]:
    """Return the scores of all baseline parsers, trained on `train`; they read the gold tags."""
    tagged = [tag_parts_of_speech(to_tree(line)) for line in gold]
    trees, rows = list(train), []
    for name, build in BASELINES.items():
        on_message(name)
        parse = build(trees)
        outputs = [format_tree(parse(sentence)) for sentence in tagged]
        rows.append(score_parser(name, trained_on, gold, outputs))
    return rows


def score_parser(
    name: str, trained_on: str, gold: Sequence[str], outputs: Sequence[str]
) -> ParserScores:
    """Return a parser's EVALB scores, with F1 on all trees, short trees, and trees with root S."""
    report = score_trees(list(gold), list(outputs), gold_tags=True)
    both = zip(gold, outputs, strict=True)
    sentences = [pair for pair in both if to_tree(pair[0]).labels[:1] == (SENTENCE,)]
    of_sentences = (
        score_trees([one for one, _ in sentences], [two for _, two in sentences], gold_tags=True)
        if sentences
        else score_brackets([], [])
    )
    whole, short = report.every_sentence, report.short_sentences
    assert short is not None
    return ParserScores(
        name,
        trained_on,
        f1=whole.f1_of_all_sentences,
        f1_up_to_40=short.f1_of_all_sentences,
        f1_of_sentences=of_sentences.every_sentence.f1_of_all_sentences,
        complete=whole.complete_match,
        failed=whole.errors + whole.skipped,
        trees=whole.sentences,
    )


def read_gold(files: Sequence[Path]) -> list[str]:
    """Return the cleaned trees of files, one line each; raise InputError if there are none."""
    found = [tree for file in files for _, tree in read_test_trees(file)]
    require(bool(found), f"{files[0]} has no tree", "name a file of trees to test on")
    return found
