"""Checks whether a model can be exported at all: its task, its layers, its vocabulary."""

from transduce.errors import InputError
from transduce.exports.tokenizer import find_model_type
from transduce.inference.load import TaskModel
from transduce.settings import Architecture
from transduce.settings.fields import require
from transduce.tasks import TextToText, require_task

KNOWN_VOCABULARIES = ("BPE", "WordPiece")
HERE = "use it with transduce itself"


def require_exportable(model: TaskModel) -> None:
    """Refuse a model that other programs cannot compute, or whose vocabulary they cannot apply."""
    sizes, data = model.recipe.architecture, model.recipe.data
    # parsing and tagging need symbols and a constrained search that no other program has
    require_task(model.task, TextToText, data, "an export")
    fact = f"architecture.mixing is {sizes.mixing}: other programs compute self-attention only"
    require(sizes.mixing == "self-attention", fact, HERE)
    for name in ("encoder_neighbourhood", "decoder_neighbourhood"):
        if r := getattr(sizes, name):
            fact = f"architecture.{name} is {r}: other programs attend to all positions"
            raise InputError(fact, HERE)
    for name in ("activation", "attention_biases", "output_bias", "norm_epsilon"):
        if getattr(sizes, name) != getattr(Architecture(), name):
            fact = f"architecture.{name} is {getattr(sizes, name)}, which no export writes yet"
            raise InputError(fact, HERE)
    for vocabulary in (model.task.source, model.task.target):
        kind = find_model_type(vocabulary)
        fact = "a vocabulary of whole words needs word classes that no other program computes"
        require(kind in KNOWN_VOCABULARIES, fact, HERE)
