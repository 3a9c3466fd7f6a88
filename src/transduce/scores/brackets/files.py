"""Scoring of trees in files: `transduce.score_trees`."""

from dataclasses import replace
from pathlib import Path

from transduce.errors import InputError
from transduce.scores.bootstrap import SAMPLES, SEED, Comparison, compare_outputs
from transduce.scores.brackets.parameters import COLLINS, BracketParameters, find_parameters
from transduce.scores.brackets.reading import TERMINALS
from transduce.scores.brackets.report import BracketReport, score_brackets
from transduce.scores.brackets.tags import copy_tags_where_words_agree
from transduce.scores.metrics import build_bracket_metric
from transduce.scores.scoring import require_parallel
from transduce.settings.fields import require
from transduce.text.arguments import Text, read_text
from transduce.text.trees.clean import TreeReport, clean_tree
from transduce.text.trees.read import parse_trees, read_trees
from transduce.text.trees.write import format_tree


def score_trees(
    gold: Text,
    output: Text,
    *,
    parameters: BracketParameters | str | Path = COLLINS,
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
    ours, theirs = read_gold(gold, clean=clean), read_trees_as_lines("output", output)
    require_parallel(theirs, [ours])
    chosen = choose_parameters(parameters, cutoff)
    tagged = copy_tags_where_words_agree(theirs, ours) if gold_tags else theirs
    return score_brackets(ours, tagged, chosen)


def compare_trees(  # noqa: PLR0913 - one parameter for each choice of the caller
    gold: Text,
    outputs: tuple[Text, Text],
    *,
    parameters: BracketParameters | str | Path = COLLINS,
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
    lines = read_gold(gold, clean=clean)
    return compare_outputs(metric, (ours, theirs), lines, samples=samples, seed=seed)


def choose_parameters(
    parameters: BracketParameters | str | Path, cutoff: int | None
) -> BracketParameters:
    """Return EVALB parameters from a value, a name or a file; `cutoff` replaces their cut-off."""
    if not isinstance(parameters, BracketParameters):
        parameters = find_parameters(str(parameters))
    if cutoff is None:
        return parameters
    require(cutoff > 0, f"a cut-off is a number of words, not {cutoff}", "--cutoff 40")
    return replace(parameters, cutoff=cutoff)


def read_gold(gold: Text, *, clean: bool) -> list[str]:
    """Return the gold trees, one a line; with `clean`, in any layout and cleaned as for training.

    A tree without words, such as one of traces alone, is left out by the cleaning.
    """
    if not clean:
        return read_trees_as_lines("gold", gold)
    trees = (
        read_trees(gold) if isinstance(gold, str | Path) else parse_trees(read_text("gold", gold))
    )
    found = (clean_tree(tree, TreeReport()) for tree in trees)
    return [format_tree(tree) for tree in found if tree is not None]


def read_trees_as_lines(name: str, text: Text) -> list[str]:
    """Return a text's lines; InputError, with `name`, if none holds a leaf such as (NN dog)."""
    lines = read_text(name, text)
    if lines and not any(map(TERMINALS.search, lines)):
        file = text if isinstance(text, str | Path) else None
        where = "" if file else f"{name}: "
        raise InputError(f"{where}no line holds a tree", "a leaf is (TAG word)", file=file)
    return lines
