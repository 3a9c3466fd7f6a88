"""A recipe made smaller by one name, so that a table of the paper fits a machine.

Widths are divided by one number, so that each row keeps its meaning: half as many numbers a key
stay half as many, one head stays one head. Steps are divided by one number too. What cannot shrink
in proportion (corpus, vocabulary, updates, warm-up) is the scale's own and said.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import final

from transduce.errors import InputError, nearest
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value, with_changes

WIDTHS = ("d_model", "d_ff", "d_k", "d_v")
DEV_LOOKS = 4  # on the way; each takes perplexity, and BLEU of a few lines


@final
@dataclass(frozen=True, kw_only=True)
class Scale:
    """What a run is divided by, and what takes the place of the paper's data."""

    name: str
    about: str
    costs: str  # of one row like base
    visible: str  # which findings of the paper can be seen with it, and which cannot
    narrower: int = 1
    shorter: int = 1
    changes: Mapping[str, Value] = field(default_factory=dict)
    corpora: Mapping[str, str] = field(default_factory=dict)  # by the target's language


TOY = Scale(
    name="toy",
    about="widths of a sixteenth, 1/500 of the steps, updates of 512 tokens, our own phrasebook",
    costs="seconds",
    visible="none: it shows that every row runs, and what the table looks like",
    narrower=16,
    shorter=500,
    changes={
        "training.warmup": 100,
        "data.vocabulary_size": 600,
        "data.source_tokens": 512,
        "data.target_tokens": 512,
        "data.max_pairs": 5_000,
    },
    corpora={"de": "phrasebook"},
)
LAPTOP = Scale(
    name="laptop",
    about="widths of a quarter, 1/50 of the steps, updates of 2,048 tokens, an open corpus",
    costs="15 minutes on a core of a server, up to three times that on a busy one; there twice the "
    "width took 45 minutes and big (three times the steps) 2.5 hours",
    visible="in perplexity what the paper finds of 32 heads, small keys, depth, both widths, "
    "dropout and the big model, in BLEU the larger of these; not that one head is worse, nor what "
    "label smoothing does; learned positions have a higher perplexity here. A row is one short run "
    "on few and simple sentences",
    narrower=4,
    shorter=50,
    changes={
        "training.warmup": 1_000,
        "data.vocabulary_size": 4_000,
        "data.source_tokens": 2_048,
        "data.target_tokens": 2_048,
    },
    corpora={"de": "multi30k", "fr": "tatoeba-en-fr"},
)
GPU_HOUR = Scale(
    name="gpu-hour",
    about="the paper's widths, updates and corpus, a tenth of the steps",
    costs="an hour on a GPU that takes 0.36 s an update",
    visible="most: the models are the paper's, seen early; small differences can still be chance",
    shorter=10,
)
PAPER = Scale(
    name="paper",
    about="nothing is changed",
    costs="12 hours on 8 P100, says the paper",
    visible="all of them",
)
SCALES: Mapping[str, Scale] = MappingProxyType(
    {scale.name: scale for scale in (TOY, LAPTOP, GPU_HOUR, PAPER)}
)


def scale_by_name(name: str) -> Scale:
    """The scale of that name, or a hint at the nearest."""
    if name not in SCALES:
        raise InputError(f"unknown scale {name!r}", nearest(name, SCALES))
    return SCALES[name]


def scaled(recipe: Recipe, scale: Scale) -> Recipe:
    """The recipe at a scale; its name says so, for a name never changes meaning."""
    if scale == PAPER:
        return recipe
    small = with_changes(recipe, {**narrowed(recipe, scale), **shortened(recipe, scale)})
    return replace(
        with_changes(small, {**scale.changes, **corpus(recipe, scale)}),
        name=f"{recipe.name} at {scale.name}",
        about=f"{recipe.about}; made smaller by the scale {scale.name}",
        because=" · ".join(filter(None, (recipe.because, f"{scale.name}: {scale.about}"))),
    )


def narrowed(recipe: Recipe, scale: Scale) -> dict[str, Value]:
    """Every width, divided."""
    changes: dict[str, Value] = {}
    for name in WIDTHS:
        width = getattr(recipe.architecture, name)
        require(
            width % scale.narrower == 0,
            f"architecture.{name} = {width} cannot be divided by {scale.narrower}, "
            f"as the scale {scale.name} does",
            "choose another scale, or set the width yourself",
        )
        changes[f"architecture.{name}"] = width // scale.narrower
    return changes


def shortened(recipe: Recipe, scale: Scale) -> dict[str, Value]:
    """Steps, and what is counted in steps."""
    training = recipe.training
    steps = max(1, training.steps // scale.shorter)
    return {
        "training.steps": steps,
        "training.snapshot_every": max(1, training.snapshot_every // scale.shorter),
        "training.validate_every": max(1, steps // DEV_LOOKS),
    }


def corpus(recipe: Recipe, scale: Scale) -> dict[str, Value]:
    """What takes the place of the recipe's corpus."""
    if not scale.corpora:
        return {}
    language = recipe.data.target_language
    require(
        language in scale.corpora,
        f"the scale {scale.name} has no corpus into {language!r}",
        f"it has: {', '.join(scale.corpora)}; another scale may have one",
    )
    return {"data.corpus": scale.corpora[language]}
