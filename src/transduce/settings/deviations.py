"""The settings of a recipe that differ from the paper's, with the paper's values."""

from dataclasses import dataclass
from typing import final

from transduce.settings.architecture import Architecture
from transduce.settings.recipe import Recipe, Value, find_setting

# Where the paper is silent, our defaults are those of its authors' code, except initial weights.
BASE = Recipe(name="base", architecture=Architecture(initialisation="glorot"))


@final
@dataclass(frozen=True)
class Deviation:
    """One setting whose value in a recipe differs from the paper's, with both values."""

    path: str
    paper: Value
    here: Value
    explanation: str  # a paraphrase of the paper with the section, or our reason


def list_deviations(recipe: Recipe) -> list[Deviation]:
    """List the settings of a recipe that differ from the paper's base model."""
    paper = BASE.flat_settings()
    return [
        Deviation(path, paper[path], value, describe_source(path))
        for path, value in recipe.flat_settings().items()
        if value != paper[path]
    ]


def describe_source(path: str) -> str:
    """Return a phrase that explains a setting's default: the paper's section, or our reason."""
    metadata = find_setting(path)[1].metadata
    section, explanation = metadata["section"], metadata["says"]
    return (
        f"section {section}: {explanation}"
        if section
        else f"the paper is silent; ours: {explanation}"
    )
