"""The inputs of Table 4: trees for training and testing, and the training of the parser."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.datasets.penn import has_penn_sections
from transduce.inference.test_set import find_task_files
from transduce.reproduce.table4 import read_gold
from transduce.runs.average import average
from transduce.runs.choice import choose_texts
from transduce.runs.texts import Pairs, TaskFiles
from transduce.runs.train import train as train_run
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value
from transduce.tasks import PARSING, kind_of
from transduce.tasks.parsing import to_tree
from transduce.text.trees.tree import Tree
from transduce.training.callbacks import TrainingCallbacks


@final
@dataclass(frozen=True)
class TreeTexts:
    """The trees for training, validation and test of Table 4, with descriptions of their origin."""

    train: Pairs
    dev: Pairs | None
    gold: Sequence[str]  # the cleaned test trees, one line each
    trained_on: str
    test_set: str
    is_comparable: bool  # with the paper's: sections 02 to 21 and 23 of the Penn Treebank

    def read_train(self) -> Iterator[Tree]:
        """Yield the cleaned training trees."""
        return (to_tree(tree) for words, tree in self.train.read() if words)


def choose_trees(recipe: Recipe, train: object, dev: object, test: Path | str | None) -> TreeTexts:
    """Open the trees of Table 4: those given as arguments, by default the recipe's corpus."""
    require(
        kind_of(recipe.data) is PARSING,
        f"the recipe {recipe.name} is of the task {recipe.data.task}, not of parsing",
        "table4/wsj, craft or gum, for example",
    )
    train_trees, dev_trees = choose_texts(recipe.data, train, dev)
    folder = train_trees.path if isinstance(train_trees, TaskFiles) else None
    is_penn = folder is not None and folder.is_dir() and has_penn_sections(folder)
    if test is None:
        test = folder if is_penn else f"{recipe.data.corpus}:test"
    files = find_task_files(str(test), recipe.data)
    corpus = recipe.data.corpus if train is None else str(folder or "trees in memory")
    return TreeTexts(
        train_trees,
        dev_trees,
        read_gold(files),
        trained_on=corpus,
        test_set="WSJ section 23" if is_penn and Path(str(test)) == folder else str(test),
        is_comparable=is_penn and Path(str(test)) == folder,
    )


def train_parser(
    folder: Path,
    recipe: Recipe,
    trees: TreeTexts,
    settings: Mapping[str, Value],
    on_message: Callable[[str], None],
) -> Path:
    """Train the recipe in FOLDER/run, or resume that run; return the averaged model's folder."""
    run = train_run(
        folder / "run",
        trees.train,
        trees.dev,
        recipe=recipe,
        settings=settings,
        callbacks=TrainingCallbacks(on_message=on_message),
    )
    return average(run).folder
