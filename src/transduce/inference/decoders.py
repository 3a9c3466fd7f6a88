"""Wraps models for the search: one model as a decoder, several as an ensemble."""

from collections.abc import Sequence
from typing import Any

from transduce.mixing import build_model_decoder
from transduce.paper.model import Transformer
from transduce.paper.operations import Operations
from transduce.paper.search import Decoder
from transduce.search import Ensemble


def build_decoder(
    models: Sequence[Transformer], operations: Sequence[Operations] | None = None
) -> Decoder[Any]:
    """Return a decoder of one model, or an ensemble of several, set to evaluation mode.

    `operations` are those of each model in this search, by default its own.
    """
    each = operations or [model.operations for model in models]
    members = tuple(
        build_model_decoder(model.eval(), own) for model, own in zip(models, each, strict=True)
    )
    return members[0] if len(members) == 1 else Ensemble(members)
