"""Wraps models for the search: one model as a decoder, several as an ensemble."""

from collections.abc import Sequence
from typing import Any

from transduce.model.decoding.decoder import TransformerDecoder
from transduce.model.transformer import Transformer
from transduce.paper.search import Decoder
from transduce.search import Ensemble


def build_decoder(models: Sequence[Transformer]) -> Decoder[Any]:
    """Return a decoder of one model, or an ensemble of several, set to evaluation mode."""
    members = tuple(TransformerDecoder(model.eval()) for model in models)
    return members[0] if len(members) == 1 else Ensemble(members)
