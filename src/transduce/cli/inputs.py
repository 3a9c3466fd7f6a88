"""Command-line options that name the files of texts: for training, validation and tests."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, final

from transduce.cli.options import FILE, FiniteRange, format_options, option
from transduce.errors import InputError
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.runs.texts import Pairs

COLUMNS = re.compile("[1-9][0-9]{0,3},[1-9][0-9]{0,3}")
PARALLEL = ("source", "target", "pairs", "dev_source", "dev_target", "dev_pairs", "columns")
TREES = ("trees", "dev_trees", "silver", "silver_ratio")
CORPUS = (*PARALLEL, *TREES, "tags", "dev_tags")
ADAPTATION = ("parent", "old_source", "old_target", "old_pairs", "old_share")
TRAINING = (*CORPUS, "no_dev", *ADAPTATION)
TEXTS = (*CORPUS, "old_source", "old_target", "old_pairs")
TEST = ("test_source", "test_target", "test_pairs")


def read_columns(value: str) -> str:
    """Return the text of two different numbers from 1, such as 1,3; refuse any other text."""
    if not COLUMNS.fullmatch(value) or len(set(value.split(","))) < 2:
        hint = "the columns of source and target, counted from 1: --columns 1,2"
        raise InputError(f"--columns {value}: not two different columns", hint)
    return value


@final
@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """The files of texts that a command's options name. A command has some of these options.

    The constants PARALLEL, TREES, CORPUS, TRAINING and TEST list them.
    """

    source: Path | None = option(type=FILE, help="Training text in the source language.")
    target: Path | None = option(type=FILE, help="Its translation, line by line.")
    pairs: Path | None = option(type=FILE, help="Both in one file, separated by a tab.")
    dev_source: Path | None = option(type=FILE, help="A development set for validation.")
    dev_target: Path | None = option(type=FILE, help="Its translation.")
    dev_pairs: Path | None = option(type=FILE, help="Both in one file, separated by a tab.")
    columns: str | None = option(
        type=read_columns,
        metavar="SOURCE,TARGET",
        help="Which columns of a pairs file are source and target, such as 1,3 (default: the file "
        "has exactly two columns).",
    )
    trees: Path | None = option(
        type=FILE,
        help="For parsing: a file of bracketed trees, or a folder of such files. From a Penn "
        "Treebank folder, sections 02 to 21 are for training and 22 for validation.",
    )
    dev_trees: Path | None = option(type=FILE, help="Trees for validation.")
    silver: Path | None = option(
        type=FILE, help="For parsing: more trees, such as a parser's output."
    )
    silver_ratio: float | None = option(
        type=FiniteRange(0.001, 1000),
        help="Silver trees for each tree of --trees (default: 1).",
    )
    tags: Path | None = option(
        type=FILE, help="For tagging: a file with a token, a tab and its label on each line."
    )
    dev_tags: Path | None = option(type=FILE, help="Labelled tokens for validation.")
    no_dev: bool = option(
        is_flag=True,
        help="Do not hold out pairs for validation. By default, without a recipe and a development "
        "set, 1 % of a text of at least 2,000 pairs is held out, but 200 to 2,000 pairs.",
    )
    parent: Path | None = option(
        "--from",
        type=FILE,
        metavar="MODEL",
        help="Continue from this model (or run) with new text, in the model's vocabulary.",
    )
    old_source: Path | None = option(type=FILE, help="With --from: older text, mixed into the new.")
    old_target: Path | None = option(type=FILE, help="Its translation, line by line.")
    old_pairs: Path | None = option(type=FILE, help="Both in one file, separated by a tab.")
    old_share: float | None = option(
        type=FiniteRange(0.001, 0.999),
        help="Fraction of the pairs read that are old (default: 0.5).",
    )
    test_source: Path | None = option(type=FILE, help="The test set on which the rows are scored.")
    test_target: Path | None = option(type=FILE, help="Its translation.")
    test_pairs: Path | None = option(type=FILE, help="Both in one file, separated by a tab.")

    def read_train(self) -> "Pairs | None":
        """Return the training text, mixed with the trees of --silver; None if none is named."""
        from transduce.runs.texts import MixedPairs, TaskFiles

        if self.columns and not (self.pairs or self.dev_pairs or self.old_pairs):
            raise InputError("--columns is for --pairs", "name a file with tab-separated columns")
        train = self._find_text("")
        if self.silver is None:
            if self.silver_ratio is not None:
                raise InputError("--silver-ratio needs --silver", "name the file of silver trees")
            return train
        if not isinstance(train, TaskFiles) or self.trees is None:
            raise InputError("--silver needs --trees", "silver trees are mixed with gold ones")
        silver = TaskFiles(self.silver, train.kind, "silver")
        return MixedPairs(train, silver, self.silver_ratio or 1.0)

    def read_dev(self) -> "Pairs | None":
        """Return the development set; None if none is named."""
        return self._find_text("dev_")

    def choose_dev(self) -> "Pairs | Literal[False] | None":
        """Return the development set; None if none is named, False if there is to be none."""
        dev = self.read_dev()
        if self.no_dev and dev is not None:
            raise InputError("--no-dev and a development set exclude each other", "leave out one")
        return False if self.no_dev else dev

    def read_old(self) -> "Pairs | None":
        """Return the older text to mix into the new; None if none is named."""
        return self._find_text("old_")

    def read_test(self) -> "Pairs | None":
        """Return the test set; None if none is named."""
        return self._find_text("test_")

    def require_no_text(self, store: Path | None) -> None:
        """Refuse files of texts together with a prepared corpus (--store)."""
        named = "".join(format_options(self, *TEXTS)[:1])
        require(
            store is None or not named,
            f"{named} and --store exclude each other: a store contains all texts",
            "give one of them",
        )

    def _find_text(self, split: str) -> "Pairs | None":
        """Return the text in the files of the fields that begin with `split`; None if all are."""
        from transduce.runs.texts import FilePair, TaskFiles
        from transduce.tasks.parsing import PARSING
        from transduce.tasks.tagging import TAGGING
        from transduce.tasks.text import TRANSLATION

        kinds = {"pairs": TRANSLATION, "trees": PARSING, "tags": TAGGING}
        files = {side: getattr(self, split + side, None) for side in ("source", "target", *kinds)}
        given = {side: file for side, file in files.items() if file is not None}
        prefix = f"--{split}".replace("_", "-")
        match list(given):
            case []:
                return None
            case ["source", "target"]:
                return FilePair(given["source"], given["target"])
            case ["source" | "target" as side]:
                missing = "target" if side == "source" else "source"
                raise InputError(f"{prefix}{missing} is missing", "a parallel text has two sides")
            case [side]:
                columns = None
                if side == "pairs" and self.columns:
                    ours, theirs = map(int, self.columns.split(","))
                    columns = ours, theirs
                part = "dev" if split == "dev_" else "train"
                return TaskFiles(given[side], kinds[side], part, columns)
            case sides:
                fact = f"{prefix}{sides[-1]} and {prefix}{sides[0]} name the text twice"
                raise InputError(fact, "give one of them")
