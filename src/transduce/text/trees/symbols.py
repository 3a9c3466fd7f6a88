"""The symbols of a linearised tree in three named forms, and their kinds.

    xx     (S (NP XX )NP (VP XX )VP )S          Vinyals, Kaiser et al. (2015); the default
    tags   (S (NP PRP )NP (VP VBZ )VP )S        the tag of each word in place of XX
    t2t    S NP PRP /NP VP VBZ /VP /S           tensor2tensor

The n-th symbol of kind WORD stands for the n-th word. In the form t2t, labels and tags share one
name space: a bare symbol X is a label if the list of all symbols has /X.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple, get_args

from transduce.errors import InputError
from transduce.text.trees.tree import Kind, Tree

Form = Literal["xx", "tags", "t2t"]
FORMS: tuple[Form, ...] = get_args(Form)
WORD_SYMBOL = "XX"
BRACKETS = {"xx": ("(", ")"), "tags": ("(", ")"), "t2t": ("", "/")}  # before a label


class Symbol(NamedTuple):
    """The kind of an output symbol, and the label of its constituent or the tag of its word."""

    kind: Kind
    label: str


def classify_symbol(symbol: str, form: Form, labels: Collection[str] = ()) -> Symbol:
    """Return the kind and label of an output symbol; only t2t needs the constituent `labels`.

    Raises InputError if the linearisation has no such symbol.
    """
    if form == "t2t":
        if symbol.startswith("/") and len(symbol) > 1:
            return Symbol(Kind.CLOSE, symbol[1:])
        return Symbol(Kind.OPEN if symbol in labels else Kind.WORD, symbol)
    if symbol.startswith("("):
        return Symbol(Kind.OPEN, symbol[1:])
    if symbol.startswith(")"):
        return Symbol(Kind.CLOSE, symbol[1:])
    if form == "xx" and symbol != WORD_SYMBOL:
        raise InputError(f"the form xx has no symbol {symbol!r}")
    return Symbol(Kind.WORD, symbol)


def classify_symbols(symbols: Sequence[str], form: Form) -> list[Symbol]:
    """Return the kind and label of each symbol in a complete list of a parser's output symbols.

    Raises InputError if a symbol is listed twice (in t2t, a tag that equals a label is), or if a
    label has only one of its two symbols.
    """
    if repeated := [symbol for symbol, count in Counter(symbols).items() if count > 1]:
        raise InputError(f"listed twice: {', '.join(repeated)}", tell_clash(form))
    labels = closed_labels(symbols)
    classified = [classify_symbol(one, form, labels) for one in symbols]
    of_kind = {kind: {one.label for one in classified if one.kind is kind} for kind in Kind}
    if unpaired := of_kind[Kind.OPEN] ^ of_kind[Kind.CLOSE]:
        raise InputError(f"one of two symbols is missing: label {', '.join(sorted(unpaired))}")
    return classified


def closed_labels(symbols: Iterable[str]) -> set[str]:
    """Return the labels X of all symbols /X, which close a constituent in the tree form t2t."""
    return {symbol[1:] for symbol in symbols if symbol.startswith("/") and len(symbol) > 1}


def collect_symbols(trees: Iterable[Tree], form: Form) -> list[str]:
    """Return the sorted list of all different symbols in the linearisations of the trees."""
    labels, tags = set[str](), set[str]()
    for tree in trees:
        labels.update(tree.labels)
        tags.update(tree.tags)
    require_no_clash(labels, tags, form)
    before, after = BRACKETS[form]
    words = [WORD_SYMBOL] if form == "xx" else sorted(tags)
    ordered = sorted(labels)
    return [*words, *(before + one for one in ordered), *(after + one for one in ordered)]


def require_no_clash(labels: Collection[str], tags: Collection[str], form: Form) -> None:
    """Raise InputError if a tag could be taken for a bracket symbol, or in t2t for a label."""
    if form == "xx":
        return
    taken = {tag for tag in tags if classify_symbol(tag, form, labels).kind is not Kind.WORD}
    if taken:
        raise InputError(
            f"the form {form} cannot tell these tags from brackets: {', '.join(sorted(taken))}",
            tell_clash(form),
        )


def tell_clash(form: Form) -> str:
    """Return the error hint for tags that equal labels, which only linearisation t2t confuses."""
    return "the forms xx and tags keep labels and tags apart" if form == "t2t" else ""
