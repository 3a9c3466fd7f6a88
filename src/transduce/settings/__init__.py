"""The settings of a recipe, in four groups; each cites the paper or explains our choice."""

from transduce.settings.architecture import Architecture
from transduce.settings.data import Data
from transduce.settings.recipe import Recipe
from transduce.settings.search import Search
from transduce.settings.training import Training

__all__ = ["Architecture", "Data", "Recipe", "Search", "Training"]
