"""Translators with random weights, whose outputs differ from line to line."""

from dataclasses import replace

import torch

from transduce.inference.translator import Translator
from transduce.paper.model import Transformer, build_transformer, initialise
from transduce.settings import Architecture, Data, Recipe, Search
from transduce.tasks import build_task
from transduce.vocabulary.learn import learn_vocabulary
from transduce.vocabulary.vocabulary import Vocabularies

LINES = ["the dog sees a cat.", "", "a woman", "who runs now and not today", "the old red house"]
SIZES = Architecture(layers=1, d_model=16, d_ff=16, heads=2, d_k=8, d_v=8, dropout=0.0)
SEARCH = Search(beam=2, extra_length=3)
WORDS = learn_vocabulary(LINES * 9, 300)


def random_translator(seed: int = 1, *, longest: int = 24) -> Translator:
    """Return a translator with weights drawn by `seed`, which takes lines of `longest` pieces."""
    model = Transformer(SIZES, len(WORDS), len(WORDS))
    initialise(model, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        draws = torch.Generator().manual_seed(seed)
        for weight in model.parameters():
            if weight.ndim == 2:
                weight.copy_(0.5 * torch.randn(weight.shape, generator=draws))
    data = Data(max_length=longest)
    recipe = Recipe(name="random", architecture=SIZES, data=data, search=SEARCH)
    return Translator((model.eval(),), build_task(recipe.data, Vocabularies(WORDS, WORDS)), recipe)


def translator_of_six_heads(seed: int = 5) -> Translator:
    """Return a translator of two layers with three heads, weights as training begins."""
    sizes = replace(SIZES, layers=2, heads=3)
    model = build_transformer(sizes, len(WORDS), len(WORDS), seed=seed).eval()
    found = random_translator()
    return replace(found, models=(model,), recipe=replace(found.recipe, architecture=sizes))


def ensemble_of(*translators: Translator) -> Translator:
    """Return several translators as an ensemble with the first one's recipe."""
    models = tuple(model for one in translators for model in one.models)
    return replace(translators[0], models=models)
