"""Translators of every shape that the explainer runs, with random weights."""

from dataclasses import replace

import torch
from tests.inference.random_models import LINES, SEARCH

from transduce.inference.translator import Translator
from transduce.mixing import find_mixing
from transduce.paper.model import Transformer, initialise
from transduce.settings import Architecture, Data, Recipe
from transduce.tasks import build_task
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.learn import learn_vocabulary
from transduce.vocabulary.vocabulary import Vocabularies

TEXT = "the old dog sees a woman"
PAPERS = Architecture(layers=2, d_model=24, d_ff=40, heads=2, d_k=12, d_v=12, dropout=0.0)
OTHER = [*LINES, "ein Hund", "der alte Hund läuft und sieht die Frau", "größer"] * 3
# No two sizes are equal, so that no transposed axis is hidden.
ODD = replace(PAPERS, d_k=7, d_v=9, heads=3)
SHAPES = {
    "paper": PAPERS,
    "one layer, one head": replace(PAPERS, layers=1, heads=1),
    "odd": ODD,
    "three layers, four heads, sines first": replace(
        ODD, layers=3, heads=4, positions="tensor2tensor"
    ),
    "target tied": replace(ODD, tie_embeddings="target"),
    "untied": replace(ODD, tie_embeddings="none"),
    "learned positions": replace(ODD, positions="learned", max_positions=160),
    "pre-norm": replace(ODD, norm="pre"),
    "deep encoder": replace(ODD, encoder_layers=3, decoder_layers=1),
    "deep decoder": replace(ODD, encoder_layers=1, decoder_layers=2),
    "swish and biases": replace(
        ODD,
        activation="swish",
        attention_biases=True,
        output_bias=True,
        norm_epsilon=0.1,
        tie_embeddings="target",
    ),
    "neighbourhoods": replace(ODD, encoder_neighbourhood=3, decoder_neighbourhood=5),
}


def make_translator(
    sizes: Architecture, kind: str = "byte-pair", seed: int = 1, source: Vocabulary | None = None
) -> Translator:
    """Return a translator of these sizes whose outputs depend on the input."""
    source = source or learn_vocabulary(LINES * 9, 300, kind)
    shared = sizes.tie_embeddings == "all"
    target = source if shared else learn_vocabulary(OTHER, 310, kind)
    model = Transformer(sizes, len(source), len(target), build_mixing=find_mixing(sizes))
    draws = torch.Generator().manual_seed(seed)
    initialise(model, draws)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                weight.copy_(0.4 * torch.randn(weight.shape, generator=draws))
            else:
                weight.add_(0.1 * torch.randn(weight.shape, generator=draws))
    data = Data(max_length=60, vocabulary=kind, shared_vocabulary=shared)
    search = replace(SEARCH, beam=4, extra_length=8)
    recipe = Recipe(name="random", architecture=sizes, data=data, search=search)
    return Translator((model.eval(),), build_task(data, Vocabularies(source, target)), recipe)
