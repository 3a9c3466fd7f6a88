"""The texts of a model card that depend on the model's task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, kw_only=True)
class ModelDescription:
    """The texts and Hugging Face tags of a model card that say what the model does."""

    pipeline_tag: str  # the Hugging Face hub's name of the task, such as translation
    languages: Sequence[str] = ()  # language codes for the hub, such as en and de
    title: str  # the card's title, such as "en to de"
    purpose: str  # the end of the sentence "a Transformer that …"
    command: str = "translate"  # subcommand of transduce in the card's example
    # names of the input and output file in the card's example
    files: tuple[str, str] = ("input.txt", "output.txt")
