"""Make docs/reference/python.md from the docstrings of the public API."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import transduce

ABOUT = """Made from docstrings by `scripts/renew-golden pages`; do not edit. The examples run as tests.
`import transduce` loads no torch; the functions load it when they are called. Nothing here prints or
ends the process: errors are exceptions (`transduce.errors`), and progress goes to callbacks. Settings
that change the whole process (the allocator) are described where a function makes them.
"""


def python_page() -> str:
    """Return the whole page: a section for each public function, value and class."""
    names = [name for name in transduce.__all__ if not name.startswith("_")]
    return "\n".join(["# Python\n", ABOUT, *("".join(section(name)) for name in names)])


def section(name: str) -> Iterator[str]:
    """Yield the section of one public name: its signature, its docstring, its members."""
    value = getattr(transduce, name)
    yield f"## transduce.{name}\n\n"
    if not callable(value):
        yield f"{inspect.getdoc(value) or ''}\n"
        return
    yield f"{described(f'transduce.{name}', value)}\n"
    for member, inner in public_members(value):
        yield f"\n### {value.__name__}.{member}\n\n{described(member, inner)}\n"


def public_members(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the methods and properties that a class of ours defines and documents."""
    if inspect.isclass(value):
        for member, inner in vars(value).items():
            public = not member.startswith("_") or member == "__call__"
            if public and inspect.getdoc(inner) and not isinstance(inner, type):
                yield member, inner


def described(name: str, value: Any) -> str:
    """Return signature and docstring as Markdown."""
    text = markdown(inspect.getdoc(value) or "")
    if isinstance(value, property) or not callable(value):
        return text
    return f"```python\n{signature(name, value)}\n```\n\n{text}"


def signature(name: str, value: Any) -> str:
    """Return a signature as the source has it, with annotations in their short form."""
    try:
        found = inspect.signature(value)
    except ValueError:
        return name
    shortened = list(arguments(found))
    head = f"{name}({', '.join(shortened)})"
    if len(head) > 90:
        head = f"{name}(\n" + "".join(f"    {one},\n" for one in shortened) + ")"
    returns = found.return_annotation
    if returns is inspect.Signature.empty or inspect.isclass(value):
        return head
    return f"{head} -> {short(returns)}"


def arguments(found: inspect.Signature) -> Iterator[str]:
    """Yield the arguments of a signature, and the star before those that are named in a call."""
    starred = False
    for one in found.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not starred:
            yield "*"
        starred |= one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        star = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        annotation = "" if one.annotation is one.empty else f": {short(one.annotation)}"
        default = "" if one.default is one.empty else f" = {one.default!r}"
        if one.name != "self":
            yield f"{star}{one.name}{annotation}{default}"


def short(annotation: object) -> str:
    """Return an annotation without quotes and without the modules before names of classes."""
    written = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"(?:\b[a-z_]+\.)+(?=[A-Z])", "", written.replace("'", "").replace('"', ""))


def markdown(doc: str) -> str:
    """Return a docstring with its examples as blocks of code."""
    parts = re.split(
        r"((?:^>>> .*\n?(?:^(?!>>>)\S.*\n?|^\.\.\. ?.*\n?)*)+)", doc, flags=re.MULTILINE
    )
    blocks = [f"```python\n{p.rstrip()}\n```\n" if p.startswith(">>>") else p for p in parts]
    return "".join(blocks).rstrip()
