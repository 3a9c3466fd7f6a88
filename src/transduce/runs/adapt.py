"""Adaptation: training that continues from a trained model, the parent, on new text.

The parent decides architecture and vocabularies. Its weights become the run's checkpoint of step 0,
so the run resumes like any other. Adam's moments and the schedule begin anew.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

from transduce.checkpoint.checkpoints import has_checkpoints, save_checkpoint
from transduce.checkpoint.run_file import Run
from transduce.checkpoint.stored_model import (
    StoredModel,
    build_stored_model,
    read_stored_model,
    require_finite_outputs,
)
from transduce.errors import FolderError, InputError
from transduce.machine.device import select_device
from transduce.machine.environment import describe_environment
from transduce.paper.training import Adam
from transduce.recipes.catalogue import RECIPES, find_original_name
from transduce.recipes.choice import customise_recipe
from transduce.runs.ledger import PARENT
from transduce.runs.prepared_corpus import OnProgress, PreparedCorpus
from transduce.runs.recommend import count_corpus, count_store_pieces, list_intervals
from transduce.runs.text_names import FITTED, has_default_name
from transduce.runs.texts import MixedPairs, Pairs, add_pairs
from transduce.settings import Architecture, Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value, with_changes
from transduce.training.progress import Progress

PASSES = 5  # how often the new text is read
FEWEST, MOST = 200, 20_000  # the fewest and the most updates that are chosen
DROPOUTS = ("dropout", "attention_dropout", "feed_forward_dropout")
# settings that must equal the parent's, because its weights or token ids depend on them
INHERITED = (
    *(f"architecture.{field.name}" for field in fields(Architecture) if field.name not in DROPOUTS),
    "data.task",
    "data.linearisation",
    "data.label_scheme",
    "data.source_row",
    "data.target_row",
    "data.vocabulary",
    "data.vocabulary_size",
    "data.shared_vocabulary",
)
NEW_TEXT: Mapping[str, Value] = {  # not inherited, since they fit the parent's text and machine
    "data.max_pairs": 0,
    "training.threads": 0,
    "training.micro_batch_tokens": 0,
}


def read_parent(path: Path, folder: Path) -> StoredModel:
    """Read and verify the parent model in `path` for a new run in `folder`; refuse equal paths."""
    require(
        not folder.exists() or not path.exists() or not path.samefile(folder),
        f"{folder} cannot be both the model to go on from and the new run",
        "name another folder for the run; to resume a run, leave out the model",
    )
    parent = read_stored_model(path)
    model = build_stored_model(parent).eval()  # refuses tensors that do not fit the architecture
    require_finite_outputs(model, path)
    return parent


def mix_old_pairs(new: Pairs, old: Pairs, share: float) -> MixedPairs:
    """Return new text mixed with old text, so that a fraction `share` of the pairs read is old."""
    fact = f"the share of old pairs lies between 0.001 and 0.999, not at {share!r}"
    require(type(share) in (int, float) and 0.001 <= share <= 0.999, fact)
    weight_of_new = 1 + (new.ratio if isinstance(new, MixedPairs) else 0)
    return add_pairs(new, old, share / (1 - share) * weight_of_new, ("new", "old"))


def choose_adaptation(
    parent: StoredModel,
    named: Recipe | None,
    train: Pairs | PreparedCorpus,
    settings: Mapping[str, Value],
    on_progress: OnProgress,
    *,
    is_corpus_only: bool = False,
) -> tuple[Recipe, list[str]]:
    """Return an adaptation's recipe, and sentences that explain it (none if a recipe is `named`).

    `named` is the caller's recipe. Without it, the parent's recipe is used with a schedule that
    fits the text or prepared corpus `train`. If `is_corpus_only`, nothing is said of the schedule.
    """
    if named is not None:
        recipe = customise_recipe(named, settings)
        require_inherited(parent, recipe)
        return recipe, []
    is_own_name = find_original_name(parent.recipe) not in RECIPES
    keeps_name = is_own_name and not has_default_name(parent.recipe)
    start = replace(
        with_changes(parent.recipe, NEW_TEXT),
        name=f"{parent.recipe.name}, adapted" if keeps_name else FITTED,
        about="",
        because=f"goes on from the weights of a model of {parent.recipe.name}",
    )
    if isinstance(train, PreparedCorpus):
        start = replace(start, data=train.data)
    wanted = with_changes(start, settings)
    require_inherited(parent, wanted)
    steps = wanted.training.steps
    if "training.steps" not in settings:
        steps = count_updates(train, wanted, on_progress)
    schedule = build_schedule(parent, steps)
    recipe = customise_recipe(with_changes(start, schedule), settings)
    training = recipe.training
    peak = training.learning_rate_factor * (recipe.architecture.d_model * training.warmup) ** -0.5
    inherited = f"architecture and vocabulary of {parent.folder}: {parent.recipe.name}"
    if is_corpus_only:
        return recipe, [inherited]
    return recipe, [
        inherited,
        f"the learning rate rises to {peak:.1e} in {training.warmup:,} of {training.steps:,} "
        "updates; others: --set training.steps=2000 and so on",
    ]


def count_updates(train: Pairs | PreparedCorpus, recipe: Recipe, on_progress: OnProgress) -> int:
    """Return how many updates read the new text 5 times, rounded down to 100s, FEWEST to MOST.

    The pieces of a pass are those of the longer side of each pair, estimated unless the text is
    prepared. If old text is mixed in, a pass reads the new text once, and old pairs beside it.
    """
    if isinstance(train, PreparedCorpus):
        pieces = count_store_pieces(train.train)
    elif isinstance(train, MixedPairs):
        pieces = count_corpus(train.main, recipe.data, on_progress).pieces * (1 + train.ratio)
    else:
        pieces = count_corpus(train, recipe.data, on_progress).pieces
    updates = PASSES * pieces / min(recipe.data.source_tokens, recipe.data.target_tokens)
    return int(max(FEWEST, min(MOST, updates))) // 100 * 100


def build_schedule(parent: StoredModel, steps: int) -> dict[str, Value]:
    """Return settings for `steps` updates whose rate peaks at the parent's last learning rate.

    By equation 3 the rate at a step s after the warm-up is factor · d_model^-0.5 · s^-0.5. So a
    new warm-up of w steps peaks at this rate if its factor is the parent's times √(w / s).
    """
    before = parent.recipe.training
    reached = max(parent.updates or before.steps, before.warmup)
    warmup = max(1, steps // 10)
    return {
        "training.steps": steps,
        "training.warmup": warmup,
        "training.learning_rate_factor": before.learning_rate_factor * (warmup / reached) ** 0.5,
        **list_intervals(steps),
    }


def require_inherited(parent: StoredModel, recipe: Recipe) -> None:
    """Refuse a recipe whose architecture, vocabulary or task settings differ from the parent's."""
    theirs, ours = parent.recipe.flat_settings(), recipe.flat_settings()
    for path in INHERITED:
        if theirs[path] != ours[path]:
            raise InputError(
                f"{path} is {theirs[path]} in {parent.folder} and {ours[path]} here",
                "architecture and vocabulary come from the model to go on from: leave this "
                "setting out, or train a new model",
            )


def require_parent_vocabularies(parent: StoredModel, found: Mapping[str, str], file: Path) -> None:
    """Refuse vocabulary hashes (`found` in a corpus called `file`) that are not the parent's."""
    if parent.vocabularies.hashes() != found:
        raise InputError(
            f"was prepared with another vocabulary than that of {parent.folder}",
            "name the text, which is then encoded with that model's vocabulary",
            file=file,
        )


def require_same_parent(folder: Path, run: Run, parent: StoredModel | None) -> None:
    """Refuse to resume a run with another parent, or, if it has no checkpoint, without its own."""
    recorded = run.fingerprints.get(PARENT)
    if parent is not None and parent.hash != recorded:
        fact = f"this run goes on from a model with sha256 {recorded}, not {parent.hash}"
        hint = f"`transduce train -o {folder}` alone resumes the run; or choose another folder"
        if recorded is None:
            fact = "this run was begun with random weights, not from a model"
            hint = "leave out the model to resume the run, or choose another folder"
        raise InputError(fact, hint, file=folder)
    if recorded is not None and parent is None and not has_checkpoints(folder):
        fact = f"has no checkpoint, and goes on from a model with sha256 {recorded}"
        raise FolderError(fact, "name that model again: --from MODEL", file=folder)


def save_parent_weights(folder: Path, recipe: Recipe, parent: StoredModel) -> None:
    """Write the parent's weights as a run's checkpoint of step 0, unless the run has one."""
    if has_checkpoints(folder):
        return
    optimiser = Adam(build_stored_model(parent), recipe.training)
    state = {
        "progress": Progress().as_json(),
        "environment": describe_environment(select_device()),
    }
    save_checkpoint(folder, 0, optimiser.named_weights, optimiser.moments, state)
