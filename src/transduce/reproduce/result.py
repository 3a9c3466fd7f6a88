"""The measured result of a trained row: its scores, costs, recipe, data and machine."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from transduce.checkpoint.checkpoints import STATE, load_newest_checkpoint
from transduce.checkpoint.run_file import read_run
from transduce.checkpoint.stored_recipe import parse_stored_recipe
from transduce.durable.files import require_folder, write_atomically
from transduce.durable.folder import read_regular
from transduce.durable.json import NewerFormatError, from_checksummed_json, to_checksummed_json
from transduce.errors import FolderError, InputError
from transduce.inference.evaluate import evaluate, today
from transduce.inference.load import load
from transduce.recipes.catalogue import difference
from transduce.reproduce.job import RowJob
from transduce.runs.average import open_or_write_average
from transduce.runs.choice import Texts, open_texts, read_corpus
from transduce.runs.prepared_corpus import PreparedCorpus
from transduce.runs.text_names import TEXT_NAMES
from transduce.runs.texts import list_pairs
from transduce.runs.training_run import RESOLVED
from transduce.scores.paper_bleu import PAPER_FIGURES, is_tokenised
from transduce.scores.test_sets import OTHER_FORM, find_current_name, identify_test_set
from transduce.settings import Data, Recipe
from transduce.settings.counts import count_parameters
from transduce.settings.fields import require
from transduce.settings.recipe import with_changes
from transduce.training.progress import read_progress

RESULT = "result.json"
MOST_RESULT_BYTES = 1 << 20
NO_DEV = "the table is scored on a development set, and this corpus has none"
ParallelLines = tuple[Sequence[str], Sequence[str]]  # source lines and their references
MEASURE_AGAIN = "delete the file: the command that trained the row measures it again from its run"


@final
@dataclass(frozen=True, kw_only=True)
class RowResult:
    """A trained row of a table with its scores, training cost, recipe and provenance."""

    table: str
    row: str
    scale: str
    recipe: Recipe  # the row's recipe, with threads and micro-batch size resolved
    parameters: int
    perplexity: Mapping[str, float | None]  # per piece and word, and counts; None: not finite
    bleu: Mapping[str, Any]  # the value with its signature, lines and test set
    updates: int
    target_tokens: int  # number of target tokens trained on
    seconds: float  # duration of training
    environment: Mapping[str, str]  # versions, device and threads of the machine
    data: Mapping[str, str]  # fingerprints of the training corpus
    model: str  # sha256 of the manifest of the model's folder
    date: str
    averaged: Sequence[int] = ()  # the steps of the averaged snapshots, if any
    # operations of the training, estimated as in section 6.1 and counted by formula
    cost: Mapping[str, Any] = field(default_factory=dict)
    # BLEU with the paper's tokenisation; empty unless the test set is the paper's
    paper_bleu: Mapping[str, Any] = field(default_factory=dict)

    @property
    def perplexity_per_piece(self) -> float:
        """The perplexity of a piece; NaN if it is not finite, or if no line was scored."""
        found = self.perplexity["per_piece"]
        return math.nan if found is None else found

    @property
    def seed(self) -> int:
        """The seed that the row was trained from."""
        return self.recipe.training.seed


def measure_row(
    job: RowJob, run: Path, prepared: PreparedCorpus, test: ParallelLines | None
) -> RowResult:
    """Measure a trained row's perplexity and BLEU on `test`, or on the development set if None.

    Without a test set the last weights are scored, as in Table 3; with a test set the average of
    the last snapshots is scored, as in Table 2.
    """
    last, _ = load_newest_checkpoint(run)
    assert last is not None, "a finished run has a checkpoint"
    model = None if test is None else open_or_write_average(run)
    translator = load(model.folder if model else run)
    lines = test or decode_development_set(prepared)
    found = evaluate(translator, *lines, metrics=choose_metrics(lines[1]))
    bleu, *more = [score.as_json() for score in found.scores]
    stored, progress = read_run(run), read_progress(last.state, last.step, last.folder / STATE)
    resolved = {path: stored.recipe.flat_settings()[path] for path in RESOLVED}
    source, target = prepared.vocabularies
    return RowResult(
        table=job.table,
        row=job.row,
        scale=job.scale.name,
        # not the stored recipe, because training may have changed its name
        recipe=with_changes(job.recipe, resolved),
        parameters=count_parameters(stored.recipe.architecture, len(source), len(target)),
        perplexity=found.perplexity.as_json(),
        bleu=bleu,
        updates=progress.step,
        target_tokens=progress.target_tokens,
        seconds=progress.seconds,
        environment=last.state["environment"],
        data=stored.fingerprints,
        model=translator.hashes[0],
        date=today(),
        averaged=model.about["averaged"] if model else [],
        cost=vars(progress.cost) if progress.cost else {},
        paper_bleu=more[0] if more else {},
    )


def choose_metrics(references: Sequence[str]) -> tuple[str, ...]:
    """Return a test set's metrics: "bleu", and also the paper's BLEU if the set is the paper's."""
    if identify_test_set(references).removesuffix(OTHER_FORM) not in PAPER_FIGURES:
        return ("bleu",)
    return ("bleu", "bleu-paper" if is_tokenised(references) else "bleu-paper-plain")


def decode_development_set(prepared: PreparedCorpus) -> ParallelLines:
    """Return a corpus's development set as (sources, references); raise InputError without one."""
    dev = prepared.dev
    if dev is None:
        hint = "prepare it with --dev-source FILE --dev-target FILE"
        raise InputError(NO_DEV, hint, file=prepared.folder)
    pairs = [dev.pair(number) for number in range(len(dev))]
    source_vocabulary, target_vocabulary = prepared.vocabularies
    sources = [source_vocabulary.decode(source.tolist()) for source, _ in pairs]
    return sources, [target_vocabulary.decode(target.tolist()) for _, target in pairs]


def read_test_set(data: Data, test: Texts | None, train: Texts | None) -> ParallelLines:
    """Return (sources, references) of `test`, or else of the corpus; raise InputError if neither.

    If `train` is given, `test` must be given, too.
    """
    hint = "--test-source FILE --test-target FILE"
    require(
        test is not None or train is None,
        "the rows are scored on a test set, and none was named beside your own text",
        hint,
    )
    if test is None:
        pairs = read_corpus(data.corpus, "test", data)
    else:
        pairs = open_texts("test", test, data)
    if pairs is None:
        raise InputError(f"the corpus {data.corpus} has no test set", hint)
    lines = list_pairs(pairs)
    require(bool(lines), "the test set is empty", hint)
    return [source for source, _ in lines], [target for _, target in lines]


def write_result(folder: Path, result: RowResult) -> None:
    """Write a row's result into its folder, atomically and with a checksum."""
    values = {**vars(result), "recipe": result.recipe.as_json()}
    write_atomically(folder / RESULT, to_checksummed_json(values))


def read_result(folder: Path) -> RowResult | None:
    """Return the result in a row's folder, None if not measured; FolderError if damaged."""
    file = folder / RESULT
    if not file.exists():
        return None
    values = read_record(file, MEASURE_AGAIN)
    try:
        bleu = values["bleu"] | {"test_set": find_current_name(values["bleu"]["test_set"])}
        return RowResult(
            **values | {"recipe": parse_stored_recipe(values["recipe"], file), "bleu": bleu}
        )
    except (KeyError, TypeError) as error:
        raise FolderError(
            "is no result as this version writes it", MEASURE_AGAIN, file=file
        ) from error


def read_record(file: Path, hint: str) -> dict[str, Any]:
    """Return the values of a checksummed JSON file; FolderError with `hint` if it is damaged."""
    try:
        return from_checksummed_json(read_regular(file, MOST_RESULT_BYTES), file)
    except NewerFormatError:
        raise
    except FolderError as fault:
        raise FolderError(fault.fact, hint) from fault


def gather_results(folders: Iterable[Path]) -> tuple[list[RowResult], list[FolderError]]:
    """Read every result within folders once; return the results and the damaged files' errors.

    Raises InputError for two different results of one recipe and seed.
    """
    found: dict[tuple[str, int], tuple[Path, RowResult]] = {}
    faults = []
    for file in find_result_files(folders):
        try:
            result = read_result(file.parent)
        except FolderError as fault:
            faults.append(fault)
            continue
        assert result is not None
        first, known = found.setdefault((result.recipe.name, result.seed), (file.parent, result))
        if (result.model, result.bleu["value"]) != (known.model, known.bleu["value"]):
            raise InputError(  # else one seed would count as two
                f"holds another result of {result.row} from seed {result.seed} than {first}",
                "gather one of the two; --seed trains from another seed",
                file=file.parent,
            )
    return [result for _, result in found.values()], faults


def find_result_files(folders: Iterable[Path]) -> list[Path]:
    """Find every result file in and below folders, each once; InputError for a missing folder."""
    files: dict[Path, Path] = {}
    for folder in folders:
        require_folder(folder, "name a folder that holds rows")
        try:
            linked = (*folder.glob(f"*/{RESULT}"), *folder.glob(f"rows/*/{RESULT}"))
            found = sorted({*folder.rglob(RESULT), *linked})  # rglob follows no links
        except OSError as error:  # such as when another process deletes the folder
            fact = f"cannot be searched: {error.strerror}"
            raise InputError(fact, "name a folder that holds rows", file=folder) from error
        for file in found:
            files.setdefault(file.parent.resolve(), file)
    return list(files.values())


def require_same_row(
    job: RowJob, result: RowResult, test: ParallelLines | None, folder: Path
) -> None:
    """Raise InputError if a stored result has another recipe or test set than the job."""
    may_differ = {*RESOLVED, *TEXT_NAMES}
    differ = [d for d in difference(job.recipe, result.recipe) if d[0] not in may_differ]
    if test and (name := identify_test_set(test[1])) != result.bleu["test_set"]:
        differ.append(("test set", name, result.bleu["test_set"]))
    if differ:
        path, wanted, stored = differ[0]
        raise InputError(
            f"was measured with {path} = {stored}, and {wanted} is wanted here",
            "choose another folder with -o",
            file=folder,
        )
