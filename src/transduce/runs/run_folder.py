"""A training run in its folder: begun once, then gone on with by the same command.

run.json  lock  log.jsonl  checkpoints/  snapshots/
vocabulary.json  data.json  what the run takes along from its prepared corpus
store/           the prepared corpus, unless another was named
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.checkpoint import (
    Save,
    begin_run,
    is_run,
    lengthen_run,
    matching,
    newest,
    read_run,
)
from transduce.checkpoint.run import RUN_FILE
from transduce.checkpoint.steps import CHECKPOINTS, SNAPSHOTS, require_no_link
from transduce.corpus.batch import Batch
from transduce.corpus.feed import Feed
from transduce.corpus.plan import Plan
from transduce.durable import ensure_folder, to_checksummed_json, write_atomically
from transduce.errors import FolderError, InputError
from transduce.machine.cpus import processors
from transduce.machine.device import device
from transduce.machine.environment import changes, environment
from transduce.machine.memory import device_memory
from transduce.model.transformer import build_transformer
from transduce.recipes.parameters import of_recipe
from transduce.runs.ledger import computing, note, text_of
from transduce.runs.output_folder import require_own
from transduce.runs.prepare import STORE, Prepared, vocabularies_in
from transduce.runs.validation import look
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import with_changes
from transduce.training.compiling import compile_layers, require_compiler
from transduce.training.distributed.process_group import SINGLE_PROCESS, ProcessGroup
from transduce.training.journal import LOG, Journal
from transduce.training.loop import TrainingCallbacks, TrainingJob, train
from transduce.training.memory import estimate_micro_batch_tokens
from transduce.training.optimiser import Optimiser
from transduce.training.progress import Progress
from transduce.vocabulary.files import SHARED, SOURCE, TARGET, Vocabularies, vocabulary_files

DATA = "data.json"
CURVES = "tensorboard"
OURS = (
    RUN_FILE,
    "lock",
    LOG,
    CHECKPOINTS,
    SNAPSHOTS,
    STORE,
    CURVES,
    DATA,
    SHARED,
    SOURCE,
    TARGET,
)
RESOLVED = ("training.threads", "training.micro_batch_tokens")  # 0 asks the machine, once


@final
@dataclass(frozen=True, kw_only=True)
class Start:
    """From where a run goes on."""

    progress: Progress
    parameters: int
    rejected: list[tuple[Path, str]]  # saves that are damaged, with the reason
    changed: list[str]  # what may change the last bits since the save


def begin_or_resume(folder: Path, recipe: Recipe, prepared: Prepared, processes: int = 1) -> Recipe:
    """Begin a run, or find it begun with the same recipe; the recipe with nothing left open.

    So many processes of the run share this machine.
    """
    require_memory(recipe, memory_here(processes))
    require_compiler(recipe.training, device())
    if is_run(folder):
        stored = read_run(folder)
        require_same(folder, recipe, stored.recipe)
        require_same_data(folder, stored.fingerprints, fingerprints(prepared))
        if recipe.training.steps > stored.recipe.training.steps:
            return lengthen_run(folder, recipe.training.steps).recipe
        return stored.recipe
    recipe = resolved(recipe, processes)
    ensure_folder(folder)
    for name, vocabulary in vocabulary_files(prepared.vocabularies).items():
        write_atomically(folder / name, vocabulary.to_bytes())
    write_atomically(folder / DATA, to_checksummed_json(prepared.train.about))
    begin_run(folder, recipe, fingerprints(prepared))
    return recipe


def require_run_place(folder: Path) -> None:
    """Refuse a folder that holds anything but a run, or whose parts lie elsewhere."""
    require_own(folder, RUN_FILE, OURS, "run")
    for name in (CHECKPOINTS, SNAPSHOTS):
        require_no_link(folder / name)


def vocabularies_of_run(folder: Path) -> Vocabularies:
    """The vocabularies a run took along; they must be those it was begun with."""
    run = read_run(folder)
    vocabularies = vocabularies_in(folder, run.recipe.data)
    for side, vocabulary in zip(("source", "target"), vocabularies, strict=True):
        if run.fingerprints.get(side) != vocabulary.hash:
            raise FolderError(
                f"the {side} vocabulary is not the one this run was begun with",
                "put back the run's own file",
                file=folder,
            )
    return vocabularies


def require_memory(recipe: Recipe, memory: int) -> None:
    """Refuse a model whose weights, gradients and two moments alone are more than the machine has.

    The system would end the process without a word, or another one instead.
    """
    needs = 4 * 4 * of_recipe(recipe)
    require(
        needs < memory,
        f"to train this model takes more than {needs / 1e9:,.1f} GB of memory, and "
        f"{memory / 1e9:,.1f} GB are here",
        "a smaller architecture.d_model, or fewer architecture.layers",
    )


def resolved(recipe: Recipe, processes: int) -> Recipe:
    """With the machine's answer where the recipe asks it: it stays with the run."""
    longest, training = recipe.data.max_length, recipe.training
    memory = memory_here(processes)
    fitting = estimate_micro_batch_tokens(recipe.architecture, longest, memory, device())
    return with_changes(
        recipe,
        {
            "training.threads": training.threads or max(1, processors() // processes),
            "training.micro_batch_tokens": training.micro_batch_tokens or fitting,
        },
    )


def memory_here(processes: int) -> int:
    """What each of so many processes has: a GPU of its own, or a share of the machine."""
    return device_memory(device()) // (processes if device().type == "cpu" else 1)


def require_same(folder: Path, recipe: Recipe, stored: Recipe) -> None:
    """A run has one recipe; only its last step may be put off."""
    given, stands = recipe.flat(), stored.flat()
    if recipe.training.steps > stored.training.steps:
        del given["training.steps"]
    differ = [
        f"{path} is {stands[path]} there and {value} here"
        for path, value in given.items()
        if value != stands[path] and not (path in RESOLVED and value == 0)
    ]
    if differ:
        more = f", and {len(differ) - 3} more" if len(differ) > 3 else ""
        raise InputError(
            f"this run was begun with another recipe: {'; '.join(differ[:3])}{more}",
            "go on with the settings it was begun with, or choose another folder",
            file=folder,
        )


def require_same_data(folder: Path, stored: object, given: object) -> None:
    """A run has one corpus."""
    if stored != given:
        raise InputError(
            "this run was begun on another corpus",
            "name the corpus it was begun with, or choose another folder",
            file=folder,
        )


def fingerprints(prepared: Prepared) -> dict[str, str]:
    """What identifies the corpus of a run."""
    source, target = prepared.vocabularies
    prints = {"train": prepared.train.fingerprint, "source": source.hash, "target": target.hash}
    return prints | ({"dev": prepared.dev.fingerprint} if prepared.dev else {})


def go(
    folder: Path,
    recipe: Recipe,
    prepared: Prepared,
    audience: TrainingCallbacks,
    started: Callable[[Start], None],
    company: ProcessGroup = SINGLE_PROCESS,
) -> Progress:
    """Train from wherever the run stands, and look at the dev split on the way."""
    source, target = prepared.vocabularies
    model = build_transformer(recipe.architecture, len(source), len(target), recipe.training.seed)
    model.to(device())
    if recipe.training.compile:
        compile_layers(model)
    looks = prepared.dev is not None and company.rank == 0
    job = TrainingJob(
        folder=folder,
        model=model,
        optimiser=Optimiser(model, recipe.training),
        training=recipe.training,
        batches=feed(recipe, prepared),
        look=look(recipe, prepared, company.requests) if looks else None,
    )
    progress = company.on_rank_0(resume_point, job, started, company)
    if company.rank == 0:
        text = text_of(prepared.train.source_lengths, prepared.train.target_lengths)
        what = computing(recipe, text, len(target), device(), company.size)
        note(folder, progress.step, what)
    company.spread(job.optimiser.numbers)
    job.optimiser.show()
    return train(job, progress, audience, company)


def resume_point(
    job: TrainingJob, started: Callable[[Start], None], company: ProcessGroup
) -> Progress:
    """Choose the save to go on from and put it in place, for all who take part."""
    folder = job.folder
    save, rejected = newest(folder)
    start = restored(job, save, rejected, company)
    started(start)
    if (folder / LOG).exists():  # what stands there after this step is lost
        with closing(Journal(folder / LOG)) as journal:
            journal.write("resume", step=start.progress.step, changed=start.changed)
    return start.progress


def restored(
    job: TrainingJob, save: Save | None, rejected: list[tuple[Path, str]], company: ProcessGroup
) -> Start:
    """Put a save back in place, and say what is not as it was."""
    model, optimiser = job.model, job.optimiser
    parameters = sum(weight.numel() for weight in optimiser.parameters)
    if save is None:
        progress, changed = Progress(), []
    else:
        expected = {name: tuple(weight.shape) for name, weight in model.named_weights().items()}
        moments = {name: tuple(moment.shape) for name, moment in optimiser.moments.items()}
        optimiser.restore(
            matching(save.weights, expected, file=save.folder),
            matching(save.moments, moments, file=save.folder),
        )
        progress = Progress.from_json(save.state["progress"])
        changed = changes(
            save.state["environment"],
            environment(device(), adds=company.adds, processes=company.size),
        )
    return Start(progress=progress, parameters=parameters, rejected=rejected, changed=changed)


def feed(recipe: Recipe, prepared: Prepared) -> Callable[[int], list[Batch]]:
    """The micro-batches of every step."""
    store = prepared.train
    plan = Plan(
        store.source_lengths,
        store.target_lengths,
        source_tokens=recipe.data.source_tokens,
        target_tokens=recipe.data.target_tokens,
        seed=recipe.training.seed,
    )
    return Feed(store, plan, recipe.training.micro_batch_tokens).update
