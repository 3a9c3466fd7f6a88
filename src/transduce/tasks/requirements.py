"""The check that a model's task is the one that a command or function is for."""

from collections.abc import Mapping
from types import MappingProxyType

from transduce.settings import Data
from transduce.settings.fields import require
from transduce.tasks.parsing import Parsing
from transduce.tasks.tagging import Tagging
from transduce.tasks.task import Task
from transduce.tasks.text import TextToText

WHAT_MODELS_DO: Mapping[type, str] = MappingProxyType(
    {TextToText: "translates", Parsing: "parses", Tagging: "tags"}
)


def require_task(task: Task, wanted: type, data: Data, user: str) -> None:
    """Raise InputError unless a model's task has the class `wanted`; the hint names its command.

    `user` is the subject of the sentence, such as "`transduce translate`" or "word alignment".
    """
    require(
        isinstance(task, wanted),
        f"{user} needs a model that {WHAT_MODELS_DO[wanted]}, and this one's task is {data.task}",
        f"`transduce {task.describe(data).command}` uses this model",
    )
