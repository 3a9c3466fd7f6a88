"""Command-line options that name the files of the training text and the development set."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.errors import InputError

if TYPE_CHECKING:
    from transduce.runs.texts import Pairs

FILE = click.Path(path_type=Path)
FILES = ("source", "target", "pairs", "dev_source", "dev_target", "dev_pairs")  # as options


def corpus_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add options for the files of the training text and the development set to a command."""
    for option in reversed(
        (
            click.option("--source", type=FILE, help="Training text in the source language."),
            click.option("--target", type=FILE, help="Its translation, line by line."),
            click.option("--pairs", type=FILE, help="Both in one file, separated by a tab."),
            click.option("--dev-source", type=FILE, help="A development set for validation."),
            click.option("--dev-target", type=FILE, help="Its translation."),
            click.option("--dev-pairs", type=FILE, help="Both in one file, separated by a tab."),
        )
    ):
        command = option(command)
    return command


def named_texts(files: Mapping[str, Path | None]) -> "tuple[Pairs | None, Pairs | None]":
    """Return the training text and the development set that the options name, None if unnamed."""
    return read_text_options(files, ""), read_text_options(files, "dev_")


def read_text_options(files: Mapping[str, Path | None], prefix: str) -> "Pairs | None":
    """Return the text of the options PREFIXsource and -target, or -pairs; None if not given."""
    from transduce.runs.texts import FilePair, TsvFile

    source, target, pairs = (files[prefix + name] for name in ("source", "target", "pairs"))
    dashed = "--" + prefix.replace("_", "-")
    if pairs is not None:
        if source or target:
            raise InputError(
                f"{dashed}pairs and {dashed}source name the text twice", "give one of them"
            )
        return TsvFile(pairs)
    if (source is None) != (target is None):
        missing = "source" if source is None else "target"
        raise InputError(f"{dashed}{missing} is missing", "a parallel text has two sides")
    return FilePair(source, target) if source and target else None
