"""Scales: named ways to make a recipe smaller, so that a table of the paper fits a machine.

A scale divides all widths by one number, so that each row of a table keeps its meaning: keys of
half the size stay half the size, one head stays one head. It divides the numbers of steps by
another number. What cannot shrink in proportion (corpus, vocabulary, update size, warm-up) is set
by the scale and named in its description.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import final

from transduce.errors import InputError, short_repr, suggest_names
from transduce.recipes.catalogue import require_recipe
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value, with_changes
from transduce.text.arguments import require_count

WIDTHS = ("d_model", "d_ff", "d_k", "d_v")
SHORTENED = ("steps", "snapshot_every")
VALIDATIONS = 4  # validations per run, each with the perplexity and BLEU of a few lines


@final
@dataclass(frozen=True, kw_only=True)
class Scale:
    """A way to make recipes smaller: divisors of widths and steps, and other changes."""

    name: str
    about: str
    cost: str  # the training time of one row of a table, such as base, in words
    visible_findings: str  # which of the paper's findings a row can show and which not, in words
    has_findings: bool = True  # whether any of the paper's findings is visible
    width_divisor: int = 1
    step_divisor: int = 1
    changes: Mapping[str, Value] = field(default_factory=dict)
    corpora: Mapping[str, str] = field(default_factory=dict)  # corpus name by target language

    def __post_init__(self) -> None:
        for name in ("width_divisor", "step_divisor"):
            require_count(name, getattr(self, name))

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings that this scale changes, each as text such as "architecture.d_ff / 4"."""
        narrowed = [f"architecture.{name}" for name in WIDTHS if self.width_divisor > 1]
        shortened = [f"training.{name}" for name in SHORTENED if self.step_divisor > 1]
        validated = f"training.validate_every = training.steps / {VALIDATIONS}"
        corpora = " or ".join(self.corpora.values())
        return (
            *(f"{path} / {self.width_divisor}" for path in narrowed),
            *(f"{path} / {self.step_divisor}" for path in shortened),
            *([validated] if shortened else []),
            *(f"{path} = {value}" for path, value in self.changes.items()),
            *([f"data.corpus = {corpora}"] if corpora else []),
        )


TOY = Scale(
    name="toy",
    about="widths of a sixteenth, 1/500 of the steps, a warm-up of 200 updates (all of base's "
    "200; the paper's is 4 %), 600 symbols, updates of 512 tokens, 5,000 pairs of our phrasebook",
    cost="seconds",
    visible_findings="none: it shows that every row runs, and what the table looks like",
    has_findings=False,
    width_divisor=16,
    step_divisor=500,
    changes={
        "training.warmup": 200,  # with 100 the rate peaks at 1.8e-2, too high for most rows
        "data.vocabulary_size": 600,
        "data.source_tokens": 512,
        "data.target_tokens": 512,
        "data.max_pairs": 5_000,
    },
    corpora={"de": "phrasebook"},
)
LAPTOP = Scale(
    name="laptop",
    about="widths of a quarter, 1/50 of the steps, a warm-up of 1,000 updates (half of "
    "base's 2,000; the paper's is 4 %), 4,000 symbols, updates of 2,048 tokens, an open corpus",
    cost="15 minutes on a core of a server, up to three times that on a busy one; there twice the "
    "width took 45 minutes and big (three times the steps) 2.5 hours",
    visible_findings="in perplexity what the paper finds of 32 heads, small keys, depth, both "
    "widths, dropout and the big model, in BLEU the larger of these; with three seeds what label "
    "smoothing does; not that one head is worse. A row is one short run on few and simple "
    "sentences",
    width_divisor=4,
    step_divisor=50,
    changes={
        "training.warmup": 1_000,
        "data.vocabulary_size": 4_000,
        "data.source_tokens": 2_048,
        "data.target_tokens": 2_048,
    },
    corpora={"de": "multi30k", "fr": "tatoeba-en-fr"},
)
GPU_MINUTES = Scale(
    name="gpu-minutes",
    about="the paper's widths and updates, 1/40 of the steps, a warm-up of 1,000 updates (40 % of "
    "base's 2,500), 10,000 symbols, bfloat16, all open English-German text, whose files you name",
    cost="a minute and a half on an H200, big ten, reckoned from updates of 24 and 75 ms",
    visible_findings="not measured yet",
    step_divisor=40,
    changes={
        "training.warmup": 1_000,
        "training.precision": "bfloat16",
        "data.vocabulary_size": 10_000,
    },
    corpora={"de": "open-en-de"},
)
GPU_HOUR = Scale(
    name="gpu-hour",
    about="the paper's widths, updates and corpus, a tenth of the steps; the warm-up is kept, "
    "and is 40 % of base's 10,000 steps (4 % in the paper)",
    cost="an hour on a GPU that takes 0.36 s an update",
    visible_findings="most: the models are the paper's, trained for less long; small differences "
    "can still be chance",
    step_divisor=10,
)
PAPER = Scale(
    name="paper",
    about="nothing is changed",
    cost="12 hours on 8 P100, says the paper; its 0.4 s an update make 11.1",
    visible_findings="all of them",
)
SCALES: Mapping[str, Scale] = MappingProxyType(
    {scale.name: scale for scale in (TOY, LAPTOP, GPU_MINUTES, GPU_HOUR, PAPER)}
)


def scale_by_name(name: str) -> Scale:
    """Return the scale with this name; raise InputError with similar names if there is none."""
    require(isinstance(name, str), f"a scale's name must be text, not {short_repr(name)}")
    if name not in SCALES:
        raise InputError(f"unknown scale {short_repr(name)}", suggest_names(name, SCALES))
    return SCALES[name]


def scaled(recipe: Recipe, scale: Scale) -> Recipe:
    """Return a recipe made smaller, named "NAME at SCALE"; InputError if the scale does not fit.

    The scale `PAPER` changes nothing, not even the name.
    """
    require_recipe(recipe)
    fact = f"a scale must be a Scale, not {short_repr(scale)}"
    require(isinstance(scale, Scale), fact, "transduce.recipes.scale_by_name('toy')")
    if scale == PAPER:
        return recipe
    divisor, language = scale.width_divisor, recipe.data.target_language
    changes: dict[str, Value] = {}
    for name in WIDTHS:
        width = getattr(recipe.architecture, name)
        require(
            width % divisor == 0,
            f"architecture.{name} = {width} cannot be divided by {divisor}, as the scale "
            f"{scale.name} does",
            "choose another scale, or set the width yourself",
        )
        changes[f"architecture.{name}"] = width // divisor
    short = {
        name: max(1, getattr(recipe.training, name) // scale.step_divisor) for name in SHORTENED
    }
    changes |= {f"training.{name}": steps for name, steps in short.items()}
    changes["training.validate_every"] = max(1, short["steps"] // VALIDATIONS)
    changes |= scale.changes
    if scale.corpora:
        require(
            language in scale.corpora,
            f"the scale {scale.name} has no corpus into {language!r}",
            f"it has: {', '.join(scale.corpora)}; another scale may have one",
        )
        changes["data.corpus"] = scale.corpora[language]
    try:
        small = with_changes(recipe, changes)
    except InputError as error:
        fact = f"{recipe.name} does not fit the scale {scale.name}: {error.fact}"
        raise InputError(fact, "choose another scale, or set the sizes yourself") from None
    return replace(
        small,
        name=f"{recipe.name} at {scale.name}",
        about=f"{recipe.about}; made smaller by the scale {scale.name}",
        because=" · ".join(filter(None, (recipe.because, f"{scale.name}: {scale.about}"))),
    )
