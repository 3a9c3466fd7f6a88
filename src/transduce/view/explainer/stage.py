"""Stages of a model: its weights at steps of its training, as the explainer shows them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from torch import Tensor

from transduce.inference.translator import Translator


@final
@dataclass(frozen=True, eq=False)
class Stage:
    """The weights of a model at one time of its training."""

    name: str  # such as "trained"
    step: int | None  # updates before; None if unknown, as for averaged weights
    weights: Mapping[str, Tensor]


def read_trained_stage(translator: Translator) -> Stage:
    """Return the weights of a translator's only model as its trained stage."""
    return Stage("trained", None, translator.models[0].named_weights())
