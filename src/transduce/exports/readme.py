"""The README of an export: how the other program loads it, and what the model's own card says."""

from pathlib import Path

from transduce.checkpoint.card import USE, deviations_section, front_matter, title_section
from transduce.checkpoint.model_files import CARD, open_model_folder
from transduce.checkpoint.run_file import is_run
from transduce.errors import FolderError
from transduce.exports.target import Target
from transduce.inference.load import TaskModel

LIMIT = 1 << 20


def build_readme(model: TaskModel, target: Target, precision: str, card: str) -> str:
    """Return the README of an exported model; `card` is the card of the model folder, or ""."""
    description = model.task.describe(model.recipe.data)
    parameters = sum(weight.numel() for weight in model.transformer.named_weights().values())
    origin = f"Exported by transduce in {precision} from the model with sha256 `{model.hash}`."
    differences = "\n".join(f"- {one}" for one in target.list_differences(model))
    parts = [
        front_matter(description, target.library),
        title_section(model.recipe, description, parameters),
        origin,
        f"{USE}\n\n{target.describe_use(model)}",
        f"## What is different there\n\n{differences}",
        *(split_sections(card) or [deviations_section(model.recipe)]),
    ]
    return "\n\n".join(parts) + "\n"


def split_sections(card: str) -> list[str]:
    """Return the "## " sections of a model card, except the one on its use with transduce."""
    _, *sections = card.rstrip().split("\n## ")
    return [f"## {one.strip()}" for one in sections if not f"## {one}".startswith(USE)]


def read_card(folder: Path) -> tuple[str, str]:
    """Return the card of a model folder and "", or "" and why an export goes without it.

    A run has no card yet. A card that was edited differs from the manifest, and is left out.
    """
    if is_run(folder):
        return "", "the README has neither data nor scores: a run's model has them, once averaged"
    try:
        return open_model_folder(folder).read(CARD, LIMIT).decode("utf-8", "replace"), ""
    except FolderError as fault:
        return "", f"the model's card is not in the README: {fault.fact}"
