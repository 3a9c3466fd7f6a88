"""The tasks (translation, copy, reverse, sort): encoding, decoding and scoring of text."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from transduce.settings import Data
from transduce.tasks.task import SplitLevel, Task
from transduce.tasks.toys import Toy
from transduce.tasks.translation import Translation
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.files import Vocabularies

__all__ = ["TASKS", "SplitLevel", "Task", "build_task"]

TASKS: Mapping[str, Callable[[Vocabulary, Vocabulary], Task]] = MappingProxyType(
    {
        "translation": Translation,
        "copy": partial(Toy, action="copies"),
        "reverse": partial(Toy, action="reverses"),
        "sort": partial(Toy, action="sorts"),
    }
)


def build_task(data: Data, vocabularies: Vocabularies) -> Task:
    """Return the task that `data.task` names, with the vocabularies of both sides."""
    return TASKS[data.task](*vocabularies)
