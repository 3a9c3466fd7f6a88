"""Removes comments and whitespace from a page's script and style sheet; keeps names as they are.

Lines are joined where a bracket, a comma or a semicolon divides them; `const` becomes `let`. The
rules hold for this package's own scripts, in which every statement ends with a semicolon, a
division has a space on each side, and no template literal is inside of another.
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

SCRIPT_TOKEN = re.compile(
    r"""
    (?P<comment>/\*.*?\*/|(?<![:\\"'])//[^\n]*)
    | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)
    | (?P<pattern>/(?![\s/*=])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*)
    | (?P<newline>\s*\n\s*)
    | (?P<space>[ \t]+)
    | (?P<other>[\w$\u0080-\uffff]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
STYLE_NAME = re.compile(r'="([a-z-]+)"]')  # an attribute's value that needs no quotes
STYLE_BLANK = re.compile(
    r"/\*.*?\*/|(?<=[{};:,])[ \t]+|[ \t]+(?=[{}])|;\s*(?=})|(?<=[ :(,])0(?=\.\d)", re.DOTALL
)


@cache
def squeeze_script(script: str) -> str:
    """Return a script without comments, indentation and needless spaces; `const` becomes `let`."""
    kept = ["\n"]
    tokens = [one for one in SCRIPT_TOKEN.finditer(script) if one.lastgroup != "comment"]
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        text = token[0]
        if token.lastgroup in ("newline", "space"):
            text = squeeze_space(kept[-1][-1], text, following[0][0] if following else "\n")
        if text == "}" and kept[-1] in (";", ","):
            kept.pop()
        if text == "0" and following and following[0] == ".":
            continue  # .5 for 0.5
        if text:
            kept.append(text)
    joined = join_names("let" if token == "const" else token for token in kept[1:])
    # Statements end with semicolons, so that a line end behind a block or a condition is needless.
    lines = (two for two in pairwise(["", *joined]) if two not in ((")", "\n"), ("}", "\n")))
    return "".join(token for _, token in lines)


def join_names(tokens: Iterable[str]) -> list[str]:
    """Return tokens with adjacent declarations joined: `let a=1;let b=2` becomes `let a=1,b=2`."""
    kept, first = list[str](), [""]  # first: for each bracket depth, the statement's first word
    for token in tokens:
        if token == "let" and kept[-1:] == [";"] and first[-1] == "let":
            kept[-1] = ","
        elif not (token == " " and kept[-1:] == [","]):
            kept.append(token)
        if token in ("(", "[", "{"):
            first.append("")
        elif token in (")", "]", "}") and len(first) > 1:
            first.pop()
        elif kept[-2:-1] in ([";"], ["{"], ["\n"], []) or kept[-1] == "\n":
            first[-1] = token
    return kept


def squeeze_space(before: str, space: str, after: str) -> str:
    """Return a line end, a space or "" for the whitespace between two JavaScript characters."""
    if "\n" not in space:
        are_signs = before in "+-/" and after in "+-/"
        are_word_characters = all(one.isalnum() or one in "_$" for one in (before, after))
        return " " if are_signs or are_word_characters else ""
    is_indented = space.endswith(" ")
    if before in "\n;" or (is_indented and (before in "{,([" or after in "})].?:")):
        return ""
    return "\n" if is_indented or after not in "})]" else ""


def squeeze_style(style: str) -> str:
    """Return a style sheet without comments, indentation and spaces around its punctuation."""
    lines = (line.strip() for line in STYLE_BLANK.sub("", style).splitlines())
    joined = "".join(f"{line}\n" for line in lines if line)
    return re.sub(r"(?<=[{};,])\n|\n(?=})", "", STYLE_NAME.sub(r"=\1]", joined))
