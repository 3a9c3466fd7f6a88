"""The request for a table: its rows, corpus and output folder, and the caller's callbacks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import final

from transduce.errors import TransduceError
from transduce.reproduce.job import JobSelection, RowJob
from transduce.reproduce.report import Report
from transduce.reproduce.result import RowResult
from transduce.reproduce.table import ResultTable
from transduce.runs.choice import Texts
from transduce.runs.prepared_corpus import PreparedCorpus, prepare_corpus
from transduce.runs.texts import Pairs
from transduce.settings import Data, Recipe
from transduce.text.arguments import ignore_event
from transduce.training.progress import TrainingCallbacks

Prepare = Callable[[Path, Data, Pairs, Pairs | None], PreparedCorpus]
Train = Callable[[Path, Recipe, PreparedCorpus], None]
SILENTLY: Prepare = partial(prepare_corpus, on_progress=ignore_event)


@final
@dataclass(frozen=True, kw_only=True)
class TableCallbacks:
    """The caller's functions for a table: to report events, to prepare text, and to train rows."""

    on_message: Callable[[str], None] = ignore_event  # called with a sentence on progress
    on_row: Callable[[RowJob, RowResult], None] = ignore_event  # called after a row is measured
    # called with the name of a failed row, and its error
    on_failure: Callable[[str, TransduceError], None] = ignore_event
    prepare: Prepare = SILENTLY  # how the corpus is prepared
    # called during the training of every row
    training: TrainingCallbacks = field(default_factory=TrainingCallbacks)
    train: Train | None = None  # how a row is trained; None means in this process, to its end


@final
@dataclass(frozen=True, kw_only=True)
class TableKind:
    """Table 2 or 3 of the paper: the recipes of its rows and its report builder."""

    name: str
    recipes: Mapping[str, Recipe]
    build_report: Callable[[ResultTable], Report]
    has_test_set: bool = False  # whether rows are scored on a test set, not the development set


@final
@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """The request for a table: selected rows, training and test texts, and output folder."""

    output: Path
    selection: JobSelection
    train: Texts | None = None  # None means the corpus that the recipes name
    dev: Texts | None = None
    test: Texts | None = None
    store: Path | None = None  # the folder of a prepared corpus, given instead of `train` and `dev`
    gather: Sequence[Path] = ()  # folders of rows to report on without training
    plot: bool = False


@final
@dataclass(frozen=True, kw_only=True)
class TableOutcome:
    """The result of a request for a table: its report, if any row is measured, and the errors."""

    report: Report | None = None
    failures: Sequence[TransduceError] = field(default_factory=list)  # errors of failed rows
    unreadable: Sequence[TransduceError] = field(default_factory=list)  # errors of damaged files

    @property
    def errors(self) -> list[TransduceError]:
        """All errors, first of rows that failed to train or score, then of damaged result files."""
        return [*self.failures, *self.unreadable]
