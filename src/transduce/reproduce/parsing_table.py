"""Table 4: train a parser, score it and the baselines on test trees, and write the report.

Files in the output folder OUTPUT:

OUTPUT/run/         the training run, unless a model is given
OUTPUT/model/       the average of the run's last snapshots
OUTPUT/table4.md    the report, also as table4.json
OUTPUT/trees.txt    the parser's trees of the test sentences
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import final

from transduce.checkpoint.card import format_markdown_table
from transduce.datasets.catalogue import is_treebank
from transduce.datasets.penn import has_penn_sections
from transduce.durable.files import ensure_folder, write_atomically
from transduce.durable.folder import require_own_folder
from transduce.inference.evaluate import find_task_files
from transduce.inference.load import load
from transduce.inference.translator import Translator
from transduce.recipes.printed import TABLE_4
from transduce.reproduce.baselines import BASELINES
from transduce.runs.choice import choose_texts
from transduce.runs.texts import MixedPairs, Pairs, TaskFiles
from transduce.scores.brackets.report import score_brackets
from transduce.scores.files import score_trees
from transduce.scores.score import percentage
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value, with_changes
from transduce.tasks import find_task_kind, require_task
from transduce.tasks.parsing import PARSING, Parsing, read_test_trees, to_tree
from transduce.text.tags import tag_parts_of_speech
from transduce.text.trees.brackets import format_tree

SENTENCE = "S"  # the root label of a declarative sentence
OnMessage = Callable[[str], None]
NOT_COMPARABLE = (
    "Not comparable: the paper's rows are trained on sections 02 to 21 of the Wall Street Journal "
    "and tested on section 23; ours here are not."
)
COMPARABLE = "Both are tested on section 23 of the Wall Street Journal."
NOTES = (
    "Labelled F1 in percent by EVALB's rules (COLLINS.prm) with the gold part-of-speech tags. A "
    "sentence that EVALB refuses counts as an output without brackets. The baselines read the gold "
    "tags, the Transformer reads words alone."
)


@final
@dataclass(frozen=True)
class TreeTexts:
    """The trees for training, validation and test of Table 4, with descriptions of their origin."""

    train: Pairs | None  # None if they are not needed
    dev: Pairs | None
    gold: Sequence[str]  # the cleaned test trees, one line each
    trained_on: str  # description of the training trees
    test_set: str  # description of the test trees
    is_comparable: bool  # whether the trees are the paper's: Penn Treebank sections 02-21 and 23


def choose_trees(
    recipe: Recipe, train: object, dev: object, test: Path | str | None, *, needs_training: bool
) -> TreeTexts:
    """Open the given trees or those of the corpus; InputError unless the recipe is for parsing.

    If `needs_training` is false, training trees are opened only if they are given; with given test
    trees, the corpus need not have been fetched.
    """
    require(
        find_task_kind(recipe.data) is PARSING,
        f"the recipe {recipe.name} is of the task {recipe.data.task}, not of parsing",
        "table4/wsj, craft or gum, for example",
    )
    train_trees = dev_trees = None
    if needs_training or train is not None:
        train_trees, dev_trees = choose_texts(recipe.data, train, dev)
    main = train_trees.main if isinstance(train_trees, MixedPairs) else train_trees
    folder = main.path if isinstance(main, TaskFiles) else None
    is_penn = folder is not None and folder.is_dir() and has_penn_sections(folder)
    require(
        test is not None or is_penn or is_treebank(recipe.data.corpus),
        "no trees to test on are named",
        "--test-trees FILE, or a Penn Treebank folder with section 23",
    )
    if test is None:
        test = folder if is_penn else f"{recipe.data.corpus}:test"
    is_section_23 = Path(str(test)).is_dir() and has_penn_sections(Path(str(test)))
    corpus = recipe.data.corpus if train is None else str(folder or "trees in memory")
    silver = " and silver trees" if isinstance(train_trees, MixedPairs) else ""
    return TreeTexts(
        train_trees,
        dev_trees,
        read_gold(find_task_files(str(test), recipe.data)),
        trained_on=f"{corpus}{silver}",
        test_set="WSJ section 23" if is_section_23 else str(test),
        is_comparable=is_section_23 and (is_penn or train_trees is None),
    )


def load_parser(model: Path | str, settings: Mapping[str, Value]) -> Translator:
    """Load a parser with changed search settings; refuse other settings and other models."""
    parser = load(model)
    require_task(parser.task, Parsing, parser.recipe.data, f"{model}: Table 4")
    trained = [path for path in settings if not path.startswith("search.")]
    require(
        not trained,
        f"{', '.join(trained)}: settings of training, and the given parser is trained already",
        "change settings of the search only, such as search.beam, or name no model",
    )
    return replace(parser, recipe=with_changes(parser.recipe, settings))


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
    model: Translator, gold: Sequence[str], *, name: str, trained_on: str, on_message: OnMessage
) -> tuple[ParserScores, list[str]]:
    """Parse the words of gold trees with a model; return its scores and its trees."""
    outputs = []
    sentences = (" ".join(to_tree(line).words) for line in gold)
    for number, tree in enumerate(model.translate_lines(sentences), start=1):
        outputs.append(tree)
        if number % 500 == 0:
            on_message(f"parsed {number:,} of {len(gold):,} sentences")
    return score_parser(name, trained_on, gold, outputs), outputs


def measure_baselines(texts: TreeTexts, on_message: OnMessage) -> list[ParserScores]:
    """Return the scores of all baseline parsers, which are trained, and read the gold tags."""
    assert texts.train is not None, "training trees were opened"
    trees, rows = [to_tree(tree) for words, tree in texts.train.read() if words], []
    tagged = [tag_parts_of_speech(to_tree(line)) for line in texts.gold]
    for name, build in BASELINES.items():
        on_message(name)
        parse = build(trees)
        outputs = [format_tree(parse(sentence)) for sentence in tagged]
        rows.append(score_parser(name, texts.trained_on, texts.gold, outputs))
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
        complete=percentage(whole.complete, whole.sentences),
        failed=whole.errors + whole.skipped,
        trees=whole.sentences,
    )


def read_gold(files: Sequence[Path]) -> list[str]:
    """Return the cleaned trees of files, one line each; raise InputError if there are none."""
    found = [tree for file in files for _, tree in read_test_trees(file)]
    require(bool(found), f"{files[0]} has no tree", "name a file of trees to test on")
    return found


def format_table(table: ParsingTable) -> str:
    """Return the report of Table 4 as Markdown text."""
    head = ("parser", "trained on", "F1", "F1, up to 40 words", "F1, root S", "complete", "failed")
    ours = [
        (
            row.parser,
            row.trained_on,
            *(f"{f1:.2f}" for f1 in (row.f1, row.f1_up_to_40, row.f1_of_sentences, row.complete)),
            f"{row.failed:,}",
        )
        for row in table.rows
    ]
    paper = [(one.parser, one.training, one.f1) for one in TABLE_4]
    blocks = [
        "# Table 4: English constituency parsing",
        f"Tested on {table.test_set}, {table.rows[0].trees:,} trees.",
        "## Our parser and the baselines",
        format_markdown_table(head, ours),
        NOTES,
        "## The paper's rows",
        COMPARABLE if table.is_comparable else NOT_COMPARABLE,
        format_markdown_table(("parser", "training", "F1 on WSJ 23"), paper),
    ]
    return "\n\n".join(blocks) + "\n"


def build_json(table: ParsingTable) -> dict[str, object]:
    """Return Table 4 as plain values for JSON: our rows, the baselines, the paper's rows."""
    return {
        "test_set": table.test_set,
        "is_comparable": table.is_comparable,
        "rows": [asdict(row) for row in table.rows],
        "paper": [asdict(one) for one in TABLE_4],
    }


def require_parsing_table_folder(folder: Path, *texts: Pairs | Path | None) -> None:
    """Refuse a folder with files that are not Table 4's, or whose trees.txt is one of `texts`."""
    ours = ("run", "model", "table4.md")
    require_own_folder(folder, "table4.json", ours, "folder of Table 4")
    outputs = folder / "trees.txt"
    for text in texts:
        for part in [one.pairs for one in text.texts] if isinstance(text, MixedPairs) else [text]:
            path = part.path if isinstance(part, TaskFiles) else part
            is_read = isinstance(path, Path) and os.path.realpath(path) == os.path.realpath(outputs)
            fact = f"{outputs} is to be read, and our trees are written there"
            require(not is_read, fact, "-o OTHER")


def write_report(folder: Path, table: ParsingTable, trees: Sequence[str]) -> list[Path]:
    """Write table4.md, table4.json and our parser's trees as trees.txt; return their paths."""
    ensure_folder(folder)
    contents = {
        "table4.md": format_table(table),
        "table4.json": json.dumps(build_json(table), indent=2, ensure_ascii=False) + "\n",
        "trees.txt": "".join(f"{tree}\n" for tree in trees),
    }
    for name, content in contents.items():
        write_atomically(folder / name, content.encode(errors="backslashreplace"))
    return [folder / name for name in contents]
