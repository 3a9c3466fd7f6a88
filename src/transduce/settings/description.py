"""The words about a model in its model card that depend on the model's task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, kw_only=True)
class ModelDescription:
    """The words of a model card that describe what the model does, in prose and as hub tags."""

    pipeline_tag: str  # of the Hugging Face hub
    languages: Sequence[str] = ()  # by their codes, for the hub
    title: str  # "en to de"
    purpose: str  # continues "a Transformer that …"
    files: tuple[str, str] = ("input.txt", "output.txt")  # names in the example command
