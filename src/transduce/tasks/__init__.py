"""All tasks by name: translation, parsing, tagging, signal, and the toys copy, reverse and sort.

The module of a task is imported when the task is first asked for.
"""

from collections.abc import Mapping
from importlib import import_module

from transduce.settings import Data
from transduce.settings.fields import require
from transduce.tasks.task import SplitLevel, Task, TaskKind, constrain_source
from transduce.tasks.text import TextToText
from transduce.vocabulary.vocabulary import Vocabularies

__all__ = [
    "TASKS",
    "SplitLevel",
    "Task",
    "TaskKind",
    "TextToText",
    "build_task",
    "constrain_source",
    "find_task_kind",
    "require_task",
]

TASKS: Mapping[str, str] = {  # task -> the module whose `KINDS` has it
    "translation": "text",
    "copy": "text",
    "reverse": "text",
    "sort": "text",
    "parsing": "parsing",
    "tagging": "tagging",
    "signal": "signal",
}
WHAT_MODELS_DO: Mapping[str, str] = {  # by the name of a task's class
    "TextToText": "translates",
    "Parsing": "parses",
    "Tagging": "tags",
}


def find_task_kind(data: Data) -> TaskKind:
    """Return the `TaskKind` of the task that `data.task` names."""
    kinds: Mapping[str, TaskKind] = import_module(f"transduce.tasks.{TASKS[data.task]}").KINDS
    return kinds[data.task]


def build_task(data: Data, vocabularies: Vocabularies) -> Task:
    """Return the task that `data.task` names, built with source and target vocabularies."""
    return find_task_kind(data).build(data, vocabularies)


def require_task(task: Task, wanted: type | tuple[type, ...], data: Data, subject: str) -> None:
    """Raise InputError, saying that `subject` needs another task, unless `task` is `wanted`.

    `subject` is what needs the task, such as "`transduce translate`" or "word alignment".
    """
    first = wanted if isinstance(wanted, type) else wanted[0]
    does = WHAT_MODELS_DO[first.__name__]
    require(
        isinstance(task, wanted),
        f"{subject} needs a model that {does}, and this one's task is {data.task}",
        f"`transduce {task.describe(data).command}` uses this model",
    )
