"""Recipes as values: the runs of the paper's tables, open corpora, small ones, and user files.

`by_name` returns a recipe, `names` lists all, `from_file` reads one, `scaled` makes one smaller,
`difference` compares two recipes, `cite` cites the paper on a setting. No torch is imported.
"""

from transduce.recipes.citations import cite
from transduce.recipes.files import from_file
from transduce.recipes.names import by_name, difference, names
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
