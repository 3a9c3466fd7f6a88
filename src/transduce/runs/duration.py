"""Estimate how long a training will take on this machine, by timing some of its batches.

The measurement has its own model and optimiser, and leaves the run unchanged. A resumed run is not
measured again.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

import torch

from transduce.errors import short_repr
from transduce.machine.device import select_device, synchronise
from transduce.machine.process_settings import use_threads
from transduce.paper.model import Transformer
from transduce.paper.training import update_weights
from transduce.recipes.fitted import ModelSize, find_size_table
from transduce.runs.ledger import count_updates_of_pass
from transduce.runs.machine_settings import resolve_machine_settings
from transduce.runs.prepared_corpus import PreparedCorpus, build_feed
from transduce.runs.recommend import build_for_corpus, build_schedule, has_gpu
from transduce.runs.validation import build_translation
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value, with_changes
from transduce.training.distributed.rank import ProcessRank, SignalRequests
from transduce.training.equip import build_for_training, build_optimiser, choose_loop

SAMPLE_TOKENS = 4_096  # most tokens of a batch that is measured on a CPU, both sides together
SAMPLE_SECONDS = 2.0  # time for measuring batches; at least one after the warm-up is measured
SAMPLE_UPDATES = 8  # most batches that are measured
GPU_WARM_UP = 3  # untimed first updates: they compile kernels and capture the graph that is timed
SAMPLE_LINES = 64  # most lines of the development set that are translated on a CPU
WARM_UP_LINES = 4  # lines that are translated before the measurement
FORWARD_SHARE = 1 / 3  # the cost of a forward pass, relative to that of forward and backward passes
VALIDATION_SHARE = 0.2  # the largest share of the given minutes for validations
FEWEST_PASSES = 5  # with fewer passes in the given minutes a smaller model is chosen
# with fewer tokens a side, a smaller model of equal cost translates better (Multi30k)
ENOUGH_TOKENS = 4_000 * 2_048
FEWEST_UPDATES = 1_000  # with fewer in the given minutes, updates, then the model are smaller
FEWEST_TOKENS = 1_024  # the smallest updates that are chosen
UPDATE_SIZES = ("data.source_tokens", "data.target_tokens")  # settings for the size of an update


@final
@dataclass(frozen=True)
class Pace:
    """The seconds that an update and a validation of a recipe take on this machine."""

    update_seconds: float
    validation_seconds: float  # 0 without a development set

    def estimate_seconds(self, recipe: Recipe) -> float:
        """Return the seconds of all updates and validations of a recipe."""
        training = recipe.training
        validations = -(-training.steps // training.validate_every)
        return training.steps * self.update_seconds + validations * self.validation_seconds


def measure_pace(recipe: Recipe, corpus: PreparedCorpus, processes: int = 1) -> Pace:
    """Return a recipe's pace on this machine, measured on a new model that is then discarded.

    The recipe must state the threads and micro-batch size for this machine. `processes` share an
    update; each is assumed to be as fast as this process alone.
    """
    use_threads(recipe.training.threads)
    model = build_for_training(
        with_changes(recipe, {"training.compile": False}), corpus.vocabularies
    )
    token_seconds, adam_seconds = measure_updates(model, recipe, corpus)
    store = corpus.train
    pieces = int(store.source_lengths.sum()) + int(store.target_lengths.sum())
    per_update = pieces / count_updates_of_pass(store, recipe.data)
    update = token_seconds * per_update / processes + adam_seconds
    if corpus.dev is None:
        return Pace(update, 0.0)
    held_out = int(corpus.dev.source_lengths.sum()) + int(corpus.dev.target_lengths.sum())
    search = measure_search(model, recipe, corpus)
    return Pace(update, held_out * token_seconds * FORWARD_SHARE + search)


def measure_updates(
    model: Transformer, recipe: Recipe, corpus: PreparedCorpus
) -> tuple[float, float]:
    """Train `model` for a few updates; return the seconds per token and per Adam step.

    The seconds per token are those of the forward and the backward pass.
    """
    training, device = recipe.training, select_device()
    optimiser = build_optimiser(model, training)
    limit = training.micro_batch_tokens
    on_cpu = device.type == "cpu"
    if on_cpu:
        limit = max(2 * recipe.data.max_length, min(limit, SAMPLE_TOKENS))
    feed = build_feed(recipe, corpus, limit)
    add = choose_loop(model, optimiser, training, feed.micro_batches)[1]
    warm_up = 1 if on_cpu else GPU_WARM_UP
    seconds = tokens = begin = 0.0
    for step in range(1, SAMPLE_UPDATES + warm_up + 1):
        batch = feed.micro_batches(step if on_cpu else 1)[0]
        start = time.perf_counter()
        pending = update_weights(model, optimiser, training, step, [batch], add_gradients=add)
        assert pending is not None
        pending.read()
        if step == warm_up:
            begin = time.perf_counter()
        if step > warm_up:
            seconds += time.perf_counter() - start
            tokens += len(batch.source.ids) + len(batch.target.ids)
            if time.perf_counter() - begin > SAMPLE_SECONDS:
                break
    start = time.perf_counter()
    optimiser.update(0.0, torch.zeros((), device=device))
    synchronise(device)
    adam = time.perf_counter() - start
    return max(seconds - (step - warm_up) * adam, 0.1 * seconds) / tokens, adam


def measure_search(model: Transformer, recipe: Recipe, corpus: PreparedCorpus) -> float:
    """Estimate the seconds of a validation's translations; a CPU translates only some lines.

    An untrained model seldom ends an output, so each is cut at 2 symbols more than its source has,
    about the length of a trained model's outputs. Constrained parsing refuses a lower limit: the
    smallest tree has 2 symbols besides its words.
    """
    assert corpus.dev is not None
    lines = min(recipe.training.validate_lines, len(corpus.dev))
    seconds = 0.0
    on_cpu = model.output.weight.device.type == "cpu"
    sample = min(lines, SAMPLE_LINES) if on_cpu else lines  # a GPU searches them all at once
    for count in (min(lines, WARM_UP_LINES) if on_cpu else sample, sample):
        short = with_changes(recipe, {"training.validate_lines": count, "search.extra_length": 2})
        translate = build_translation(short, corpus, SignalRequests())
        start = time.perf_counter()
        translate(model)
        seconds = time.perf_counter() - start
    return seconds * lines / sample


def describe_pace(recipe: Recipe, pace: Pace) -> str:
    """Return a phrase on how long a training takes on this machine."""
    seconds = pace.estimate_seconds(recipe)
    every = f"{pace.update_seconds:.2g} s an update"
    if pace.validation_seconds:
        every += f", {pace.validation_seconds:.2g} s a validation"
    return f"about {format_duration(seconds)} on this machine, by a measurement: {every}"


def format_duration(seconds: float) -> str:
    """Return a duration as text, such as "25 minutes"; below 2 minutes in seconds."""
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1, round(seconds))} second{'s' * (round(seconds) > 1)}"


def fit_to_minutes(
    recipe: Recipe,
    corpus: PreparedCorpus,
    minutes: float,
    settings: Mapping[str, Value],
    rank: ProcessRank,
) -> tuple[Recipe, str]:
    """Return the recipe, resized to train within `minutes` on this machine, and a sentence on that.

    Sizes are tried from the one for the corpus downwards. The first one is taken that makes five
    passes and reads 8 million tokens a side, or makes its whole run, in `minutes`; else the
    smallest. A longer run gets fewer updates, and smaller ones if under 1,000 would be left. The
    time is measured with threads and micro-batches chosen for this machine and for as many
    processes as `rank` states; the recipe keeps its own.
    """
    for path in ("training.steps", *UPDATE_SIZES):
        require(
            path not in settings, f"the minutes decide {path}, which is set too", "leave out one"
        )
    seconds = 60 * minutes
    sizes = find_size_table(corpus.data).list_sizes(len(corpus.train), has_gpu=has_gpu())
    while True:
        tried, passes = resize_recipe(recipe, sizes.pop(), corpus, settings)
        resolved = resolve_machine_settings(tried, corpus, rank.local_size)
        pace = measure_pace(resolved, corpus, rank.world_size)
        whole = pace.estimate_seconds(tried)
        token_seconds = pace.update_seconds / tried.data.source_tokens
        few = FEWEST_UPDATES * max(FEWEST_TOKENS, tried.data.max_length)
        needed, enough = (
            min(whole, max(whole * FEWEST_PASSES / passes, token_seconds * tokens))
            for tokens in (few, max(few, ENOUGH_TOKENS))
        )
        if enough <= seconds or not sizes:
            break
    said = f"sizes and updates are for about {minutes:g} minutes on this machine, as busy as now"
    if seconds < needed:
        said += (
            f": too few to learn to translate well, which takes about {format_duration(needed)}; "
            "more minutes help, a machine with less to do, or a smaller model (--set "
            "architecture.layers=…)"
        )
    if whole > seconds:
        tried = shorten_to_seconds(tried, pace, seconds, settings)
    return tried, said


def resize_recipe(
    recipe: Recipe, size: ModelSize, corpus: PreparedCorpus, settings: Mapping[str, Value]
) -> tuple[Recipe, float]:
    """Return a recipe in another model size, and how many passes over the corpus it makes."""
    tokens: dict[str, Value] = dict.fromkeys(UPDATE_SIZES, max(size.tokens, recipe.data.max_length))
    sized, passes = build_for_corpus(size, corpus, {**tokens, **settings})
    data = with_changes(recipe, tokens).data
    return replace(
        recipe, architecture=sized.architecture, data=data, training=sized.training
    ), passes


def require_minutes(minutes: object) -> None:
    """Raise InputError unless `minutes` is a number above 0, at most a million (two years)."""
    fact = f"minutes must be a number above 0, at most 1,000,000, not {short_repr(minutes)}"
    fits = isinstance(minutes, int | float) and minutes is not True and 0 < minutes <= 1e6
    require(fits, fact, "minutes=30")


def shorten_to_seconds(
    recipe: Recipe, pace: Pace, seconds: float, settings: Mapping[str, Value]
) -> Recipe:
    """Return a recipe with fewer updates, so that it takes about `seconds` in all.

    If under 1,000 updates fit, they are made smaller, too.
    """
    validations, left = 1, seconds
    if pace.validation_seconds:
        most = VALIDATION_SHARE * seconds / pace.validation_seconds
        validations = max(1, min(20, int(most)))
        left = max(seconds - validations * pace.validation_seconds, 0.1 * seconds)
    tokens, update = recipe.data.source_tokens, pace.update_seconds
    smallest = max(FEWEST_TOKENS, recipe.data.max_length)
    while left / update < FEWEST_UPDATES and tokens // 2 >= smallest:
        tokens, update = tokens // 2, update / 2
    steps = max(10, int(left / update) // 10 * 10)
    updates: dict[str, Value] = dict.fromkeys(UPDATE_SIZES, tokens)
    updates["training.validate_every"] = -(-steps // validations)
    return with_changes(recipe, build_schedule(steps, {**updates, **settings}))
