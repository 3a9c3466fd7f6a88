"""The tasks translation, toys, parsing and tagging: how each encodes, decodes and scores."""

from collections.abc import Mapping
from types import MappingProxyType

from transduce.settings import Data
from transduce.tasks.parsing import PARSING, Parsing
from transduce.tasks.requirements import require_task
from transduce.tasks.tagging import TAGGING, Tagging
from transduce.tasks.task import SplitLevel, Task, TaskKind, constrain_source
from transduce.tasks.text import TextToText
from transduce.tasks.toys import COPY, REVERSE, SORT
from transduce.tasks.translation import TRANSLATION
from transduce.vocabulary.files import Vocabularies

__all__ = [
    "PARSING",
    "TAGGING",
    "TASKS",
    "TRANSLATION",
    "Parsing",
    "SplitLevel",
    "Tagging",
    "Task",
    "TaskKind",
    "TextToText",
    "build_task",
    "constrain_source",
    "find_task_kind",
    "require_task",
]

TASKS: Mapping[str, TaskKind] = MappingProxyType(
    {
        "translation": TRANSLATION,
        "copy": COPY,
        "reverse": REVERSE,
        "sort": SORT,
        "parsing": PARSING,
        "tagging": TAGGING,
    }
)


def find_task_kind(data: Data) -> TaskKind:
    """Return the `TaskKind` of the task that `data.task` names."""
    return TASKS[data.task]


def build_task(data: Data, vocabularies: Vocabularies) -> Task:
    """Return the task that `data.task` names, built with source and target vocabularies."""
    return TASKS[data.task].build(data, vocabularies)
