"""`transduce.sweep`: train a recipe with every combination of setting values and compare the runs.

The paper chose its parser's dropout and learning rate on the development set (section 6.3), and its
beam, length penalty and output length likewise (section 6.1). Settings of the search need no
training; each run's averaged model decodes the development set with every combination of them.

    FOLDER/store/                                  the corpus, prepared once
    FOLDER/dropout=0.1,learning_rate_factor=1/     a run for each combination of other settings
    FOLDER/run/                                    the only run, if only settings of the search vary
    FOLDER/run-model/                              the mean of its last snapshots
    FOLDER/beam=4,alpha=0.6.json                   the score of that model with a combination
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from transduce.checkpoint.card import format_markdown_table
from transduce.durable.files import list_entries, write_atomically
from transduce.durable.folder import read_regular
from transduce.durable.json import from_checksummed_json, to_checksummed_json
from transduce.errors import InputError, NotFiniteError, short_repr
from transduce.recipes.choice import read_recipe
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value, cast_value, find_setting, require_changes, with_changes
from transduce.text.arguments import describe_value, ignore_event, read_folder

if TYPE_CHECKING:
    from transduce.paper.model import Transformer
    from transduce.runs.choice import Texts
    from transduce.runs.prepared_corpus import OnProgress, PreparedCorpus
    from transduce.runs.train import ObserveTraining
    from transduce.runs.training_run import TrainingRun
    from transduce.training.progress import TrainingCallbacks

ObserveRun = Callable[[str, Recipe], "AbstractContextManager[TrainingCallbacks]"]
STORE, ONLY_RUN = "store", "run"
SEARCH = "search."  # settings that change how a model decodes, and not how it is trained
MOST_SCORE_BYTES = 1 << 16  # the most bytes of a combination's score file
MOST_RUNS = 10_000


@final
@dataclass(frozen=True)
class SweepRow:
    """One combination of a sweep: its settings, its run, and its best validation."""

    settings: Mapping[str, Value]
    run: Path  # folder of the run
    step: int  # of the best validation, or the last averaged one of `model`; 0 if diverged
    perplexity: float  # perplexity of the development set
    score: float | None  # score of the development set, in the metric `score_name`
    score_name: str
    lines: int = 0  # number of lines of the development set that were scored
    failure: str = ""  # how the run diverged, if it did
    model: Path | None = None  # the averaged model that decoded, if settings of the search vary

    def as_json(self) -> dict[str, Any]:
        """Return the row as plain values for JSON; the perplexity of a diverged run is null."""
        perplexity = None if math.isinf(self.perplexity) else self.perplexity
        paths = {"run": str(self.run), "model": self.model and str(self.model)}
        settings = {path: cast_value(path, value) for path, value in self.settings.items()}
        return asdict(self) | paths | {"perplexity": perplexity, "settings": settings}


def sweep(  # noqa: PLR0913 - one parameter for each choice of the caller
    folder: str | PathLike[str],
    train: "Texts | None" = None,
    dev: "Texts | None" = None,
    *,
    recipe: str | PathLike[str] | Recipe | None = None,
    vary: Mapping[str, Sequence[Value]],
    settings: Mapping[str, Value] | None = None,
    languages: Sequence[str] | None = None,
    scale: str | None = None,
    callbacks: "TrainingCallbacks | ObserveTraining | None" = None,
) -> list[SweepRow]:
    """Train a recipe with every combination of settings; return the rows, the best score first.

    `vary` has the values of each setting, such as `{"architecture.dropout": [0.1, 0.2]}`. The
    other arguments are those of `transduce.train`. The corpus is prepared once. A second call
    resumes unfinished runs and reads finished ones. Each run is ranked by its best validation: the
    one with the best score, or the lowest perplexity if validation computes no score. A run that
    diverges is the last row, with the reason in `failure`. If settings such as `search.beam` vary,
    each run is trained once, and the mean of its last snapshots, `model`, decodes the whole
    development set with every combination of them.

        settings = {"training.steps": 400, "training.validate_every": 5}
        vary = {"architecture.dropout": [0.1, 0.2]}
        texts = ("a.en", "a.de"), ("dev.en", "dev.de")
        rows = transduce.sweep("sweep", *texts, recipe="demo", vary=vary, settings=settings)
        best = rows[0].settings
    """
    from transduce.runs.text_names import to_language_settings
    from transduce.runs.train import open_callbacks, require_callbacks

    require_callbacks(callbacks)
    settings = {} if settings is None else settings
    require_changes(settings)
    named = read_recipe(recipe, scale)

    @contextmanager
    def observe(title: str, recipe: Recipe) -> "Iterator[TrainingCallbacks]":
        with open_callbacks(callbacks, recipe) as opened:
            opened.on_message(title)
            yield opened

    folder = read_folder(folder)
    start, combinations = prepare_sweep(
        folder, (train, dev), named, {**settings, **to_language_settings(languages)}, vary
    )
    return train_combinations(folder, start, combinations, observe)


def prepare_sweep(  # noqa: PLR0913 - the choices of the caller
    folder: Path,
    texts: "tuple[Texts | None, Texts | None]",
    recipe: Recipe | None,
    settings: Mapping[str, Value],
    vary: Mapping[str, Sequence[Value]],
    on_progress: "OnProgress | None" = None,
    on_message: Callable[[str], None] | None = None,
) -> tuple[Recipe, list[dict[str, Value]]]:
    """Prepare the corpus of (train, dev); return the start recipe and the combinations in `vary`.

    Without a recipe one is chosen that fits the text. Every combination is checked.
    """
    from transduce.runs.choice import require_recipe_or_text
    from transduce.runs.machine_settings import require_trainable
    from transduce.runs.prepare import prepare_store
    from transduce.runs.recommend import recommend_for_corpus
    from transduce.runs.validation import require_affordable_validation

    require_recipe_or_text(recipe, texts[0])
    combinations = list(list_combinations(vary))
    start = with_changes(recipe or Recipe(name="none"), settings)
    for path in vary:
        fact = f"{path} varies, and another setting gives it one value for all runs"
        require(path not in settings, fact, "leave this one out, or vary something else")
    seen: list[list[Value]] = []
    for combination in combinations:
        changed = with_changes(start, combination)  # raises for an invalid combination
        values = [changed.flat_settings()[path] for path in combination]
        require(values not in seen, f"{' or '.join(combination)} has one of its values twice")
        seen.append(values)
    require_sweep_folder(folder, combinations)
    listeners = on_progress or ignore_event, on_message or ignore_event
    given = None if recipe is None else start
    prepared = prepare_store(folder / STORE, texts, given, settings, *listeners, needs_dev=True)
    assert prepared.dev is not None
    if recipe is None:
        start, _ = recommend_for_corpus(prepared, settings)
    for combination in combinations:  # refuse before the first run is trained
        changed = with_changes(start, combination)
        require_trainable(changed)
        lines = {"training.validate_lines": len(prepared.dev)}
        require_affordable_validation(with_changes(changed, lines), prepared)
    return start, combinations


def require_sweep_folder(folder: Path, combinations: Iterable[Mapping[str, Value]]) -> None:
    """Refuse a run, and a folder of other files without a corpus or a run of `combinations`."""
    from transduce.checkpoint.run_file import is_run
    from transduce.durable.folder import require_own_folder

    names = {name_combination(split_search(one)[0]) or ONLY_RUN for one in combinations}
    is_begun = any(is_run(folder / name) for name in names)
    ours = [one.name for one in list_entries(folder)] if is_begun else []
    require_own_folder(folder, STORE, ours, "sweep")
    require(not is_run(folder), f"{folder} is a run, and no sweep", "choose another name")


def train_combinations(
    folder: Path,
    recipe: Recipe,
    combinations: Sequence[Mapping[str, Value]],
    observe: ObserveRun,
) -> list[SweepRow]:
    """Train a recipe with every combination of a prepared sweep; return the rows, the best first.

    `observe` is called with a title and the recipe of each run, and gives the run its callbacks.
    """
    from transduce.runs.train import set_process_for_training, train_interruptibly
    from transduce.runs.training_inputs import TrainingInputs

    set_process_for_training()
    rows: list[SweepRow] = []
    runs: dict[str, list[Mapping[str, Value]]] = {}  # combinations, by the run that they share
    for combination in combinations:
        name = name_combination(split_search(combination)[0])
        runs.setdefault(name or ONLY_RUN, []).append(combination)
    for number, (run, decodings) in enumerate(runs.items(), start=1):
        trained, searches = split_search(decodings[0])
        title = f"{run} ({number} of {len(runs)})"
        with observe(title, with_changes(recipe, trained)) as callbacks:
            inputs = TrainingInputs(
                folder=folder / run, recipe=recipe, store=folder / STORE, settings=trained
            )
            try:
                done = train_interruptibly(inputs, callbacks, measure_duration=number == 1)
                row = build_row(done, trained)
            except NotFiniteError as error:  # the run diverged
                callbacks.warn(f"{error.fact}; the sweep goes on")
                row = SweepRow(trained, folder / run, 0, math.inf, None, "", failure=error.fact)
            if searches and not row.failure:
                rows += decode_combinations(folder, row, decodings, callbacks.on_message)
            else:
                rows += [replace(row, settings=one) for one in decodings]
    return sorted(rows, key=rank_row)


def split_search(combination: Mapping[str, Value]) -> tuple[dict[str, Value], dict[str, Value]]:
    """Split a combination into the settings of its training and those of its search."""
    searches = {path: value for path, value in combination.items() if path.startswith(SEARCH)}
    return {path: combination[path] for path in combination if path not in searches}, searches


def decode_combinations(
    folder: Path,
    row: SweepRow,
    combinations: Sequence[Mapping[str, Value]],
    tell: Callable[[str], None],
) -> Iterator[SweepRow]:
    """Yield a row for each combination, with the development score of `row.run`'s averaged model.

    A score of this model already in `folder` is reused; `tell` announces each decoding before it.
    """
    from transduce.checkpoint.stored_model import build_stored_model, read_stored_model
    from transduce.equip import equip_for_inference
    from transduce.machine.device import select_device
    from transduce.runs.average import open_or_write_average
    from transduce.runs.prepared_corpus import open_prepared

    output = row.run.with_name(f"{row.run.name}-model")
    stored = read_stored_model(open_or_write_average(row.run, output=output, renews=True).folder)
    prepared = open_prepared(folder / STORE)
    model = build_stored_model(stored).to(select_device()).eval()
    equip_for_inference(model)
    for combination in combinations:
        name = name_combination(combination)
        file = folder / f"{name}.json"
        found = (
            from_checksummed_json(read_regular(file, MOST_SCORE_BYTES), file)
            if file.exists()
            else {}
        )
        if found.get("model") != stored.hash:  # the file is missing, or of another model
            tell(f"decoding the development set with {name}")
            recipe = with_changes(stored.recipe, split_search(combination)[1])
            found = {"model": stored.hash, **score_development_set(recipe, prepared, model)}
            write_atomically(file, to_checksummed_json(found))
        score = found["perplexity"], found["score"], found["score_name"], len(prepared.dev or ())
        yield SweepRow(combination, row.run, stored.updates, *score, model=output)


def score_development_set(
    recipe: Recipe, prepared: "PreparedCorpus", model: "Transformer"
) -> dict[str, Any]:
    """Return "perplexity", "score" and "score_name" of a model on the whole development set."""
    import torch

    from transduce.runs.validation import build_validation
    from transduce.training.distributed.rank import SignalRequests

    assert prepared.dev is not None
    whole = with_changes(recipe, {"training.validate_lines": len(prepared.dev)})
    with torch.inference_mode():
        result = build_validation(whole, prepared, SignalRequests())(model)
    assert result is not None
    assert result.score is not None
    return {
        "perplexity": math.exp(min(result.nats, 700.0)),
        "score": result.score.value,
        "score_name": result.score.name,
    }


def list_combinations(vary: Mapping[str, Sequence[Value]]) -> Iterator[dict[str, Value]]:
    """Yield each combination of one value per setting; refuse data.* and more than `MOST_RUNS`."""
    fact = f"vary must be lists of values by setting, not {describe_value(vary)}"
    require(isinstance(vary, Mapping), fact, "vary={'architecture.dropout': [0.1, 0.2]}")
    require(bool(vary), "no setting varies", "vary={'architecture.dropout': [0.1, 0.2]}")
    for path, values in vary.items():
        find_setting(path)  # refuses an unknown setting
        require(
            isinstance(values, list | tuple),
            f"{path} needs a list of values",
            f"[{short_repr(values)}]",
        )
        require(len(values) > 0, f"{path} has no values to choose from")
        require(
            not path.startswith("data."),
            f"{path} cannot vary: the corpus is prepared once for all runs",
            "sweep in another folder with --set for each value of it",
        )
    count = math.prod(map(len, vary.values()))
    require(
        count <= MOST_RUNS,
        f"{short_repr(count)} combinations, and {MOST_RUNS:,} are the limit",
        "vary fewer settings at once",
    )
    for values in product(*vary.values()):
        yield dict(zip(vary, values, strict=True))


def name_combination(combination: Mapping[str, Value]) -> str:
    """Return the folder name of a combination, such as dropout=0.1,learning_rate_factor=1.

    Equal values, such as "0.50" and 0.5, give the same name.
    """
    values = {path: cast_value(path, value) for path, value in combination.items()}
    return ",".join(
        f"{path.partition('.')[2]}={str(value).removesuffix('.0').replace('/', '_')}"
        for path, value in values.items()
    )


def build_row(run: "TrainingRun", combination: Mapping[str, Value]) -> SweepRow:
    """Return the row of a run's best validation: best score, else lowest loss; refuse if none."""
    best = run.progress.best_validation
    if best is None:
        fact = f"{run.folder} has no validation to compare by"
        hint = "name a development set, and a training.validate_every of at most training.steps"
        raise InputError(fact, hint)
    score, perplexity = best.score, math.exp(min(best.nats, 700.0))
    found = (score.value, score.name, score.lines) if score else (None, "", 0)
    return SweepRow(combination, run.folder, best.step, perplexity, *found)


def rank_row(row: SweepRow) -> tuple[bool, float, float]:
    """Return a row's sort key: diverged runs last, higher scores first, then lower perplexities."""
    return bool(row.failure), -(row.score or 0.0), row.perplexity


def warn_of_chance(rows: Sequence[SweepRow]) -> str:
    """Return a sentence if the lead of the best row may be chance, else "".

    The lead is over the best row that differs in more than the seed. It is compared with the
    standard error of a proportion over n lines. It is only a rule of thumb, as no outputs are kept
    for resampling.
    """
    if not rows or rows[0].score is None or not rows[0].lines:
        return ""
    best, n = rows[0].score, rows[0].lines

    def drop_seed(row: SweepRow) -> dict[str, Value]:
        return {path: value for path, value in row.settings.items() if path != "training.seed"}

    others = [one for one in rows if drop_seed(one) != drop_seed(rows[0]) and not one.failure]
    lead = best - max((one.score or 0.0 for one in others), default=-math.inf)
    error = math.sqrt(max(0.0, best * (100 - best)) / n)
    if lead >= error:
        return ""
    trained, _ = split_search(rows[0].settings)
    asks_for_seeds = bool(trained) and "training.seed" not in trained
    seeds = " or several seeds (--vary training.seed=1,2,3)" if asks_for_seeds else ""
    return (
        f"the best leads by {lead:.2f} {rows[0].score_name}, which may be chance: a share of {n:,} "
        f"lines has a standard error of {error:.1f}; more lines{seeds} would tell"
    )


def format_rows(rows: Sequence[SweepRow]) -> str:
    """Format the rows of a sweep as a Markdown table, in their order."""
    settings = list(rows[0].settings)
    score = rows[0].score_name or "score"
    head = [*settings, f"{score} (dev)", "perplexity (dev)", "step"]
    cells = [
        [
            *map(str, row.settings.values()),
            "" if row.score is None else f"{row.score:.2f}",
            "diverged" if row.failure else f"{row.perplexity:.3f}",
            "" if row.failure else f"{row.step:,}",
        ]
        for row in rows
    ]
    return format_markdown_table(head, cells)
