"""All recipes by name, and the difference of two recipes, setting by setting."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from transduce.errors import InputError, short_repr, suggest_names
from transduce.recipes.history import HISTORY
from transduce.recipes.open import OPEN, QUICK
from transduce.recipes.tables import LAYERS, TABLE_2, TABLE_3, TABLE_4
from transduce.recipes.treebanks import TREEBANKS
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import Value

PAPERS = (*TABLE_2, *TABLE_3.values(), *TABLE_4)  # recipes of the paper's own runs
RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {recipe.name: recipe for recipe in (*PAPERS, *LAYERS, *OPEN, *TREEBANKS, *QUICK, *HISTORY)}
)


def names() -> tuple[str, ...]:
    """Return the names of all recipes, the paper's own first."""
    return tuple(RECIPES)


def by_name(name: str) -> Recipe:
    """Return the recipe with this name; raise InputError with similar names if there is none."""
    require(isinstance(name, str), f"a recipe's name must be text, not {short_repr(name)}")
    if name not in RECIPES:
        raise InputError(f"unknown recipe {short_repr(name)}", suggest_names(name, RECIPES))
    return RECIPES[name]


def require_recipe(recipe: object) -> None:
    """Raise InputError unless `recipe` is a `Recipe`."""
    fact = f"a recipe must be a Recipe, not {short_repr(recipe)}"
    require(isinstance(recipe, Recipe), fact, "transduce.recipes.by_name('demo')")


# what `scaled` and `customise_recipe` add to a name, and `shorten_name` to a long one
DERIVED = re.compile(
    r"(?: at (?:toy|laptop|gpu-minutes|gpu-hour|paper|claims))*"
    r"(?: with (?:\w+\.\w+=.*|\d+ changed settings?))?$",
    re.DOTALL,
)


def find_original_name(recipe: Recipe) -> str:
    """Return the original name of a derived recipe, such as "demo" for "demo at toy"."""
    require_recipe(recipe)
    return DERIVED.sub("", recipe.name)


def difference(a: Recipe, b: Recipe) -> list[tuple[str, Value, Value]]:
    """Return the settings that differ as (name such as "search.beam", value in a, value in b)."""
    for one in (a, b):
        require_recipe(one)
    others = b.flat_settings()
    return [
        (path, value, others[path])
        for path, value in a.flat_settings().items()
        if value != others[path]
    ]
