"""Trees as brackets, either one line per tree, as EVALB reads them, or indented."""

import re

from transduce.errors import InputError
from transduce.text.trees.tree import SymbolKind, Tree
from transduce.text.words import BLANKS, escape_brackets

BLANK = re.compile(f"[{BLANKS}]")
INDENT = 2  # spaces per nesting level
# Limits the size of the text: full indentation of 10,000 levels would take 100 MB of spaces.
MAX_INDENT = 80


def format_tree(tree: Tree, *, outer: str = "TOP") -> str:
    """Return a tree as one line of brackets with label `outer` around it: (TOP (S (NN dog))).

    No outer bracket is written if `outer` is "" or already the root's label. A ( or ) in a word is
    written -LRB- or -RRB-.
    """
    pieces = list[str]()
    for step in tree.walk():
        if step.kind is SymbolKind.OPEN:
            pieces.append(f" ({format_atom(tree.labels[step.number])}")
        elif step.kind is SymbolKind.WORD:
            pieces.append(f" {format_leaf(tree, step.number)}")
        else:
            pieces.append(")")
    brackets = "".join(pieces)[1:]
    return f"({outer} {brackets})" if outer and tree.labels[:1] != (outer,) else brackets


def format_indented(tree: Tree) -> str:
    """Return a tree as indented lines of brackets; each constituent starts a new line."""
    level, lines = 0, list[str]()
    previous = SymbolKind.CLOSE
    for step in tree.walk():
        if step.kind is SymbolKind.CLOSE:
            lines[-1] += ")"
            level -= 1
        elif step.kind is SymbolKind.OPEN:
            lines.append(f"{indent(level)}({format_atom(tree.labels[step.number])}")
            level += 1
        elif previous is SymbolKind.CLOSE:
            lines.append(indent(level) + format_leaf(tree, step.number))
        else:
            lines[-1] += f" {format_leaf(tree, step.number)}"
        previous = step.kind
    return "\n".join(lines)


def indent(level: int) -> str:
    """Return the spaces that start a line at a nesting level."""
    return " " * min(INDENT * level, MAX_INDENT)


def format_leaf(tree: Tree, index: int) -> str:
    """Return word `index` and its tag as a leaf (TAG WORD); raise InputError if one is empty."""
    tag, word = tree.tags[index], tree.words[index]
    if not tag or not word:
        raise InputError(f"word {index + 1} of a tree or its tag is empty: ({tag} {word})")
    return f"({format_atom(tag)} {format_atom(word)})"


def format_atom(text: str) -> str:
    """Return a word, tag or label with ( and ) escaped; raise InputError if it has whitespace."""
    if BLANK.search(text):
        raise InputError(f"a word, tag or label of a tree holds whitespace: {text[:60]!r}")
    return escape_brackets(text)
