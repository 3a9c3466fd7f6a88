"""A recipe: all settings that decide a run. Two equal recipes give the same run."""

import dataclasses
import math
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from transduce.errors import InputError, short_repr, suggest_names
from transduce.settings.architecture import Architecture
from transduce.settings.data import Data
from transduce.settings.fields import TYPE_NAMES, format_number, from_paper, require
from transduce.settings.search import Search
from transduce.settings.training import Training

Value = str | int | float | bool
CHANGE = re.compile(r", (?=[a-z]+\.\w+=)")  # between the changes that a derived name lists
TITLE = re.compile(r"(\S+, )?\d+\+\d+ layers, [\d,]+ updates?")  # what `build_title` returns
MOST_NAME_CHARACTERS = 60  # a longer name, which may list changed settings, is shortened
GROUPS: Mapping[str, type] = {
    "architecture": Architecture,
    "data": Data,
    "training": Training,
    "search": Search,
}
SETTINGS: "Mapping[str, tuple[str, dataclasses.Field[Any]]]" = {
    f"{group}.{field.name}": (group, field)
    for group, kind in GROUPS.items()
    for field in dataclasses.fields(kind)
}  # the group and the dataclass field of each setting, by its path

# line ends, control characters, and halves of surrogate pairs, which no file in UTF-8 holds
UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
UPDATES = "data.source_tokens and data.target_tokens, the tokens of an update"
NAMES_ELSEWHERE: Mapping[str, str] = {
    "lr": "training.learning_rate_factor, which multiplies the paper's formula",
    "learning_rate": "training.learning_rate_factor, which multiplies the paper's formula",
    "epochs": "training.steps, the number of updates",
    "max_steps": "training.steps, the number of updates",
    "batch_size": f"{UPDATES}; search.batch_size when translating",
    "batch_tokens": UPDATES,
    "warmup_steps": "training.warmup",
    "vocab_size": "data.vocabulary_size",
    "num_layers": "architecture.layers",
    "num_heads": "architecture.heads",
    "hidden_size": "architecture.d_model and architecture.d_ff",
}  # from a setting's name in other programs to a hint at ours


@final
@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All settings of a run in four groups; the defaults are the paper's base model, En-De."""

    name: str
    about: str = ""
    architecture: Architecture = Architecture()
    data: Data = Data()
    training: Training = Training()
    search: Search = Search()
    because: str = from_paper("", "", "why values differ from the paper's, in a sentence")

    def __post_init__(self) -> None:
        for group, kind in GROUPS.items():
            found = getattr(self, group)
            require(
                isinstance(found, kind), f"{group} must be {kind.__name__}, not {short_repr(found)}"
            )
        require(
            self.data.shared_vocabulary or self.architecture.tie_embeddings != "all",
            "architecture.tie_embeddings is 'all', but the two languages have vocabularies of "
            "their own",
            "--set architecture.tie_embeddings=target, or data.shared_vocabulary=true",
        )
        reach = self.data.max_length + self.search.extra_length
        require(
            self.architecture.positions != "learned" or reach <= self.architecture.max_positions,
            f"outputs may have data.max_length + search.extra_length = {reach} pieces, but there "
            f"are only {self.architecture.max_positions} learned positions "
            "(architecture.max_positions)",
            "raise architecture.max_positions or lower data.max_length",
        )
        require(
            self.training.micro_batch_tokens == 0
            or self.training.micro_batch_tokens >= 2 * self.data.max_length,
            f"training.micro_batch_tokens is {self.training.micro_batch_tokens}, but a pair may "
            f"have twice data.max_length = {self.data.max_length} pieces",
            "raise the one or lower the other; 0 chooses it by the memory",
        )

    def flat_settings(self) -> dict[str, Value]:
        """Return every setting's value by its path, such as training.steps, in a fixed order."""
        return {
            path: getattr(getattr(self, group), field.name)
            for path, (group, field) in SETTINGS.items()
        }

    def as_json(self) -> dict[str, Any]:
        """Return the recipe as plain dictionaries, which `from_mapping` reads."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_mapping(values: Mapping[str, Any], start: "Recipe | None" = None) -> "Recipe":
        """Return `start`, or the defaults if it is None, changed by `values`; refuse bad values.

        `values` is nested as in `as_json`.
        """
        recipe = start or Recipe(name="unnamed")
        texts = {"name", "about", "because"}
        for key, value in values.items():
            if key in texts:
                require(isinstance(value, str), f"{key} must be text, not {short_repr(value)}")
            elif key not in GROUPS:
                raise InputError(
                    f"unknown setting {short_repr(key)}", suggest_names(key, [*GROUPS, *texts])
                )
            elif not isinstance(value, Mapping):
                raise InputError(f"{key} is a table of settings, not {short_repr(value)}")
        recipe = dataclasses.replace(recipe, **{k: v for k, v in values.items() if k in texts})
        changes = {f"{n}.{k}": v for n in GROUPS if n in values for k, v in values[n].items()}
        for path, value in changes.items():
            wanted = find_setting(path)[1].type  # only --set may give a number as text
            if isinstance(value, str) and wanted is not str:
                fact = f"{path} must be {TYPE_NAMES[typing.cast('type', wanted)]}"
                raise InputError(f"{fact}, not {short_repr(value)}", "leave the quotes out")
        return with_changes(recipe, changes)


def require_changes(changes: object) -> None:
    """Raise InputError unless `changes` is a mapping; its keys and values are not checked."""
    require(
        isinstance(changes, Mapping),
        f"settings must be a table of new values by path, not {short_repr(changes)}",
        'settings={"training.steps": 2000}',
    )


def with_changes(recipe: Recipe, changes: Mapping[str, Value]) -> Recipe:
    """Return a copy of the recipe with new values by path ("8" is read as 8); refuse bad ones."""
    require_changes(changes)
    tables: dict[str, dict[str, Value]] = {}
    for path, value in changes.items():
        group, field = find_setting(path)
        tables.setdefault(group, {})[field.name] = cast_value(path, value)
    inner = {n: dataclasses.replace(getattr(recipe, n), **t) for n, t in tables.items()}
    return dataclasses.replace(recipe, **inner)


def find_setting(path: object) -> "tuple[str, dataclasses.Field[Any]]":
    """Return a setting's group and dataclass field; raise InputError if `path` names no setting."""
    if not isinstance(path, str) or path not in SETTINGS:
        name = path if isinstance(path, str) else ""
        last = name.rpartition(".")[2]  # the name itself is often right, and its group wrong
        is_known = any(one.endswith(f".{last}") for one in SETTINGS)
        hint = suggest_names(last if is_known else name, SETTINGS)
        if last in NAMES_ELSEWHERE:
            hint = f"here that is {NAMES_ELSEWHERE[last]}"
        raise InputError(f"unknown setting {short_repr(path)}", hint)
    return SETTINGS[path]


def cast_value(path: str, value: object) -> Value:
    """Convert a value, or its text, to a setting's type; raise InputError if this is impossible."""
    wanted = typing.cast("type", find_setting(path)[1].type)
    if isinstance(value, str) and wanted is not str:
        value = parse_value(value)
    if isinstance(value, str) and wanted is str:
        require_printable(path, value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        found = format_number(value)
        raise InputError(f"{path} must be {TYPE_NAMES[wanted]} from -2^63 to 2^63 - 1, not {found}")
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not wanted or (isinstance(value, float) and not math.isfinite(value)):
        raise InputError(f"{path} must be {TYPE_NAMES[wanted]}, not {short_repr(value)}")
    return typing.cast("Value", value)


def require_printable(name: str, text: str) -> None:
    """Raise InputError if a text has a line end, control character or half of a surrogate pair."""
    fact = f"{name} has a line end or another character that no line shows"
    require(not UNSHOWN.search(text), f"{fact}: {short_repr(text)}", "leave it out")


def parse_value(text: str) -> Value:
    """Parse text as a bool (true, false), an int (also 37_000) or a float; else return the text."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            found = kind(text)
        except ValueError:  # int() refuses more than 4,300 digits as well
            continue
        return text if found in (math.inf, -math.inf) else found
    return text


def shorten_name(name: str) -> str:
    """Return a name; over 60 characters, "A with d.b=1, d.c=2" is "A with 2 changed settings"."""
    base, joint, changes = name.partition(" with ")
    if len(name) <= MOST_NAME_CHARACTERS or not joint:
        return name
    count = len(CHANGE.split(changes))
    return f"{base} with {count} changed setting{'s' * (count != 1)}"


def build_title(recipe: Recipe, updates: int | None = None) -> str:
    """Return a model's default name, such as "en-fr, 2+2 layers, 1,500 updates"."""
    languages, sizes = "-".join(recipe.data.languages), recipe.architecture
    count = recipe.training.steps if updates is None else updates
    layers = f"{sizes.encoder_depth}+{sizes.decoder_depth} layers"
    parts = [languages, layers, f"{count:,} update{'s' * (count != 1)}"]
    return ", ".join(part for part in parts if part)


def renew_title(recipe: Recipe, updates: int) -> Recipe:
    """Return the recipe; if `build_title` made its name, the name is built anew for `updates`."""
    is_title = TITLE.fullmatch(recipe.name) is not None
    return dataclasses.replace(recipe, name=build_title(recipe, updates)) if is_title else recipe


# --- What differs from the paper ------------------------------------------------------------------

# Where the paper is silent, BASE follows its authors' code; our defaults differ in initialisation.
BASE = Recipe(name="base", architecture=Architecture(initialisation="glorot"))


@final
@dataclass(frozen=True)
class Deviation:
    """One setting whose value in a recipe differs from the paper's, with both values."""

    path: str
    paper: Value
    here: Value
    explanation: str  # a paraphrase of the paper with the section, or our reason


def list_deviations(recipe: Recipe) -> list[Deviation]:
    """List the settings of a recipe that differ from the paper's base model."""
    paper = BASE.flat_settings()
    return [
        Deviation(path, paper[path], value, describe_source(path))
        for path, value in recipe.flat_settings().items()
        if value != paper[path]
    ]


def describe_source(path: str) -> str:
    """Return a phrase that explains a setting's default: the paper's section, or our reason."""
    metadata = find_setting(path)[1].metadata
    section, explanation = metadata["section"], metadata["says"]
    return (
        f"section {section}: {explanation}"
        if section
        else f"the paper is silent; ours: {explanation}"
    )
