"""Types of parameters, groups of options as typed objects, and options that commands share."""

import inspect
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import field, fields
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, final, get_args

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from transduce.cli.line_outputs import means_standard_output
from transduce.durable.files import require_file_name, require_folder
from transduce.durable.folder import require_harmless_output
from transduce.errors import InputError, short_repr, shorten
from transduce.recipes import names
from transduce.recipes.choice import find_recipe
from transduce.recipes.scale import SCALES
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.text.files import is_file
from transduce.text.languages import parse_languages

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

OTHER_NAME = "choose another name"
SURROGATE = re.compile("[\ud800-\udfff]")  # a byte of the command line that is not UTF-8
NUMBER = re.compile(r"\s*[0-9]{1,9}\s*")


class FilePath(click.Path):
    """The parameter type of paths; it refuses an empty path, such as an unset variable in a shell.

    An empty `Path` would be the current folder. `Path("./-")` is `-`, which means standard input,
    so such a path is made absolute. A file without the right to read it is refused when it is read.
    """

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - arguments of `click.Path`
        super().__init__(readable=False, path_type=Path, **given)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Convert a text to a `Path`; refuse an empty text."""
        if value == "":
            self.fail("an empty path; a dot (.) names this folder", param, ctx)
        found: Any = super().convert(value, param, ctx)
        is_renamed = str(found) == "-" and str(value) != "-"
        return found.absolute() if is_renamed else found


@final
class OutputFile(FilePath):
    """The parameter type of a file to write; a path that ends in a slash is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Convert a text to a `Path`; refuse a slash at its end, which a `Path` would lose."""
        require_file_name(value)
        return super().convert(value, param, ctx)


@final
class FiniteRange(click.FloatRange):
    """The parameter type of finite numbers in a range; nan, which click accepts, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Convert a text to a finite float in the range; refuse any other."""
        if not math.isfinite(found := super().convert(value, param, ctx)):
            self.fail(f"{value} is no finite number", param, ctx)
        return found


FILE = FilePath()
INPUT = FilePath(allow_dash=True)  # - is standard input


class RecipeName(click.ParamType):  # type: ignore[type-arg]  # generic in later versions only
    """The parameter type for a recipe's name or file."""

    name = "recipe"

    def convert(self, value: Any, param: object, ctx: object) -> Recipe:  # noqa: ANN401, ARG002
        """Convert a recipe's name or file to the recipe; refuse any other argument."""
        return find_recipe(value)

    def shell_complete(self, _context: object, _: object, incomplete: str) -> list[CompletionItem]:
        """Return completions of a typed prefix: the recipes that begin with it, and files."""
        matching = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
        return [*matching, CompletionItem(incomplete, type="file")]


class Change(click.ParamType):  # type: ignore[type-arg]
    """The parameter type for a setting and its new value, such as training.steps=2000."""

    name = "setting=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: object) -> tuple[str, str]:  # noqa: ANN401, ARG002
        """Split setting=value into (setting, value as text); raise InputError if there is no =."""
        path, sign, text = value.partition("=")
        if not sign:
            option = param.opts[0] if param else "--set"
            raise InputError(f"{option} {value}: no value", f"{option} {value}=VALUE")
        return path.strip(), text.strip()


class Numbers(click.ParamType):  # type: ignore[type-arg]
    """The parameter type for numbers from 1, separated by commas, such as 5,6."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: object) -> tuple[int, ...]:  # noqa: ANN401, ARG002
        """Convert comma-separated numbers to a tuple of ints; refuse any other text."""
        parts = value.split(",")
        if all(NUMBER.fullmatch(part) and int(part) for part in parts):
            return tuple(map(int, parts))
        option = param.opts[0] if param else "option"
        raise InputError(f"{option} {short_repr(value)}: not numbers from 1", f"{option} 5,6")


TYPES = {Path: FILE, Recipe: RecipeName()}  # parameter types by annotation


def option(about: str, *names: str, default: Any = None, **attributes: Any) -> Any:  # noqa: ANN401
    """Declare the option that sets a parameter of a command, or a field of a group.

    A group is a frozen dataclass. `about` is the option's help. It is named after the parameter or
    field unless `names` are given, and has the annotation's type unless a `type` is given. The
    result is Any, so that mypy takes it for the default.
    """
    if default is None and attributes.get("multiple"):
        default = ()
    if default is not None:
        attributes["default"] = default
    metadata = {"kind": click.Option, "names": names, "attributes": {"help": about, **attributes}}
    return field(default=default, metadata=metadata)


def flag(about: str, *names: str) -> Any:  # noqa: ANN401
    """Declare an option without a value, as `option` does; it makes the parameter True."""
    # with a type, click 8.2.0 gives a flag no value
    return option(about, *names, default=False, is_flag=True, type=None)


def argument(**attributes: Any) -> Any:  # noqa: ANN401
    """Declare the argument that sets a parameter of a command, as `option` does."""
    return field(metadata={"kind": click.Argument, "attributes": attributes})


def group(*only: str, **helps: str) -> Any:  # noqa: ANN401
    """Declare the options of a parameter whose annotation is a group's class.

    With `only`, just these fields become options, and the others keep their defaults. `helps` maps
    the names of fields to help texts that replace their own.
    """
    return field(metadata={"only": only, "helps": helps})


def make_command(
    name: str,
    *switches: click.Option,
    kind: type[click.Command] = click.Command,
    group: click.Group | None = None,
) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes a command of a function, with its docstring as the help.

    The defaults of its parameters declare options and arguments. The `switches` are options whose
    values are not passed on. If a `group` of commands is given, the command joins it.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        declared: list[click.Parameter] = []
        groups: dict[str, tuple[Any, list[str]]] = {}  # class and chosen fields by parameter
        for one in inspect.signature(function).parameters.values():
            metadata = one.default.metadata
            if "only" not in metadata:
                declared.append(build_parameter(one.name, one.annotation, metadata))
                continue
            members = {each.name: each for each in fields(one.annotation) if each.metadata}
            chosen = [members[member] for member in metadata["only"] or members]
            groups[one.name] = one.annotation, [each.name for each in chosen]
            for each in chosen:
                own_help = metadata["helps"].get(each.name)
                declared.append(build_parameter(each.name, each.type, each.metadata, own_help))

        def call(**given: Any) -> Any:  # noqa: ANN401
            made = {
                parameter: group_class(**{member: given.pop(member) for member in members})
                for parameter, (group_class, members) in groups.items()
            }
            return function(**given, **made)

        params, about = [*declared, *switches], inspect.getdoc(function)
        built = kind(name, callback=call, params=params, help=about)
        if group is not None:
            group.add_command(built)
        return built

    return decorate


def build_parameter(
    name: str,
    annotation: Any,  # noqa: ANN401
    metadata: Mapping[str, Any],
    own_help: str | None = None,
) -> click.Parameter:
    """Build the option or argument that `metadata` declares; `own_help` replaces its help."""
    # the type of one value, such as Path for Path | None and for tuple[Path, ...]
    single = next((one for one in get_args(annotation) if one is not NoneType), annotation)
    attributes = {"type": TYPES.get(single, single), **metadata["attributes"]}
    if metadata["kind"] is click.Argument:
        return click.Argument([name], **attributes)
    if own_help is not None:
        attributes["help"] = own_help
    return click.Option([name, *name_option(name, metadata)], **attributes)


def name_option(name: str, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of an option that is declared under `name`, such as --batch-size."""
    return metadata["names"] or (f"--{name.replace('_', '-')}",)


def format_options(group: "DataclassInstance", *names: str) -> list[str]:
    """Return command-line words for each field in `names` that differs from its default."""
    words = []
    for one in fields(group):
        if one.name in names and (value := getattr(group, one.name)) != one.default:
            for each in value if isinstance(value, tuple) else (value,):
                words += [name_option(one.name, one.metadata)[0], str(each)]
    return words


def refuse_given(names: Collection[str], fact: str, hint: str = "leave it out") -> None:
    """Raise InputError, "--OPTION FACT", if the command line gives a parameter in `names`.

    `fact`, such as "is for a figure", follows the option's name.
    """
    context = click.get_current_context()
    for one in context.command.params:
        source = context.get_parameter_source(one.name or "")
        is_given = source is ParameterSource.COMMANDLINE
        require(one.name not in names or not is_given, f"{max(one.opts, key=len)} {fact}", hint)


def require_sentence(text: str) -> None:
    """Raise InputError if a sentence is the path of a file, or has bytes that are not UTF-8."""
    fact = f"{short_repr(text)} has bytes that are not UTF-8"
    require(not SURROGATE.search(text), fact, "set the terminal to UTF-8")
    fact = f"{shorten(text, 100)} is a file, and TEXT is a sentence"
    hint = f'"$(head -n 1 {shlex.quote(text)})" is its first line'
    is_file = os.path.isfile(text)  # noqa: PTH113 - Path refuses text that is too long for a name
    require(not is_file, fact, hint)


def require_writable(output: Path | None, *inputs: Path | None) -> None:
    """Refuse an output that is an input, would damage a run, model or store, or has no folder.

    Standard output (None, `-`, or a link such as /dev/stdout) is refused if it goes to an input.
    """
    if output is None or means_standard_output(output):
        for one in inputs:
            fact = f"{one} is read here, and is standard output, for which a shell empties it"
            require(not (one and is_standard_output(one)), fact, "another > OUTPUT, or -o OUTPUT")
        return
    folder = output.parent
    is_missing = not folder.exists()
    require_folder(folder, f"mkdir -p {shlex.quote(str(folder))}" if is_missing else OTHER_NAME)
    require_harmless_output(output)
    for one in inputs:
        if one and output.is_file() and is_file(one) and output.samefile(one):
            raise InputError("is read here, and would be overwritten", "another -o", file=output)


def is_standard_output(file: Path) -> bool:
    """Return whether standard output goes to this regular file, as by > FILE in a shell."""
    with suppress(OSError, ValueError):  # standard output has no file in a test
        return is_file(file) and os.path.samestat(os.fstat(sys.stdout.fileno()), file.stat())
    return False


def require_one_standard_input(*files: Path | str | None, hint: str = "name the other") -> None:
    """Refuse `-`, standard input, for more than one file."""
    fact = "standard input can be one of the files only"
    require([str(file) for file in files].count("-") < 2, fact, hint)


def output(about: str) -> Any:  # noqa: ANN401
    """Declare the option -o for a file that a command writes."""
    return option(about, "-o", "--output", type=OutputFile())


def output_folder(about: str, *, required: bool = True) -> Any:  # noqa: ANN401
    """Declare the option -o for a folder that a command writes."""
    return option(about, "-o", "--output", required=required)


settings = option(
    "Change one setting; may be repeated. `transduce recipes show NAME` lists them.",
    "--set",
    type=Change(),
    multiple=True,
)
languages = option(
    "Codes of both languages, such as en-fr (default: those of the run or model, or in the file "
    "names).",
    type=parse_languages,
    metavar="SOURCE-TARGET",
)
name = option(
    "The model's name (default: the recipe's, or one such as \"en-fr, 2+2 layers, 1,500 updates\")."
)
force = flag("Replace the model folder or export that is already at OUTPUT.")
scale = option(
    "Make the recipe smaller; `transduce recipes scales` describes the scales.",
    type=click.Choice(list(SCALES)),
)
as_json = flag("Print one JSON object per line.", "--json")


def build_switch(name: str, about: str) -> click.Option:
    """Build a flag whose value is stored where only the module `display` reads it."""

    def store(context: click.Context, parameter: click.Parameter, value: object) -> None:
        context.meta[f"transduce.{parameter.name}"] = value

    return click.Option([name], is_flag=True, expose_value=False, callback=store, help=about)


quiet = build_switch("--quiet", "Print only warnings and errors besides the result.")
no_progress = build_switch("--no-progress", "No live display, even on a terminal.")
