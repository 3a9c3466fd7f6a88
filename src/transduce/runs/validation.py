"""A look at the development split while a model trains."""

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import TypeVar

import numpy as np

from transduce.corpus.batch import Batch
from transduce.corpus.shard import micro_batches
from transduce.corpus.store import Store
from transduce.model.decoding.decoder import TransformerDecoder
from transduce.model.transformer import Transformer
from transduce.runs.prepare import Prepared
from transduce.search import beam_search_unordered
from transduce.settings import Recipe
from transduce.tasks import build_task
from transduce.training.dev_loss import nats_of
from transduce.training.distributed.requests import Requests
from transduce.training.progress import ValidationResult

Part = TypeVar("Part")


def look(
    recipe: Recipe, prepared: Prepared, requests: Requests
) -> Callable[[Transformer], ValidationResult | None]:
    """Perplexity of all dev pairs, the task's score of the first lines; None if it was stopped."""
    assert prepared.dev is not None
    dev, task = prepared.dev, build_task(recipe.data, prepared.vocabularies)
    batches = batches_of(dev, recipe.training.micro_batch_tokens)
    lines = range(min(recipe.training.validate_lines, len(dev)))
    sources, targets = (
        [ids.tolist() for ids in side]
        for side in zip(*(dev.pair(number) for number in lines), strict=True)
    )
    references = [task.decode(ids) for ids in targets]

    def at(model: Transformer) -> ValidationResult | None:
        device = model.output.weight.device
        going = until(requests, batches)
        nats, pieces = nats_of(model, (batch.to(device) for batch in going))
        decoder = TransformerDecoder(model.eval())
        found = beam_search_unordered(decoder, sources, recipe.search)
        outputs = {number: task.decode(best[0].ids) for number, best in until(requests, found)}
        if requests.stop:
            return None
        score = task.score([outputs[line] for line in lines], references)
        return ValidationResult(nats=nats / pieces, score=score)

    return at


def until(requests: Requests, parts: Iterable[Part]) -> Iterator[Part]:
    """As many parts as come before the stop."""
    return takewhile(lambda _: not requests.stop, parts)


def batches_of(store: Store, micro_batch_tokens: int) -> list[Batch]:
    """All pairs of a store in as few batches as fit."""
    every = np.arange(len(store))
    lengths = (store.source_lengths, store.target_lengths)
    return [Batch.of(store, part) for part in micro_batches(every, *lengths, micro_batch_tokens)]
