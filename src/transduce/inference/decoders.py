"""Models in the form that the search decodes with: one decoder, or an ensemble of several."""

from collections.abc import Sequence
from typing import Any

from transduce.model.decoding.decoder import TransformerDecoder
from transduce.model.transformer import Transformer
from transduce.search import Decoder, Ensemble


def build_decoder(models: Sequence[Transformer]) -> Decoder[Any]:
    """Wrap one model as a decoder, or several as an ensemble, in evaluation mode."""
    members = tuple(TransformerDecoder(model.eval()) for model in models)
    return members[0] if len(members) == 1 else Ensemble(members)
