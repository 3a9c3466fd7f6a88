"""Command-line options that name the files of texts: for training, validation and tests."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final

from transduce.cli.options import FILE, FiniteRange, flag, format_options, option
from transduce.errors import InputError, short_repr
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.runs.texts import Pairs, TaskFiles
    from transduce.text.pair_files import Columns

WEIGHTED = re.compile(
    r"(?P<file>.+?):(?P<weight>[0-9]{0,12}\.?[0-9]{1,12})?"
    r"(?::(?P<first>[0-9]{1,12})?-(?P<last>[0-9]{1,12})?)?"
)
COLUMNS = re.compile(r"[1-9][0-9]{0,3},[1-9][0-9]{0,3}|[^\d\W][^,]{0,99},[^\d\W][^,]{0,99}")
PARALLEL = ("source", "target", "pairs", "dev_source", "dev_target", "dev_pairs", "columns")
TREES = ("trees", "dev_trees", "silver", "silver_ratio")
CORPUS = (*PARALLEL, *TREES, "tags", "dev_tags", "signals", "dev_signals")
ADAPTATION = ("parent", "old_source", "old_target", "old_pairs", "old_share")
TRAINING = (*CORPUS, "synthetic", "tag_synthetic", "no_dev", *ADAPTATION)
TEXTS = (*CORPUS, "synthetic", "old_source", "old_target", "old_pairs")
TEST = ("test_source", "test_target", "test_pairs")


def read_columns(value: str) -> str:
    """Return `value` if it names two different columns, as 1,3 or en,de; else raise InputError."""
    if not COLUMNS.fullmatch(value) or len(set(value.split(","))) < 2:
        hint = "the columns of source and target, from 1 to 9,999, or their names: --columns 1,2"
        raise InputError(f"--columns {value}: not two different columns", hint)
    return value


@final
@dataclass(frozen=True)
class WeightedFile:
    """A file of pairs, its weight (0 if none is named), and the first and last update to use it."""

    path: Path
    weight: float = 0.0
    first: int = 1
    last: int = 0  # 0: the end of the training

    def __str__(self) -> str:
        weight = f"{self.weight:.12f}".rstrip("0").rstrip(".") if self.weight else ""
        updates = f":{self.first}-{self.last or ''}" if (self.first, self.last) != (1, 0) else ""
        return f"{self.path}:{weight}{updates}" if weight or updates else str(self.path)


def read_weighted_file(value: str) -> WeightedFile:
    """Convert FILE[:WEIGHT[:FIRST-LAST]], where updates FIRST to LAST read FILE; InputError if bad.

    A text that is the path of an existing file gives that file without a weight.
    """
    found = WEIGHTED.fullmatch(value)
    if found is None or Path(value).exists():
        file, _, rest = value.partition(":")
        fact = f"{file}:{short_repr(rest)}: what follows the colon is no weight"
        hint = f"{file}:3, or {file}:0.5:1-8000 with its first and last update"
        require(Path(value).exists() or not rest or not Path(file).is_file(), fact, hint)
        return WeightedFile(FILE.convert(value, None, None))
    first, last = int(found["first"] or 1), int(found["last"] or 0)
    weight = float(found["weight"] or 1)
    require(weight > 0, f"{value}: a weight of 0 reads nothing", "leave the text out")
    path = FILE.convert(found["file"], None, None)
    return WeightedFile(path, float(found["weight"] or 0), first, last)


PAIRS: dict[str, Any] = {
    "type": read_weighted_file,
    "metavar": "FILE[:WEIGHT[:FIRST-LAST]]",
    "multiple": True,
}
SYNTHETIC_SHARE = 0.5  # share of synthetic pairs, if none is named


@final
@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """The options of a command that name its text files and say how to read and mix them.

    The constants PARALLEL, TREES, CORPUS, TRAINING and TEST list fields for a command to take.
    """

    source: Path | None = option("Training text in the source language.")
    target: Path | None = option("Its translation, line by line.")
    pairs: tuple[WeightedFile, ...] = option(
        "Both in one file, separated by a tab, or as CSV, TMX or XLIFF; may be repeated. Updates "
        "read pairs of several files by their weights, such as a.tsv:3 and b.tsv:1, or all pairs "
        "equally often; and with b.tsv:1:1-8000 only until update 8,000.",
        **PAIRS,
    )
    synthetic: tuple[WeightedFile, ...] = option(
        "Pairs to mix in, such as back-translations, and their share of the pairs read: "
        "back.tsv:0.4 (default: 0.5); may be repeated, and limited to updates as --pairs.",
        **PAIRS,
    )
    tag_synthetic: bool = flag("Let synthetic sources begin with a symbol that no text can spell.")
    dev_source: Path | None = option("A development set for validation.")
    dev_target: Path | None = option("Its translation.")
    dev_pairs: Path | None = option("Both in one file, separated by a tab.")
    columns: str | None = option(
        "Which columns of a pairs file are source and target, such as 1,3; of CSV also their "
        "names, of TMX and XLIFF the languages, such as en,de (default: the file has only two). A "
        "file that can have none of these, beside one that can, keeps the default.",
        type=read_columns,
        metavar="SOURCE,TARGET",
    )
    trees: Path | None = option(
        "For parsing: a file of bracketed trees, or a folder of such files. From a Penn Treebank "
        "folder, sections 02 to 21 are for training and 22 for validation."
    )
    dev_trees: Path | None = option("Trees for validation.")
    silver: Path | None = option("For parsing: more trees, such as a parser's output.")
    silver_ratio: float | None = option(
        "Silver trees for each tree of --trees (default: 1).", type=FiniteRange(0.001, 1000)
    )
    tags: Path | None = option(
        "For tagging: a file with a token, a tab and its label on each line."
    )
    dev_tags: Path | None = option("Labelled tokens for validation.")
    signals: Path | None = option(
        "For pictures and sounds: a file with a path (PNG, PGM, WAV) or a text, a tab, and what it "
        "becomes on each line. Paths are relative to the file."
    )
    dev_signals: Path | None = option("Such a file for validation.")
    no_dev: bool = flag(
        "Do not hold out pairs for validation. By default, without a recipe and a development set, "
        "1 % of a text of at least 2,000 pairs is held out, but 200 to 2,000 pairs."
    )
    parent: Path | None = option(
        "Continue from this model (or run) with new text, in the model's vocabulary.",
        "--from",
        metavar="MODEL",
    )
    old_source: Path | None = option("With --from: older text, mixed into the new.")
    old_target: Path | None = option("Its translation, line by line.")
    old_pairs: Path | None = option("Both in one file, separated by a tab.")
    old_share: float | None = option(
        "Fraction of the pairs read that are old (default: 0.5).", type=FiniteRange(0.001, 0.999)
    )
    test_source: Path | None = option("The test set on which the rows are scored.")
    test_target: Path | None = option("Its translation.")
    test_pairs: Path | None = option("Both in one file, separated by a tab.")

    def read_train(self) -> "Pairs | None":
        """Return the training text, plus any silver trees or synthetic pairs; None without a text.

        Refuses an option that needs a missing one, such as synthetic pairs without a text.
        """
        from transduce.runs.texts import TaskFiles, add_pairs

        files = (self.pairs, self.synthetic, self.dev_pairs, self.old_pairs, self.test_pairs)
        if self.columns and not any(files):
            raise InputError("--columns is for --pairs", "name a file with tab-separated columns")
        train = self._read_own()
        if self.silver is None:
            if self.silver_ratio is not None:
                raise InputError("--silver-ratio needs --silver", "name the file of silver trees")
            return train
        if not isinstance(train, TaskFiles) or self.trees is None:
            raise InputError("--silver needs --trees", "silver trees are mixed with gold ones")
        silver = TaskFiles(self.silver, train.kind, "silver")
        return add_pairs(train, silver, self.silver_ratio or 1.0, ("gold", "silver"))

    def _read_own(self) -> "Pairs | None":
        """Return the training text with any synthetic pairs mixed in; None if no text is named."""
        from transduce.corpus.mixture import Share
        from transduce.runs.mix import mix_texts
        from transduce.runs.texts import MixedText

        def open_file(one: WeightedFile, weight: float) -> MixedText:
            pairs = self._open_pairs(one.path, "train")
            share = Share(name="", weight=weight, start=one.first, stop=one.last)
            return MixedText(pairs, share)

        first = self.find_text("")
        if first is None:
            require(
                not (self.synthetic or self.tag_synthetic),
                "--synthetic pairs are mixed into others, and none were named",
                "--pairs FILE, or --source FILE --target FILE",
            )
            return None
        main = [open_file(one, one.weight) for one in self.pairs]
        synthetic = [open_file(one, one.weight or SYNTHETIC_SHARE) for one in self.synthetic]
        return mix_texts(
            main or [MixedText(first, Share(name=""))],
            synthetic,
            tag_synthetic=self.tag_synthetic,
        )

    def choose_dev(self) -> "Pairs | Literal[False] | None":
        """Return the development set, None without one, or False with --no-dev; refuse both."""
        dev = self.find_text("dev_")
        if self.no_dev and dev is not None:
            raise InputError("--no-dev and a development set exclude each other", "leave out one")
        return False if self.no_dev else dev

    def require_no_text(self, store: Path | None) -> None:
        """Raise InputError if both a text and a prepared corpus (`store`) are given."""
        named = "".join(format_options(self, *TEXTS)[:1])
        require(
            store is None or not named,
            f"{named} and --store exclude each other: a store contains all texts",
            "give one of them",
        )

    def find_text(self, split: Literal["", "dev_", "old_", "test_"]) -> "Pairs | None":
        """Return the text of the fields with prefix `split`, or None; refuse one side or two texts.

        It may be the training text (the first of several --pairs), the development set, the older
        text to mix into the new, or the test set.
        """
        from transduce.runs.texts import FilePair, TaskFiles
        from transduce.tasks.parsing import PARSING
        from transduce.tasks.signal import SIGNAL
        from transduce.tasks.tagging import TAGGING

        kinds = {"trees": PARSING, "tags": TAGGING, "signals": SIGNAL}
        sides = ("source", "target", "pairs", *kinds)
        files = {side: getattr(self, split + side, None) for side in sides}
        given = {side: file for side, file in files.items() if file is not None and file != ()}
        prefix = f"--{split}".replace("_", "-")
        match list(given):
            case []:
                return None
            case ["source", "target"]:
                return FilePair(given["source"], given["target"])
            case ["source" | "target" as side]:
                missing = "target" if side == "source" else "source"
                raise InputError(f"{prefix}{missing} is missing", "a parallel text has two sides")
            case ["pairs"]:
                file = given["pairs"][0].path if split == "" else given["pairs"]
                return self._open_pairs(file, "dev" if split == "dev_" else "train")
            case [side]:
                return TaskFiles(given[side], kinds[side], "dev" if split == "dev_" else "train")
            case named:
                fact = f"{prefix}{named[-1]} and {prefix}{named[0]} name the text twice"
                raise InputError(fact, "give one of them")

    def _open_pairs(self, path: Path, split: str) -> "TaskFiles":
        """Return the text in a file of pairs, read from the columns that --columns names.

        Names fit CSV, TMX and XLIFF files; numbers fit all files but TMX and XLIFF. If --columns
        fits another file but not this one, this file is read without it.
        """
        from transduce.runs.texts import TaskFiles
        from transduce.tasks.text import TRANSLATION
        from transduce.text.pair_files import is_exchange_file, is_memory

        columns = self.split_columns()
        files = [one.path for one in (*self.pairs, *self.synthetic)]
        files += filter(None, (self.dev_pairs, self.old_pairs, self.test_pairs))
        has_names = columns is not None and isinstance(columns[0], str)
        fitting = [
            one for one in files if (is_exchange_file(one) if has_names else not is_memory(one))
        ]
        if fitting and path not in fitting:
            columns = None
        return TaskFiles(path, TRANSLATION, split, columns)

    def pair_columns(self) -> "Columns | None":
        """Return the columns of the first of --pairs; None if default, or without --pairs."""
        from transduce.runs.texts import TaskFiles

        found = self.find_text("") if self.pairs else None
        return found.columns if isinstance(found, TaskFiles) else None

    def split_columns(self) -> "Columns | None":
        """Return the two columns of --columns, as numbers or as names; None if it is not given."""
        if self.columns is None:
            return None
        source, target = self.columns.split(",")
        return (int(source), int(target)) if source.isdigit() else (source, target)
