"""Recipes in files: stored with all settings, so that new defaults do not change old models."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transduce.errors import FolderError, InputError
from transduce.settings import Recipe
from transduce.settings.recipe import Value, with_changes

# Settings that the first stored recipes (tests/checkpoint/first_settings.txt) do not have. Such a
# recipe gets the value here, which keeps the earlier behaviour, even if the default changes.
ADDED_LATER: Mapping[str, Value] = {
    "data.linearisation": "xx",
    "data.label_scheme": "raw",
    "data.short_input": 0.0,
    "data.copied_token": 0.0,
    "data.typos": 0.0,
    "data.no_end_mark": 0.0,
    "data.title_case": 0.0,
    "data.upper_case": 0.0,
    "data.source_row": 0,
    "data.target_row": 0,
    "architecture.neighbourhood_row": 0,
    "architecture.encoder_layers": 0,
    "architecture.decoder_layers": 0,
    "architecture.activation": "relu",
    "architecture.attention_biases": False,
    "architecture.output_bias": False,
    "architecture.norm_epsilon": 1e-6,
    "architecture.compatibility": "scaled-dot",
    "architecture.initialisation": "by-depth",
    "search.stop": "exact",
    "search.constrained": True,
    "search.max_openings": 10,
}
HINT = "the file was edited, or written by another version: take the folder from its source again"


def parse_stored_recipe(values: object, file: Path) -> Recipe:
    """Build a Recipe from a file's values; FolderError if a setting is missing or invalid.

    A missing setting that is in ADDED_LATER gets the value there.
    """
    if not isinstance(values, Mapping):
        raise FolderError("holds no recipe", HINT, file=file)
    try:
        recipe = Recipe.from_mapping(values)
    except InputError as fault:
        raise FolderError(f"the recipe cannot be used: {fault.fact}", HINT, file=file) from fault
    stored = list_setting_paths(values)
    missing = [path for path in list_setting_paths(recipe.as_json()) if path not in stored]
    without_value = [path for path in missing if path not in ADDED_LATER]
    if without_value:
        raise FolderError(f"the recipe lacks {', '.join(without_value[:3])}", HINT, file=file)
    return with_changes(recipe, {path: ADDED_LATER[path] for path in missing})


def list_setting_paths(values: Mapping[str, Any]) -> list[str]:
    """Return the paths of all settings in a stored recipe, such as training.steps."""
    paths = []
    for key, value in values.items():
        paths += [f"{key}.{name}" for name in value] if isinstance(value, Mapping) else [key]
    return paths
