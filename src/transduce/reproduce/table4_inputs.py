"""The inputs of Table 4: trees for training and testing, and the training of the parser."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from transduce.datasets.catalogue import is_treebank
from transduce.datasets.penn import has_penn_sections
from transduce.inference.average import average
from transduce.inference.evaluate import find_task_files
from transduce.inference.load import load
from transduce.inference.translator import Translator
from transduce.reproduce.parsing_table import read_gold
from transduce.runs.choice import choose_texts
from transduce.runs.texts import MixedPairs, Pairs, TaskFiles
from transduce.runs.train import train as train_run
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value, with_changes
from transduce.tasks import find_task_kind, require_task
from transduce.tasks.parsing import PARSING, Parsing, to_tree
from transduce.text.trees.tree import Tree
from transduce.training.progress import TrainingCallbacks


@final
@dataclass(frozen=True)
class TreeTexts:
    """The trees for training, validation and test of Table 4, with descriptions of their origin."""

    train: Pairs | None  # None if they are not needed
    dev: Pairs | None
    gold: Sequence[str]  # the cleaned test trees, one line each
    trained_on: str  # description of the trees that our parser is trained on
    baselines_on: str  # description of the trees that the baselines are trained on
    test_set: str  # description of the test trees
    is_comparable: bool  # whether the trees are the paper's: Penn Treebank sections 02-21 and 23

    def read_train(self) -> Iterator[Tree]:
        """Yield the cleaned training trees."""
        assert self.train is not None
        return (to_tree(tree) for words, tree in self.train.read() if words)


def choose_trees(
    recipe: Recipe,
    train: object,
    dev: object,
    test: Path | str | None,
    *,
    needs_training: bool,
) -> TreeTexts:
    """Open the trees of Table 4: the given trees, or else the trees of the recipe's corpus.

    Without `needs_training` no training trees are opened unless some are given, and the corpus need
    not have been fetched if test trees are given.
    """
    require(
        find_task_kind(recipe.data) is PARSING,
        f"the recipe {recipe.name} is of the task {recipe.data.task}, not of parsing",
        "table4/wsj, craft or gum, for example",
    )
    train_trees: Pairs | None = None
    dev_trees: Pairs | None = None
    if needs_training or train is not None:
        train_trees, dev_trees = choose_texts(recipe.data, train, dev)
    gold = train_trees.main if isinstance(train_trees, MixedPairs) else train_trees
    folder = gold.path if isinstance(gold, TaskFiles) else None
    is_penn = folder is not None and folder.is_dir() and has_penn_sections(folder)
    require(
        test is not None or is_penn or is_treebank(recipe.data.corpus),
        "no trees to test on are named",
        "--test-trees FILE, or a Penn Treebank folder with section 23",
    )
    if test is None:
        test = folder if is_penn else f"{recipe.data.corpus}:test"
    files = find_task_files(str(test), recipe.data)
    corpus = recipe.data.corpus if train is None else str(folder or "trees in memory")
    silver = " and silver trees" if isinstance(train_trees, MixedPairs) else ""
    return TreeTexts(
        train_trees,
        dev_trees,
        read_gold(files),
        trained_on=f"{corpus}{silver}",
        baselines_on=f"{corpus}{silver}",
        test_set="WSJ section 23" if is_penn and Path(str(test)) == folder else str(test),
        is_comparable=is_penn and Path(str(test)) == folder,
    )


def load_parser(model: Path | str, settings: Mapping[str, Value]) -> Translator:
    """Load a trained parser with changed search settings; raise InputError for other settings."""
    parser = load(model)
    require_task(parser.task, Parsing, parser.recipe.data, f"{model}: Table 4")
    trained = [path for path in settings if not path.startswith("search.")]
    require(
        not trained,
        f"{', '.join(trained)}: settings of training, and the given parser is trained already",
        "change settings of the search only, such as search.beam, or name no model",
    )
    return replace(parser, recipe=with_changes(parser.recipe, settings))


def train_parser(
    folder: Path,
    recipe: Recipe,
    trees: TreeTexts,
    settings: Mapping[str, Value],
    callbacks: TrainingCallbacks,
) -> Path:
    """Train a parser in `folder`/run, or resume its training; return the averaged model's path."""
    assert trees.train is not None
    run = train_run(
        folder / "run",
        trees.train,
        trees.dev,
        recipe=recipe,
        settings=settings,
        callbacks=callbacks,
    )
    return average(run).folder
