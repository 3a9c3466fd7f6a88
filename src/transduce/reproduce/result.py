"""What a row came to, with all that makes it a fact."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from transduce.checkpoint import newest, read_run, snapshots
from transduce.checkpoint.model_folder import KIND as MODEL
from transduce.checkpoint.stored_recipe import stored_recipe
from transduce.durable import Verified, open_folder, read_regular, seal, unseal, write_whole
from transduce.errors import FolderError, InputError
from transduce.recipes.names import difference
from transduce.recipes.parameters import count
from transduce.reproduce.job import Job
from transduce.scores.beside import PRINTED
from transduce.scores.references import name_of
from transduce.settings import Recipe
from transduce.tasks.average import average
from transduce.tasks.evaluate import evaluate, today
from transduce.tasks.ledger import spent
from transduce.tasks.load import load
from transduce.tasks.prepare import Prepared
from transduce.tasks.run import RESOLVED
from transduce.tasks.translation import Translation

RESULT = "result.json"
LIMIT = 1 << 20
Lines = tuple[Sequence[str], Sequence[str]]  # of a test set: source, reference
AGAIN = "delete the file: the same command measures the row anew from its run"


@final
@dataclass(frozen=True, kw_only=True)
class Result:
    """One trained row, measured."""

    table: str
    row: str
    scale: str
    recipe: Recipe  # with all that the machine resolved
    parameters: int
    perplexity: Mapping[str, float]  # per_piece, per_word, and what they come from
    bleu: Mapping[str, Any]  # with signature, lines and test set
    updates: int
    target_tokens: int
    seconds: float  # of training
    environment: Mapping[str, str]  # versions, device, threads
    data: Mapping[str, str]  # fingerprints
    model: str  # sha256 of the manifest of its weights
    date: str
    averaged: Sequence[int] = ()  # the steps whose mean it is
    cost: Mapping[str, Any] = field(default_factory=dict)  # of training, as the ledger has it
    paper_bleu: Mapping[str, Any] = field(default_factory=dict)  # of words as the paper cuts them

    @property
    def seed(self) -> int:
        """Of the run."""
        return self.recipe.training.seed


def measured(job: Job, run: Path, prepared: Prepared, test: Lines | None) -> Result:
    """Perplexity and BLEU of the last weights on the development set, as in Table 3.

    Of the mean of the last snapshots on a test set, as in Table 2, if one is given.
    """
    save, _ = newest(run)
    assert save is not None, "a run that is over has a save"
    model = None if test is None else average_of(run)
    translator = load(model.folder if model else run)
    lines = test or texts(prepared, translator.task)
    as_paper = ("bleu-paper-plain",) if name_of(lines[1]) in PRINTED else ()
    found = evaluate(translator, *lines, ("bleu", *as_paper))
    bleu, *more = [score.as_json() for score in found.scores]
    progress, stored, cost = save.state["progress"], read_run(run), spent(run)
    source, target = prepared.vocabularies
    return Result(
        table=job.table,
        row=job.row,
        scale=job.scale.name,
        recipe=stored.recipe,
        parameters=count(stored.recipe.architecture, len(source), len(target)),
        perplexity=found.perplexity.as_json(),
        bleu=bleu,
        updates=progress["step"],
        target_tokens=progress["target_tokens"],
        seconds=progress["seconds"],
        environment=save.state["environment"],
        data=stored.fingerprints,
        model=translator.hash,
        date=today(),
        averaged=model.about["averaged"] if model else [],
        cost=vars(cost) if cost else {},
        paper_bleu=more[0] if more else {},
    )


def average_of(run: Path) -> Verified:
    """The model of a run's last snapshots beside it: as many as the recipe says, if there are."""
    output, kept = run.parent / MODEL, [snapshot.step for snapshot in snapshots(run)]
    last = kept[-read_run(run).recipe.training.snapshots :]
    if not output.exists():
        average(run, output, len(last))
    model = open_folder(output, MODEL)
    if model.about["averaged"] != last:
        fact = f"is the mean of other steps than {last[0]:,} to {last[-1]:,}"
        raise FolderError(fact, "delete the folder: the same command makes it anew", file=output)
    return model


def texts(prepared: Prepared, task: Translation) -> tuple[list[str], list[str]]:
    """The development set as it was stored, both sides."""
    dev = prepared.dev
    if dev is None:
        raise InputError(
            "the table is scored on a development set, and this corpus has none",
            "--dev-source FILE --dev-target FILE",
            file=prepared.folder,
        )
    pairs = [dev.pair(number) for number in range(len(dev))]
    sources = [task.source.decode(source.tolist()) for source, _ in pairs]
    return sources, [task.target.decode(target.tolist()) for _, target in pairs]


def write_result(folder: Path, result: Result) -> None:
    """Keep it beside its run."""
    values = {**vars(result), "recipe": result.recipe.as_json()}
    write_whole(folder / RESULT, seal(values))


def read_result(folder: Path) -> Result | None:
    """The result that lies in a row's folder, if it is over."""
    file = folder / RESULT
    if not file.exists():
        return None
    values = unseal(read_regular(file, LIMIT), file)
    try:
        return Result(**{**values, "recipe": stored_recipe(values["recipe"], file)})
    except (KeyError, TypeError) as error:
        raise FolderError("is no result as this version writes it", AGAIN, file=file) from error


def gathered(folders: Iterable[Path]) -> list[Result]:
    """All results that lie below these folders; one that lies twice counts once."""
    found: dict[tuple[str, str], Result] = {}
    for folder in folders:
        if not folder.is_dir():
            raise InputError("no such folder", "name a folder that holds rows", file=folder)
        for file in sorted(folder.rglob(RESULT)):
            result = read_result(file.parent)
            assert result is not None
            found[result.row, result.model] = result
    return list(found.values())


def demand_same_row(job: Job, result: Result, test: Lines | None, folder: Path) -> None:
    """A row's folder is of one recipe and one test set."""
    differ = [d for d in difference(job.recipe, result.recipe) if d[0] not in RESOLVED]
    if test and (name := name_of(test[1])) != result.bleu["test_set"]:
        differ.append(("test set", name, result.bleu["test_set"]))
    if differ:
        path, wanted, stands = differ[0]
        raise InputError(
            f"was measured with {path} = {stands}, and {wanted} is wanted here",
            "choose another folder with -o",
            file=folder,
        )
