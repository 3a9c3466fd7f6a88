"""Checks whether a model can run in a page: its kind, its size, its precision."""

from transduce.errors import InputError
from transduce.inference.load import describe_precision
from transduce.inference.translator import Translator
from transduce.settings import Architecture
from transduce.settings.fields import require
from transduce.tasks import TextToText, require_task
from transduce.view.explainer.weights import read_weights

INSTEAD = "transduce attend MODEL TEXT -o page.html shows its attention"


def require_explainable(translator: Translator, max_weights: int) -> None:
    """Raise InputError for what a page cannot run: an ensemble, other tasks, layers or sizes."""
    if len(translator.models) > 1:
        fact = f"the explainer shows one model, and this is {len(translator.models)}"
        raise InputError(fact, "load one model of the ensemble")
    (model,) = translator.models
    require_task(translator.task, TextToText, translator.recipe.data, "the explainer")
    require(
        model.sizes.mixing == "self-attention",
        f"this model has no self-attention: architecture.mixing is {model.sizes.mixing}",
        INSTEAD,
    )
    precision = describe_precision(model)
    require(
        precision == "float32",
        f"the explainer stores weights itself, and these are already rounded to {precision}",
        "load the model in float32",
    )
    page = Architecture()
    for name in ("activation", "attention_biases", "output_bias", "norm_epsilon"):
        require(
            getattr(model.sizes, name) == getattr(page, name),
            f"architecture.{name} is {getattr(model.sizes, name)}, which the page cannot compute",
            INSTEAD,
        )
    count = sum(weight.numel() for weight in read_weights(model).values())
    require(
        count <= max_weights,
        f"this model has {count:,} weights, and the explainer runs at most {max_weights:,}",
        f"{INSTEAD}; --max-weights {count} lets it try",
    )
