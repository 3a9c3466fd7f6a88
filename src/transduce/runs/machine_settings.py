"""The choice of a run's threads and micro-batch size for the machine, tested by a trial update"""

import gc

import numpy as np
import torch
from jaxtyping import Int

from transduce.corpus.feed import read_batch
from transduce.corpus.store import Store
from transduce.errors import NotEnoughMemoryError, is_out_of_memory
from transduce.machine.device import device_memory, select_device
from transduce.machine.limits import available_cpus, free_memory_bytes
from transduce.paper.training import update_weights
from transduce.runs.prepared_corpus import PreparedCorpus
from transduce.settings import Architecture, Recipe
from transduce.settings.counts import (
    count_decoder_layer,
    count_encoder_layer,
    count_recipe_parameters,
)
from transduce.settings.recipe import with_changes
from transduce.training.equip import build_for_training, build_optimiser, require_compiler

CPU = torch.device("cpu")
WEIGHT_BYTES = 4 * 4  # a weight, its gradient and Adam's two moments, in float32
# the most tokens of a micro-batch on each device; on a CPU more tokens were not faster
MAX_TOKENS = {"cpu": 8_192, "cuda": 1 << 20, "mps": 1 << 16}
# the share of the memory that activations stored for the backward pass may take
MEMORY_SHARES = {"cpu": 1 / 8, "cuda": 1 / 2, "mps": 1 / 8}


def require_trainable(recipe: Recipe, processes: int = 1) -> None:
    """Refuse a recipe that needs more memory than a process has, or a compiler that is missing."""
    require_memory(recipe, memory_per_process(processes))
    require_compiler(recipe.training, select_device())


def require_memory(recipe: Recipe, memory: int) -> None:
    """Raise NotEnoughMemoryError if weights, gradients and Adam's moments exceed `memory` bytes.

    Without this check the operating system would kill a process without explanation.
    """
    needs = WEIGHT_BYTES * count_recipe_parameters(recipe)
    if needs >= memory:
        raise NotEnoughMemoryError(
            f"to train this model takes more than {needs / 1e9:,.1f} GB of memory, and "
            f"{memory / 1e9:,.1f} GB are here",
            "a smaller architecture.d_model, or fewer architecture.layers",
        )


def memory_per_process(processes: int) -> int:
    """Return the bytes of memory per process: a GPU's, or an equal share of the machine's."""
    return device_memory(select_device()) // (processes if select_device().type == "cpu" else 1)


def resolve_machine_settings(recipe: Recipe, prepared: PreparedCorpus, processes: int) -> Recipe:
    """Return the recipe; threads and micro-batch size of 0 become values for this machine."""
    training = recipe.training
    threads = training.threads or max(1, available_cpus() // processes)
    recipe = with_changes(recipe, {"training.threads": threads})
    tokens = training.micro_batch_tokens or choose_micro_batch_tokens(recipe, prepared, processes)
    return with_changes(recipe, {"training.micro_batch_tokens": tokens})


def choose_micro_batch_tokens(recipe: Recipe, prepared: PreparedCorpus, processes: int) -> int:
    """Return the estimated micro-batch size in tokens, or half of it if memory is too small.

    On a CPU, a need above the free memory gives half without a trial, which could get the process
    killed; a need below half of that memory gives the whole. Otherwise a trial update decides.
    """
    longest, device = recipe.data.max_length, select_device()
    memory = memory_per_process(processes)
    tokens = estimate_micro_batch_tokens(recipe.architecture, longest, memory, device)
    halved = max(2 * longest, tokens // 2)
    if device.type == "cpu":
        needs = WEIGHT_BYTES * count_recipe_parameters(recipe)
        needs += tokens * estimate_token_bytes(recipe.architecture)
        free = free_memory_bytes() / processes
        if needs > free:
            return halved
        if 2 * needs < free:
            return tokens
    return tokens if fits_in_memory(recipe, prepared, tokens) else halved


def estimate_micro_batch_tokens(
    sizes: Architecture, longest: int, memory: int, device: torch.device = CPU
) -> int:
    """Estimate how many source and target tokens of a micro-batch fit in `memory` bytes.

    Activations may take the device's MEMORY_SHARES of the memory. The result is at most
    MAX_TOKENS, but at least 2 `longest`, the tokens of a pair of the longest sentences.
    """
    share, most = MEMORY_SHARES[device.type], MAX_TOKENS[device.type]
    return max(2 * longest, min(most, int(memory * share) // estimate_token_bytes(sizes)))


def estimate_token_bytes(sizes: Architecture) -> int:
    """Estimate the bytes of float32 activations per token that the backward pass needs.

    This is the mean over source and target tokens, assuming equally many of both.
    """
    encoder = count_encoder_layer(sizes) * sizes.encoder_depth
    decoder = count_decoder_layer(sizes) * sizes.decoder_depth
    return 4 * (encoder + decoder).activations // 2


def fits_in_memory(recipe: Recipe, prepared: PreparedCorpus, tokens: int) -> bool:
    """Return whether one update of the largest micro-batch of `tokens` tokens fits in memory."""
    fits = True
    try:
        probe_update(recipe, prepared, tokens)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        fits = False
    gc.collect()  # the model and its graph refer to each other
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    return fits


def probe_update(recipe: Recipe, prepared: PreparedCorpus, tokens: int) -> None:
    """Make one update of a new model on the longest pairs of at most `tokens` tokens in all."""
    recipe = with_changes(recipe, {"training.compile": False})
    model = build_for_training(recipe, prepared.vocabularies)
    batch = read_batch(prepared.train, select_longest(prepared.train, tokens))
    optimiser = build_optimiser(model, recipe.training)
    pending = update_weights(model, optimiser, recipe.training, 1, [batch])
    assert pending is not None
    pending.read()


def select_longest(store: Store, tokens: int) -> Int[np.ndarray, " P"]:
    """Return the indices of pairs, longest first, up to `tokens` tokens in all; at least one."""
    lengths = store.source_lengths.astype(np.int64) + store.target_lengths
    order = np.argsort(-lengths, kind="stable")
    return order[: max(1, int((lengths[order].cumsum() <= tokens).sum()))]
