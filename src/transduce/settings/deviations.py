"""The settings in which a recipe differs from the paper, with what the paper prints there."""

from dataclasses import dataclass
from typing import final

from transduce.settings.recipe import Recipe, Value, find_setting

BASE = Recipe(name="base")


@final
@dataclass(frozen=True)
class Deviation:
    """One setting that differs: its path, the paper's value, the recipe's value, and the source."""

    path: str
    paper: Value
    here: Value
    is_from_paper: bool  # by the paper; else the other value is our own choice
    explanation: str  # the paper's sentence in our words with its section, or our reason


def list_deviations(recipe: Recipe, run: Recipe = BASE) -> list[Deviation]:
    """Return every setting that differs from a run of the paper (by default the base model)."""
    paper = run.flat_settings()
    return [
        Deviation(path, paper[path], value, *describe_source(path))
        for path, value in recipe.flat_settings().items()
        if value != paper[path]
    ]


def describe_source(path: str) -> tuple[bool, str]:
    """Return whether the paper prints a setting's value, and its sentence or our reason."""
    metadata = find_setting(path)[1].metadata
    section, explanation = metadata["section"], metadata["says"]
    stands = (
        f"section {section}: {explanation}"
        if section
        else f"the paper is silent; ours: {explanation}"
    )
    return bool(section), stands
