"""The settings of a recipe in four groups: frozen, checked values that name their source."""

from transduce.settings.architecture import Architecture
from transduce.settings.data import Data
from transduce.settings.recipe import Recipe
from transduce.settings.search import Search
from transduce.settings.training import Training

__all__ = ["Architecture", "Data", "Recipe", "Search", "Training"]
