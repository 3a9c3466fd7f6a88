"""`transduce.import_model` converts another program's checkpoint to a model folder."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import final

from transduce.checkpoint.card import CardFacts, model_card
from transduce.checkpoint.stored_model import save_model
from transduce.checkpoint.weights import require_matching_tensors
from transduce.durable.folder import require_absent
from transduce.paper.model import Transformer
from transduce.runs.ledger import describe_size
from transduce.runs.marian.config import read_config
from transduce.runs.marian.vocabularies import read_marian_vocabularies
from transduce.runs.marian.weights import WEIGHTS, read_marian_weights
from transduce.settings import Recipe
from transduce.settings.recipe import with_changes
from transduce.tasks import build_task
from transduce.text.arguments import read_path
from transduce.version import __version__

SMALLEST = 258  # the smallest value of data.vocabulary_size


@final
@dataclass(frozen=True)
class ImportedModel:
    """A model folder that was made from another program's checkpoint: path, recipe, parameters."""

    folder: Path
    recipe: Recipe
    parameters: int

    def __fspath__(self) -> str:
        return str(self.folder)


def import_model(checkpoint: str | PathLike[str], output: str | PathLike[str]) -> ImportedModel:
    """Convert a Marian checkpoint of Hugging Face (such as OPUS-MT) to a model folder.

    `checkpoint` is a folder with config.json, model.safetensors, vocab.json, source.spm and
    target.spm, as `save_pretrained` writes it; `output` is a new folder. The model then translates,
    is evaluated, and can be adapted (`transduce.train(..., parent=output)`) like any other. A
    checkpoint that no recipe can express is refused with the reason.

        model = transduce.import_model("opus-mt-en-de", "model")
    """
    folder, target = read_path("checkpoint", checkpoint), read_path("output", output)
    require_absent(target)
    config = read_config(folder)
    symbols = read_marian_vocabularies(folder, config)
    sizes = [len(one) for one in symbols.vocabularies]
    recipe = with_changes(config.recipe, {"data.vocabulary_size": max(SMALLEST, *sizes)})
    found, sha256 = read_marian_weights(folder, config, symbols)  # before a large model is built
    model = Transformer(recipe.architecture, *sizes)
    weights = require_matching_tensors(found, model.named_weights(), file=folder / WEIGHTS)
    parameters = sum(weight.numel() for weight in weights.values())
    facts = CardFacts(
        description=build_task(recipe.data, symbols.vocabularies).describe(recipe.data),
        parameters=parameters,
        updates=0,
        imported=sha256,
        pairs_read=0,
        versions={"transduce": __version__},
        size=describe_size(recipe.architecture, *sizes),
    )
    card = model_card(recipe, facts)
    about = {"imported": sha256}
    save_model(target, weights, recipe, symbols.vocabularies, card, about=about)
    return ImportedModel(target, recipe, parameters)
