"""Recipes as values: the paper's tables, open corpora, small ones, and those of a file."""

from transduce.recipes.files import from_file
from transduce.recipes.names import by_name, difference, names

__all__ = ["by_name", "difference", "from_file", "names"]
