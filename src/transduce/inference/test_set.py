"""Reads a test set: files of lines, files in a task's format, or a fetched corpus."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from transduce.datasets.cache import cache_folder
from transduce.datasets.catalogue import is_treebank
from transduce.datasets.fetch import find_split_files, open_corpus, read_splits
from transduce.datasets.fetch_trees import find_treebank_file
from transduce.errors import InputError
from transduce.settings import Data
from transduce.settings.fields import require
from transduce.tasks import find_task_kind
from transduce.text.arguments import Text, read_text

Sides = tuple[list[str], list[str]]  # lines of the source and of the reference


def read_test_set(source: Text, reference: Text | None, data: Data) -> Sides:
    """Return the source and reference lines of a test set from files, lists or a fetched corpus.

    A test set of trees or tagged tokens is a file, a treebank's folder, or a fetched treebank's
    name.
    """
    if reference is not None:
        return read_text("source", source), read_text("reference", reference)
    require(
        isinstance(source, str | Path),
        "reference must be given with lines of a source",
        "or name a fetched test set as the source",
    )
    if read_file := find_task_kind(data).read_test_file:
        return read_both_sides(find_task_files(str(source), data), read_file)
    files = find_fetched(str(source), data)
    return read_text("source", files[0]), read_text("reference", files[1])


def read_both_sides(
    files: Sequence[Path], read_file: Callable[[Path], Iterable[tuple[str, str]]]
) -> Sides:
    """Read files in a task's format, such as trees; return all source and reference lines."""
    pairs = [pair for file in files for pair in read_file(file)]
    require(bool(pairs), f"{files[0]} has no test sentence", "look at the file")
    return [source for source, _ in pairs], [reference for _, reference in pairs]


def find_task_files(name: str, data: Data, split: str = "test") -> Sequence[Path]:
    """Return the files of a split at a path, or those of a fetched treebank.

    A treebank is named CORPUS, for the given split, or CORPUS:SPLIT.
    """
    if Path(name).exists():
        return find_task_kind(data).list_files(Path(name), split)
    corpus, _, named = name.partition(":")
    if not is_treebank(corpus):
        hint = "name a file, or a fetched treebank as CORPUS:SPLIT"
        raise InputError(f"{name} is neither a file nor a treebank", hint)
    file = find_treebank_file(corpus, named or split, cache_folder())
    if file is None:
        raise InputError(f"{corpus} has no split {named or split}", f"{corpus}:dev, for example")
    return [file]


def find_fetched(name: str, data: Data) -> tuple[Path, Path]:
    """Return the source and target file of a fetched corpus, named CORPUS or CORPUS:SPLIT."""
    hint = "name a reference, or instead of the source a fetched test set"
    require(not Path(name).is_file(), f"{name} is a source without a reference", hint)
    corpus, _, split = name.partition(":")
    languages, cache = (data.source_language, data.target_language), cache_folder()
    texts = find_split_files(corpus, split or "test", languages, cache)
    if texts is None:
        have = read_splits(open_corpus(corpus, languages, cache))
        raise InputError(f"{corpus} has no split {split or 'test'}", f"it has {', '.join(have)}")
    return texts
