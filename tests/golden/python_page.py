"""Make docs/reference/python.md from the docstrings of the public API."""

import ast
import dataclasses
import importlib
import inspect
import re
import sys
import textwrap
import types
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import transduce
from transduce.runs import choice, mix

ABOUT = """\
Made from docstrings by `scripts/renew-golden pages`; do not edit. The examples run as tests.
`import transduce` loads no torch; functions are imported when they are first used. Nothing here
prints or ends the process: errors are exceptions with a fact and a hint, and progress goes to
callbacks. What changes the whole process is stated where a function does it. In signatures

- `PathName` is `str | PathLike[str]`
- `Text` is a file or a list of lines: `Path | str | Sequence[str]`
- `Texts` is a parallel text: a pair of files, a TSV file, pairs of strings, the name of a fetched
  corpus, or what `transduce.mix` returns
- `Weights` maps files to weights: `Mapping[PathName, float | tuple[float, int, int]]`
- `Value` is that of a setting: `str | int | float | bool`
"""
ABOUT_CLASSES = """\
What the functions take and return. Below a class stand its fields, and `as_json()` if it returns
the object as plain values for JSON.
"""
RETURNED = (  # classes that the public functions take or return
    "transduce.runs.training_run:TrainingRun",
    "transduce.paper.training:Update",
    "transduce.training.progress:Progress",
    "transduce.training.progress:ValidationResult",
    "transduce.runs.prepared_corpus:PreparedCorpus",
    "transduce.runs.sweep:SweepRow",
    "transduce.inference.average:AveragedModel",
    "transduce.runs.import_model:ImportedModel",
    "transduce.runs.fetch:FetchedCorpus",
    "transduce.runs.verify:VerifiedPart",
    "transduce.view.curves.curves:RunCurve",
    "transduce.view.curves.curves:CurvePoint",
    "transduce.inference.translator:Translator",
    "transduce.inference.outputs:Output",
    "transduce.inference.lines:LineWarning",
    "transduce.inference.documents:TranslatedDocument",
    "transduce.inference.alignment:Alignment",
    "transduce.inference.choose_heads:AlignmentChoice",
    "transduce.inference.choose_heads:ScoredHeads",
    "transduce.settings.alignment:AlignmentHeads",
    "transduce.inference.evaluate:Evaluation",
    "transduce.scores.score:Score",
    "transduce.scores.scoring:Comparison",
    "transduce.scores.brackets.report:BracketReport",
    "transduce.scores.spans:SpanReport",
    "transduce.exports.export:Export",
    "transduce.settings.recipe:Recipe",
    "transduce.view.attention.attend:Attention",
    "transduce.view.explainer.explain:Explainer",
    "transduce.view.attention.record:AttentionView",
    "transduce.view.attention.survey.survey:HeadSurvey",
    "transduce.view.attention.survey.survey:SurveyedHead",
)
EXAMPLE = re.compile(r"(?:^|(?<=\n\n))((?: {4}.*\n?|\n(?= {4}))+)")
# What a dataclass has by itself is no part of its documentation.
GENERATED = re.compile(r"^\w+\(.*\)$", re.DOTALL)
JUST_JSON = re.compile(r"Return .* as (plain values for )?JSON( values)?\.")
INTERNAL = frozenset(  # methods that other parts of transduce call
    {
        *("AlignmentHeads.require_in", "Progress.after_update", "Progress.after_validation"),
        *("Progress.as_json", "Translator.aligner", "Translator.align_block"),
        *("Translator.decode_sources", "Translator.keeps_items", "Translator.on_warning"),
        *("Translator.run_on_blocks", "Translator.run_on_pairs", "Translator.score_block"),
        *("Translator.search_block", "Translator.translate_block", "Translator.worker_loader"),
    }
)
STARS: dict[object, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def python_page() -> str:
    """Return the whole page: functions, packages, then the classes that they take and return."""
    names = [name for name in transduce.__all__ if not name.startswith("_")]
    functions = ["".join(function_section(name)) for name in names]
    classes = ["".join(class_section(value)) for value in public_classes()]
    head = f"## Classes\n\n{ABOUT_CLASSES}"
    return "\n".join(["# Python\n", ABOUT, *functions, head, *classes])


def function_section(name: str) -> Iterator[str]:
    """Yield the section of a public function, or the first line about a public package."""
    value = getattr(transduce, name)
    yield f"## transduce.{name}\n\n"
    if isinstance(value, types.ModuleType):
        yield f"{module_text(value)}\n"
    else:
        yield f"{described(f'transduce.{name}', value)}\n"


def module_text(module: types.ModuleType) -> str:
    """Return the docstring of a package, its public names, and a section for each function."""
    doc = markdown(inspect.getdoc(module) or "")
    names = sorted(getattr(module, "__all__", ()))
    others = [
        f"`{name}`" for name in names if not isinstance(getattr(module, name), types.FunctionType)
    ]
    head = f"{doc}\n\nIt also has {', '.join(others)}." if others else doc
    functions = [
        f"### {path}\n\n{described(path, getattr(module, name))}"
        for name in names
        if isinstance(getattr(module, name), types.FunctionType)
        for path in [f"{module.__name__}.{name}"]
    ]
    return "\n\n".join([head, *functions])


def public_classes() -> Iterator[type]:
    """Yield the classes that the public functions take or return."""
    for path in RETURNED:
        module, name = path.split(":")
        yield getattr(importlib.import_module(module), name)


def class_section(value: type) -> Iterator[str]:
    """Yield the section of a class: its docstring, its fields, its methods."""
    name = value.__name__
    yield f"### {name}\n\n"
    yield f"{markdown(written_doc(value))}\n"
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    names = [f"`{field.name}: {short(field.type)}`" for field in fields]
    members = dict(public_members(value))
    if "as_json" in members and JUST_JSON.fullmatch(inspect.getdoc(members["as_json"]) or ""):
        names.append("`as_json()`")
        del members["as_json"]
    yield f"\n{', '.join(names)}\n" if names else ""
    for member, inner in members.items():
        yield f"\n#### {name}.{member}\n\n{described(member, inner)}\n"


def written_doc(value: object) -> str:
    """Return a docstring that somebody wrote; a dataclass makes one of its fields otherwise."""
    doc = inspect.getdoc(value) or ""
    return "" if GENERATED.match(doc) else doc


def public_members(value: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that a class itself documents."""
    for member, inner in vars(value).items():
        public = not member.startswith("_") or member == "__call__"
        public = public and f"{value.__name__}.{member}" not in INTERNAL
        if public and isinstance(inner, property | types.FunctionType) and inner.__doc__:
            yield member, inner


def described(name: str, value: Any) -> str:
    """Return signature and docstring as Markdown."""
    text = markdown(inspect.getdoc(value) or "")
    if isinstance(value, property):
        return text
    forms = [overload_signature(name, value, node) for node in overloads(value)]
    signatures = "\n".join(forms or [signature(name, value)])
    return f"```python\n{signatures}\n```\n\n{text}"


def overloads(value: Any) -> Iterator[ast.FunctionDef]:
    """Yield the overloads of a function or method, as its module's source has them.

    `typing.get_overloads` knows the last one only where the calls are checked by jaxtyping.
    """
    source = ast.parse(inspect.getsource(sys.modules[value.__module__]))
    for node in ast.walk(source):
        if isinstance(node, ast.FunctionDef) and node.name == value.__name__:
            marks = [mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)]
            if "overload" in marks:
                yield node


def overload_signature(name: str, value: Any, node: ast.FunctionDef) -> str:
    """Return the signature of an overload, formed as that of a function is."""
    known = inspect.signature(value).parameters
    parts: list[str] = []
    for one in [*node.args.args, node.args.vararg, *node.args.kwonlyargs]:
        if one is None or one.arg == "self":
            continue
        kind = known[one.arg].kind
        if kind is inspect.Parameter.KEYWORD_ONLY and not any(p.startswith("*") for p in parts):
            parts.append("*")
        defaults = {key.arg: d for key, d in defaults_of(node.args) if d is not None}
        given = f" = {plain(known[one.arg].default)}" if one.arg in defaults else ""
        parts.append(f"{STARS.get(kind, '')}{one.arg}: {annotated(one.annotation)}{given}")
    return f"{call(name, parts)} -> {annotated(node.returns)}"


def defaults_of(args: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """Yield every argument of an overload with its default, None without one."""
    without = len(args.args) - len(args.defaults)
    yield from zip(args.args[without:], args.defaults, strict=True)
    yield from zip(args.kwonlyargs, args.kw_defaults, strict=True)


def annotated(annotation: ast.expr | None) -> str:
    """Return an annotation as the page writes it, lists of texts in full."""
    assert annotation is not None
    return re.sub(r"\bTexts\b", "list[str] | tuple[str, ...]", short(ast.unparse(annotation)))


def signature(name: str, value: Any) -> str:
    """Return a signature in one line, or one argument a line if it is long."""
    found = inspect.signature(value)
    head = call(name, list(arguments(found)))
    returns = found.return_annotation
    return head if returns is inspect.Signature.empty else f"{head} -> {short(returns)}"


def call(name: str, parts: list[str]) -> str:
    """Return a call of a function in one line, or with one argument a line if it is long."""
    line = f"{name}({', '.join(parts)})"
    if len(line) <= 90:
        return line
    return f"{name}(\n" + "".join(f"    {one},\n" for one in parts) + ")"


def arguments(found: inspect.Signature) -> Iterator[str]:
    """Yield the arguments of a signature, and the star before those that are named in a call."""
    starred = False
    for one in found.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not starred:
            yield "*"
        starred |= one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        star = STARS.get(one.kind, "")
        annotation = "" if one.annotation is one.empty else f": {short(one.annotation)}"
        default = "" if one.default is one.empty else f" = {plain(one.default)}"
        if one.name != "self":
            yield f"{star}{one.name}{annotation}{default}"


def plain(default: object) -> str:
    """Return a default as it is written; a function by its name, a record without its fields."""
    if dataclasses.is_dataclass(default):
        return f"{type(default).__name__}(…)"
    return getattr(default, "__name__", repr(default))


def short(annotation: object) -> str:
    """Return an annotation without quotes and modules, and with the names of what recurs."""
    found = without_modules(annotation)
    for long, name in NAMED.items():
        found = found.replace(long, name)
    return found


def without_modules(annotation: object) -> str:
    """Return an annotation without quotes and without the modules before names of classes."""
    written = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"(?:\b[a-z_]+\.)+(?=[A-Za-z])", "", re.sub(r"['\"]", "", written))


NAMED = {
    without_modules(long): name
    for long, name in (
        (mix.Weights, "Weights"),
        (choice.Texts | Literal[False] | None, "Texts | Literal[False] | None"),
        (choice.Texts, "Texts"),
        (str | PathLike[str], "PathName"),
        (Path | str | Sequence[str], "Text"),
        (str | int | float | bool, "Value"),
    )
}


def markdown(doc: str) -> str:
    """Return a docstring with its indented examples as blocks of code."""
    return EXAMPLE.sub(lambda found: f"```python\n{dedented(found)}\n```\n", f"{doc}\n").strip()


def dedented(found: "re.Match[str]") -> str:
    return textwrap.dedent(found[1]).strip()


def examples(doc: str) -> list[str]:
    """Return the indented examples of a docstring as code."""
    return [dedented(found) for found in EXAMPLE.finditer(f"{doc}\n")]
