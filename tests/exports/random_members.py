"""Small models of many shapes with random weights, whose outputs end by themselves."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tests.inference.random_models import SIZES

from transduce.checkpoint.stored_model import save_model
from transduce.inference.load import TaskModel
from transduce.mixing import find_mixing
from transduce.paper.model import Transformer, build_transformer
from transduce.settings import Architecture, Data, Recipe, Search
from transduce.tasks import build_task
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.learn import learn_vocabulary
from transduce.vocabulary.vocabulary import Vocabularies

TEXT = ["the dog sees a cat.", "a woman runs", "who runs now and not today", "der Hund läuft über"]
WORDS = learn_vocabulary(TEXT * 9, 300)
PIECES = learn_vocabulary(TEXT * 9, 290, kind="word-piece")


def random_member(
    sizes: Architecture = SIZES,
    source: Vocabulary = WORDS,
    target: Vocabulary | None = None,
    **data: object,
) -> TaskModel:
    """Return a model with random weights and the recipe that it would be stored with."""
    vocabularies = Vocabularies(source, target or source)
    symbols = len(source), len(vocabularies.target)
    model = build_transformer(sizes, *symbols, seed=1, build_mixing=find_mixing(sizes)).eval()
    roughen(model)
    settings = Data(max_length=40, **data)  # type: ignore[arg-type]
    search = Search(beam=3, extra_length=30)
    recipe = Recipe(name="random", architecture=sizes, data=settings, search=search)
    return TaskModel(model, build_task(settings, vocabularies), recipe, "0" * 64)


def roughen(model: Transformer) -> None:
    """Draw weights, gains and biases anew, so that no zero or one hides a mistake."""
    draws = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            noise = torch.randn(weight.shape, generator=draws)
            if weight.ndim == 2:
                weight.copy_(0.4 * noise)
            else:
                weight.copy_((1.0 if "norm" in name and "weight" in name else 0.0) + 0.2 * noise)
        post = model.sizes.norm == "post"
        last: Any = model.decoder[-1].add_feed_forward.norm if post else model.decoder_final_norm
        bias = last.bias
        model.output.weight[0] = bias * (6 / bias.square().sum())  # END, so that outputs end


def shapes() -> dict[str, Architecture]:
    """Return the shapes that exports must carry over, by name."""
    return {
        "post-norm": replace(SIZES, layers=2),
        "pre-norm": replace(SIZES, layers=2, norm="pre"),
        "narrow keys": replace(SIZES, d_k=4, d_v=6),
        "narrow values": replace(SIZES, d_k=8, d_v=4),
        "wide heads": replace(SIZES, d_k=12, d_v=12),
        "tied target": replace(SIZES, tie_embeddings="target"),
        "untied": replace(SIZES, tie_embeddings="none"),
        "deep encoder": replace(SIZES, encoder_layers=3, decoder_layers=1),
        "imported": replace(
            SIZES, activation="swish", attention_biases=True, output_bias=True, norm_epsilon=1e-5
        ),
        "learned": replace(SIZES, positions="learned", max_positions=80),
    }


def save_member(member: TaskModel, folder: Path, card: str = "card") -> Path:
    """Write a member as a model folder; return the folder."""
    vocabularies = Vocabularies(member.task.source, member.task.target)
    save_model(folder, member.transformer.named_weights(), member.recipe, vocabularies, card)
    return folder
