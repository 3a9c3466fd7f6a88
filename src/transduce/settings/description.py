"""What kind of model a model card describes: the words that follow from the task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, kw_only=True)
class ModelDescription:
    """The words of a model card that say what the model does, for people and for model hubs."""

    pipeline_tag: str  # of the Hugging Face hub
    languages: Sequence[str] = ()  # by their codes, for the hub
    title: str  # "en to de"
    purpose: str  # continues "a Transformer that …"
    files: tuple[str, str] = ("input.txt", "output.txt")  # in the example of the command line
