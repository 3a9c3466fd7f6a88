"""Where a recipe is not the paper's base model, or another run, and what the paper says there."""

from dataclasses import dataclass
from typing import final

from transduce.settings.recipe import Recipe, Value, resolved

BASE = Recipe(name="base")


@final
@dataclass(frozen=True)
class Deviation:
    """One setting that differs."""

    path: str
    paper: Value
    here: Value
    is_stated: bool  # by the paper; else the other value is our own choice
    says: str  # the paper's sentence in our words with its section, or our reason


def deviations(recipe: Recipe, run: Recipe = BASE) -> list[Deviation]:
    """Every setting that is not as in that run of the paper, in the order of the nouns."""
    paper = run.flat()
    return [
        Deviation(path, paper[path], value, *source_of(path))
        for path, value in recipe.flat().items()
        if value != paper[path]
    ]


def source_of(path: str) -> tuple[bool, str]:
    """Whether the paper states it, and where the base model's value is from."""
    metadata = resolved(path)[1].metadata
    section, says = metadata["section"], metadata["says"]
    stands = f"section {section}: {says}" if section else f"the paper is silent; ours: {says}"
    return bool(section), stands
