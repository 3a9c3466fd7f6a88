"""Validation: the perplexity and the score of the development set while a model trains"""

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import TypeVar

import numpy as np
import torch

from transduce.corpus.feed import read_batch
from transduce.machine.device import accumulation_dtype
from transduce.mixing import build_stepwise_model
from transduce.packed import Batch, split_update
from transduce.paper.model import Transformer
from transduce.runs.prepared_corpus import PreparedCorpus
from transduce.search.bounds import (
    choose_beam_strategy,
    estimate_bytes,
    require_affordable_beam,
    search_in_memory,
)
from transduce.search.constraints import with_constraints
from transduce.settings import Recipe
from transduce.tasks import build_task, constrain_source
from transduce.training.distributed.rank import SignalRequests
from transduce.training.progress import ValidationResult
from transduce.vocabulary import BEGIN

Part = TypeVar("Part")


def build_validation(
    recipe: Recipe, prepared: PreparedCorpus, requests: SignalRequests
) -> Callable[[Transformer], ValidationResult | None]:
    """Return a function that validates a model, but returns None if a signal stops training."""
    assert prepared.dev is not None
    task = build_task(recipe.data, prepared.vocabularies)
    dev, limit = prepared.dev, recipe.training.micro_batch_tokens
    lengths = (dev.source_lengths, dev.target_lengths)
    batches = [read_batch(dev, part) for part in split_update(np.arange(len(dev)), *lengths, limit)]
    translate = build_translation(recipe, prepared, requests)
    texts = prepared.dev.read_texts()[: recipe.training.validate_lines]
    references = [target for _, target in texts]

    def validate(model: Transformer) -> ValidationResult | None:
        device = model.output.weight.device
        remaining = take_until_stopped(requests, batches)
        nats, pieces = sum_validation_loss(model, (batch.to(device) for batch in remaining))
        outputs = translate(model)
        if requests.stop_signal:
            return None
        score = task.score([outputs[line] for line in range(len(texts))], references)
        return ValidationResult(nats=nats / pieces, score=score)

    return validate


def build_translation(
    recipe: Recipe, prepared: PreparedCorpus, requests: SignalRequests
) -> Callable[[Transformer], dict[int, str]]:
    """Return a function from a model to its translations by line index; a signal cuts it short."""
    assert prepared.dev is not None
    dev, task = prepared.dev, build_task(recipe.data, prepared.vocabularies)
    texts = dev.read_texts()[: recipe.training.validate_lines]
    sources = [
        constrain_source(dev.pair(index)[0].tolist(), task, source, recipe.search)
        for index, (source, _) in enumerate(texts)
    ]
    require_affordable_validation(recipe, prepared)

    def translate(model: Transformer) -> dict[int, str]:
        stepwise, inputs = with_constraints(build_stepwise_model(model.eval()), sources)
        strategy = choose_beam_strategy(
            stepwise, inputs, recipe.search, operations=model.operations
        )
        found = search_in_memory(stepwise, inputs, recipe.search, strategy)
        return {
            index: task.decode(best[0].ids, texts[index][0])
            for index, best in take_until_stopped(requests, found)
        }

    return translate


def require_affordable_validation(recipe: Recipe, prepared: PreparedCorpus) -> None:
    """Refuse a beam that may need too much memory for one of the validation lines."""
    assert prepared.dev is not None
    symbols, width = len(prepared.vocabularies.target), recipe.search.beam
    longest = int(prepared.dev.source_lengths[: recipe.training.validate_lines].max())
    needed = estimate_bytes(recipe.architecture, symbols, longest, recipe.search, width)
    require_affordable_beam(needed, longest, width)


def take_until_stopped(requests: SignalRequests, parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the items of an iterable until training is requested to stop."""
    return takewhile(lambda _: not requests.stop_signal, parts)


@torch.no_grad()
def sum_validation_loss(model: Transformer, batches: Iterable[Batch]) -> tuple[float, int]:
    """Return -log p in nats, summed over all target tokens including END, and their number.

    Switches the model to evaluation mode.
    """
    model.eval()
    nats, tokens = 0.0, 0
    for batch in batches:
        states = model.decode(batch.target.shift_right(BEGIN), model.encode(batch.source))
        log_probs = model.target_log_probs(states, batch.target.ids)
        nats -= float(log_probs.sum(dtype=accumulation_dtype(log_probs.device)))
        tokens += len(batch.target.ids)
    return nats, tokens
