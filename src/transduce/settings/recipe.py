"""A recipe: all that decides a run. Two equal recipes give the same run."""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from transduce.errors import InputError, suggest_names
from transduce.settings.architecture import Architecture
from transduce.settings.data import Data
from transduce.settings.fields import require, stated
from transduce.settings.search import Search
from transduce.settings.training import Training

Value = str | int | float | bool
NOUNS: Mapping[str, type] = types.MappingProxyType(
    {"architecture": Architecture, "data": Data, "training": Training, "search": Search}
)


@final
@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The defaults of every field are the paper's base model, English to German."""

    name: str
    about: str = ""
    architecture: Architecture = Architecture()
    data: Data = Data()
    training: Training = Training()
    search: Search = Search()
    because: str = stated("", "", "why values differ from the paper's, in a sentence")

    def __post_init__(self) -> None:
        require(
            self.data.shared_vocabulary or self.architecture.tie_embeddings != "all",
            "architecture.tie_embeddings is 'all', but the two languages have vocabularies of their own",
            "--set architecture.tie_embeddings=target, or data.shared_vocabulary=true",
        )
        reach = self.data.max_length + self.search.extra_length
        require(
            self.architecture.positions == "sinusoidal" or reach <= self.architecture.max_positions,
            f"outputs may have data.max_length + search.extra_length = {reach} pieces, but learned positions "
            f"have only {self.architecture.max_positions} places (architecture.max_positions)",
            "raise architecture.max_positions or lower data.max_length",
        )
        require(
            self.training.micro_batch_tokens == 0
            or self.training.micro_batch_tokens >= 2 * self.data.max_length,
            f"training.micro_batch_tokens is {self.training.micro_batch_tokens}, but a pair may have twice "
            f"data.max_length = {self.data.max_length} pieces",
            "raise the one or lower the other; 0 asks the machine",
        )

    def flat(self) -> dict[str, Value]:
        """Every setting by its path, in the order of the nouns."""
        return {
            f"{noun}.{field.name}": getattr(getattr(self, noun), field.name)
            for noun, kind in NOUNS.items()
            for field in dataclasses.fields(kind)
        }

    def as_json(self) -> dict[str, Any]:
        """Plain dictionaries, for run.json and recipe.json; `from_mapping` reads them."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_mapping(values: Mapping[str, Any], start: "Recipe | None" = None) -> "Recipe":
        """A recipe from JSON or TOML tables; what is not named is as in `start`."""
        recipe = start or Recipe(name="unnamed")
        words = {"name", "about", "because"}
        for key, value in values.items():
            if key in words:
                require(isinstance(value, str), f"{key} must be text, not {value!r}")
            elif key not in NOUNS:
                raise InputError(f"unknown setting {key!r}", suggest_names(key, [*NOUNS, *words]))
            elif not isinstance(value, Mapping):
                raise InputError(f"{key} is a table of settings, not {value!r}")
        recipe = dataclasses.replace(recipe, **{k: v for k, v in values.items() if k in words})
        changes = {f"{n}.{k}": v for n in NOUNS if n in values for k, v in values[n].items()}
        return with_changes(recipe, changes)


def with_changes(recipe: Recipe, changes: Mapping[str, Value]) -> Recipe:
    """Many settings changed at once, so that two that depend on each other can change together."""
    tables: dict[str, dict[str, Value]] = {}
    for path, value in changes.items():
        noun, field = resolved(path)
        tables.setdefault(noun, {})[field.name] = cast_value(path, value)
    inner = {n: dataclasses.replace(getattr(recipe, n), **t) for n, t in tables.items()}
    return dataclasses.replace(recipe, **inner)


def resolved(path: str) -> "tuple[str, dataclasses.Field[Any]]":
    """The noun and field that a path names, or a hint at the nearest ones."""
    known = {
        f"{noun}.{field.name}": (noun, field)
        for noun, kind in NOUNS.items()
        for field in dataclasses.fields(kind)
    }
    if path not in known:
        raise InputError(f"unknown setting {path!r}", suggest_names(path, known))
    return known[path]


def cast_value(path: str, value: object) -> Value:
    """The value in the field's own type; text, as `--set` gives it, is read."""
    noun, field = resolved(path)
    wanted = typing.get_type_hints(NOUNS[noun])[field.name]
    if isinstance(value, str) and wanted is not str:
        value = read_text(value)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not wanted or (isinstance(value, float) and not math.isfinite(value)):
        raise InputError(f"{path} must be {NAMES[wanted]}, not {value!r}")
    return typing.cast("Value", value)


NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def read_text(text: str) -> Value:
    """true, false, a whole number (37_000 and 37000), a number, or the text itself."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
