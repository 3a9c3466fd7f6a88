"""Command-line options that name the files of the training text and the development set."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from transduce.cli.file_path import FilePath
from transduce.errors import InputError

if TYPE_CHECKING:
    from transduce.runs.texts import Pairs

FILE = FilePath(path_type=Path)
COLUMNS = re.compile("[1-9][0-9]{0,3},[1-9][0-9]{0,3}")
SIDES = ("source", "target", "pairs", "trees", "tags")
# names of the options that `parallel_options` adds
PARALLEL_FILES = ("source", "target", "pairs", "dev_source", "dev_target", "dev_pairs", "columns")


class Columns(click.ParamType):  # type: ignore[type-arg]
    """The parameter type for the columns of source and target in a TSV file, such as 1,3."""

    name = "source,target"

    def convert(self, value: Any, param: object, ctx: object) -> str:  # noqa: ANN401, ARG002
        """Return the text of two different numbers from 1; refuse any other argument."""
        if not COLUMNS.fullmatch(value) or len(set(value.split(","))) < 2:
            hint = "the columns of source and target, counted from 1: --columns 1,2"
            raise InputError(f"--columns {value}: not two different columns", hint)
        return str(value)


def corpus_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command the options that name files of parallel texts, trees and tagged tokens."""
    return parallel_options(tree_options(tag_options(command)))


no_dev = click.option(
    "--no-dev",
    is_flag=True,
    help="Hold out no pairs. Without a recipe and a development set 1 % of the pairs, 200 to "
    "2,000, are held out for validation.",
)


def parallel_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add options that name the files of a parallel training text and development set."""
    for option in reversed(
        (
            click.option("--source", type=FILE, help="Training text in the source language."),
            click.option("--target", type=FILE, help="Its translation, line by line."),
            click.option("--pairs", type=FILE, help="Both in one file, separated by a tab."),
            click.option("--dev-source", type=FILE, help="A development set for validation."),
            click.option("--dev-target", type=FILE, help="Its translation."),
            click.option("--dev-pairs", type=FILE, help="Both in one file, separated by a tab."),
            click.option(
                "--columns",
                type=Columns(),
                help="The columns of source and target if files of pairs have others, such as 1,3.",
            ),
        )
    ):
        command = option(command)
    return command


def adaptation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add options that name a trained model to go on from, and old text to mix into the new."""
    for option in reversed(
        (
            click.option(
                "--from",
                "parent",
                type=FILE,
                metavar="MODEL",
                help="Go on from this model (or run) on new text, with its vocabulary.",
            ),
            click.option(
                "--old-source", type=FILE, help="With --from: older text, mixed into the new."
            ),
            click.option("--old-target", type=FILE, help="Its translation, line by line."),
            click.option("--old-pairs", type=FILE, help="Both in one file, separated by a tab."),
            click.option(
                "--old-share",
                type=click.FloatRange(0, 1, min_open=True, max_open=True),
                help="Old pairs among all pairs that are read; default 0.5.",
            ),
        )
    ):
        command = option(command)
    return command


def tree_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command the options that name files of trees."""
    for option in reversed(
        (
            click.option(
                "--trees",
                type=FILE,
                help="For parsing: a file of trees in brackets, or a folder of such files; of a "
                "Penn Treebank folder sections 02 to 21, and 22 for validation.",
            ),
            click.option("--dev-trees", type=FILE, help="Trees for validation."),
            click.option(
                "--silver", type=FILE, help="For parsing: more trees, such as a parser's output."
            ),
            click.option(
                "--silver-ratio",
                type=click.FloatRange(min=0, min_open=True),
                help="Silver trees for each tree of --trees; default 1.",
            ),
        )
    ):
        command = option(command)
    return command


def tag_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command the options that name files of tagged tokens."""
    for option in reversed(
        (
            click.option(
                "--tags",
                type=FILE,
                help="For tagging: a file with a token, a tab and its label on each line.",
            ),
            click.option("--dev-tags", type=FILE, help="Labelled tokens for validation."),
        )
    ):
        command = option(command)
    return command


def read_corpus_options(files: Mapping[str, Any]) -> "tuple[Pairs | None, Pairs | None]":
    """Return the training text and the development set that options name, each None if unnamed."""
    if files.get("columns") and not any(map(files.get, ("pairs", "dev_pairs", "old_pairs"))):
        raise InputError("--columns is for --pairs", "name a file with tab-separated columns")
    return add_silver(read_text_options(files, ""), files), read_text_options(files, "dev_")


def choose_dev(dev: "Pairs | None", *, no_dev: bool) -> "Pairs | Literal[False] | None":
    """Return the development set that options name, or False if there is to be none."""
    if no_dev and dev is not None:
        raise InputError("--no-dev and a development set exclude each other", "leave out one")
    return False if no_dev else dev


def read_text_options(files: Mapping[str, Any], prefix: str) -> "Pairs | None":
    """Return the text given by the options with a prefix such as "dev_", or None if none is."""
    from transduce.runs.texts import FilePair, TaskFiles
    from transduce.tasks import PARSING, TAGGING, TRANSLATION

    dashed = "--" + prefix.replace("_", "-")
    split = "dev" if prefix == "dev_" else "train"
    kinds = {"pairs": TRANSLATION, "trees": PARSING, "tags": TAGGING}
    given = [side for side in SIDES if files.get(prefix + side) is not None]
    if len(given) > 1 and given != ["source", "target"]:
        fact = f"{dashed}{given[-1]} and {dashed}{given[0]} name the text twice"
        raise InputError(fact, "give one of them")
    if given in (["source"], ["target"]):
        missing = "target" if given == ["source"] else "source"
        raise InputError(f"{dashed}{missing} is missing", "a parallel text has two sides")
    if len(given) == 2:
        return FilePair(files[prefix + "source"], files[prefix + "target"])
    if not given:
        return None
    columns = None
    if given == ["pairs"] and files.get("columns"):
        ours, theirs = map(int, files["columns"].split(","))
        columns = ours, theirs
    return TaskFiles(files[prefix + given[0]], kinds[given[0]], split, columns)


def add_silver(train: "Pairs | None", files: Mapping[str, Any]) -> "Pairs | None":
    """Return the training text, mixed with the automatically parsed trees of --silver if given."""
    from transduce.runs.texts import MixedPairs, TaskFiles

    silver, ratio = files.get("silver"), files.get("silver_ratio")
    if silver is None:
        if ratio is not None:
            raise InputError("--silver-ratio needs --silver", "name the file of silver trees")
        return train
    if not isinstance(train, TaskFiles) or files.get("trees") is None:
        raise InputError("--silver needs --trees", "silver trees are mixed with gold ones")
    return MixedPairs(train, TaskFiles(silver, train.kind, "silver"), ratio or 1.0)
