"""The recipes of the paper's tables, open corpora and small runs, and recipes from user files.

`by_name` returns a recipe, `names` lists all recipes, `from_file` reads a recipe, `scaled` makes a
recipe smaller, `difference` compares two recipes, and `cite` cites the paper on a setting. Torch is
not imported.
"""

from transduce.recipes.catalogue import by_name, difference, names
from transduce.recipes.choice import from_file
from transduce.recipes.citations import cite
from transduce.recipes.scale import SCALES, Scale, scale_by_name, scaled

__all__ = [
    "SCALES",
    "Scale",
    "by_name",
    "cite",
    "difference",
    "from_file",
    "names",
    "scale_by_name",
    "scaled",
]
