"""The same searches on the stand-in device and on a CPU."""

import random
from collections.abc import Sequence
from typing import Any

import torch
from tests.inference.random_models import WORDS, random_translator
from tests.stand_in.device import CUDA, stand_in_device
from tests.stand_in.record import Record

from transduce.fast.choose import equip_for_inference
from transduce.paper.model import StepwiseTransformer
from transduce.settings import Search
from transduce.settings.search import InferencePrecision

SEARCH = Search(beam=3, extra_length=2, batch_size=3)
DRAWS = random.Random(1)
# of lengths that let sentences end at different steps, and others take their places
SOURCES = [[*(DRAWS.randrange(2, len(WORDS)) for _ in range(n)), 0] for n in (4, 6, 1, 5, 2, 3)]


def decoder_of(
    precision: str, device: str | torch.device = "cpu", seeds: Sequence[int] = (3,)
) -> list[StepwiseTransformer]:
    """Decoders of random models, one for each seed."""
    models = [random_translator(seed).models[0].to(device) for seed in seeds]
    for model in models:
        equip_for_inference(model, InferencePrecision(precision))
    return [StepwiseTransformer(model) for model in models]


def search_on_both(
    work, precision: str = "float32", **changes
) -> tuple[list[Any], list[Any], Record]:
    """What `work(decoders)` returns on a CPU and on the stand-in device, and what that did."""
    plain = work(decoder_of(precision, **changes))
    with stand_in_device() as record:
        decoders = decoder_of(precision, CUDA, **changes)
        record.clear()
        found = work(decoders)
    return plain, found, record
