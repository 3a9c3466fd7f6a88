"""All recipes by their names: a look-up, no registry."""

from collections.abc import Mapping
from types import MappingProxyType

from transduce.errors import InputError, nearest
from transduce.recipes.history import HISTORY
from transduce.recipes.open import OPEN
from transduce.recipes.small import SMALL
from transduce.recipes.table2 import LAYERS, TABLE_2
from transduce.recipes.table3 import TABLE_3
from transduce.recipes.table4 import TABLE_4
from transduce.settings import Recipe
from transduce.settings.recipe import Value

PAPERS = (*TABLE_2, *TABLE_3.values(), *TABLE_4)  # the paper's own runs
RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {recipe.name: recipe for recipe in (*PAPERS, *LAYERS, *OPEN, *SMALL, *HISTORY)}
)


def names() -> tuple[str, ...]:
    """The name of every recipe, the paper's first."""
    return tuple(RECIPES)


def by_name(name: str) -> Recipe:
    """The recipe of that name, or a hint at the nearest names."""
    if name not in RECIPES:
        raise InputError(f"unknown recipe {name!r}", nearest(name, RECIPES))
    return RECIPES[name]


def origin(recipe: Recipe) -> str:
    """The name that the recipe began with: a scale and `--set` add words to it."""
    return recipe.name.partition(" ")[0]


def own_run(recipe: Recipe) -> Recipe | None:
    """The run of the paper that a recipe is, or is made from; None if it is none by name."""
    return next((run for run in PAPERS if run.name == origin(recipe)), None)


def difference(a: Recipe, b: Recipe) -> list[tuple[str, Value, Value]]:
    """Every setting in which two recipes differ, with both values."""
    others = b.flat()
    return [
        (path, value, others[path]) for path, value in a.flat().items() if value != others[path]
    ]
