"""Script, style and markup of a page, joined from files of the package in a fixed order."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import final

from transduce.view.page.squeeze import squeeze_script, squeeze_style

PACKAGE = "transduce.view"


@final
@dataclass(frozen=True)
class PageParts:
    """The files of a page in the order in which they are joined, as paths below `view/`."""

    scripts: tuple[str, ...]
    styles: tuple[str, ...]
    markup: str
    connect: str = "'none'"  # what the script may connect to: "'self'" for its own server
    forms: str = "'none'"  # where forms may be sent


def read_part(path: str) -> str:
    """Return the text of a file of the package, such as "page/theme.css"."""
    part = files(PACKAGE).joinpath(*path.split("/"))
    return part.read_text(encoding="utf-8").replace("\r\n", "\n")


def join_scripts(paths: Iterable[str]) -> str:
    """Join script modules to one strict-mode script, in which no name is global."""
    modules = squeeze_script("".join(map(read_part, paths)))
    return f'(()=>{{\n"use strict";\n{modules}}})();\n'


def join_styles(paths: Iterable[str]) -> str:
    """Return the style sheets at these paths, joined to one."""
    return "".join(squeeze_style(read_part(path)) for path in paths)
