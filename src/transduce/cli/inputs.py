"""The options that name a parallel text, for training and for the development set."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.errors import InputError
from transduce.recipes.table4 import TREES
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.runs.texts import Pairs
    from transduce.settings import Data

FILE = click.Path(path_type=Path)
DEV_PAIRS = 1_000  # of a generated corpus
TRAIN_PAIRS = 100_000  # of a generated corpus, unless data.max_pairs says otherwise
FILES = ("source", "target", "pairs", "dev_source", "dev_target", "dev_pairs")  # as options


def corpus_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--source, --target, --pairs, and the same for the development set."""
    for option in reversed(
        (
            click.option("--source", type=FILE, help="Training text in the source language."),
            click.option("--target", type=FILE, help="Its translation, line by line."),
            click.option("--pairs", type=FILE, help="Both in one file, a tab between."),
            click.option("--dev-source", type=FILE, help="A development set to look at."),
            click.option("--dev-target", type=FILE, help="Its translation."),
            click.option("--dev-pairs", type=FILE, help="Both in one file, a tab between."),
        )
    ):
        command = option(command)
    return command


def chosen_pairs(data: "Data", files: Mapping[str, Path | None]) -> "tuple[Pairs, Pairs | None]":
    """The training text and the development set that options or the recipe name."""
    from transduce.runs.texts import GENERATED, GeneratedCorpus

    require(
        data.target_language != TREES,
        "parsing is not built: recipes of Table 4 state settings only",
        "transduce recipes show table4/wsj",
    )
    train, dev = from_files(files, ""), from_files(files, "dev_")
    if train is not None:
        return train, dev
    if data.corpus not in GENERATED:
        found = from_cache(data, "train")
        if found is None:
            fact = f"{data.corpus} is a test set and has no training text"
            raise InputError(fact, "name another corpus: --set data.corpus=NAME")
        return found, dev or from_cache(data, "dev")
    count = data.max_pairs or TRAIN_PAIRS
    dev = dev or GeneratedCorpus(data.corpus, "dev", DEV_PAIRS)
    return GeneratedCorpus(data.corpus, "train", count), dev


def from_cache(data: "Data", split: str) -> "Pairs | None":
    """A split of the public corpus that the recipe names; it must have been fetched."""
    from transduce.datasets.cache import cache_folder
    from transduce.datasets.catalogue import is_public
    from transduce.datasets.fetch import texts_of
    from transduce.runs.texts import FilePair

    if not is_public(data.corpus):
        raise InputError(
            f"where does the corpus {data.corpus} lie?",
            "name its files: --source FILE --target FILE, or --pairs FILE",
        )
    languages = (data.source_language, data.target_language)
    texts = texts_of(data.corpus, split, languages, cache_folder())
    return FilePair(*texts) if texts else None


def from_files(files: Mapping[str, Path | None], before: str) -> "Pairs | None":
    """A parallel text from the options that begin with `before`."""
    from transduce.runs.texts import FilePair, TsvFile

    source, target, pairs = (files[before + name] for name in ("source", "target", "pairs"))
    dashed = "--" + before.replace("_", "-")
    if pairs is not None:
        if source or target:
            raise InputError(f"{dashed}pairs and {dashed}source name the text twice", "leave one")
        return TsvFile(pairs)
    if (source is None) != (target is None):
        missing = "source" if source is None else "target"
        raise InputError(f"{dashed}{missing} is missing", "a parallel text has two sides")
    return FilePair(source, target) if source and target else None
