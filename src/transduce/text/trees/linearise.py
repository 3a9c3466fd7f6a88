"""Linearisation of a tree as a sequence of symbols, and its strict inverse    (section 6.3)

A tree has four forms:

    xx         (S (NP XX )NP (VP XX )VP )S          Vinyals, Kaiser et al. (2015); the default
    numbered   (S (NP XX1 )NP (VP XX2 )VP )S        the number of each word, from 1 to 64 in turn
    tags       (S (NP PRP )NP (VP VBZ )VP )S        the tag of each word in place of XX
    t2t        S NP PRP /NP VP VBZ /VP /S           tensor2tensor

The n-th symbol of kind WORD stands for the n-th word. In the form t2t, labels and tags share one
name space: a bare symbol X is a label if the list of all symbols has /X.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import cycle, islice
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from transduce.errors import InputError
from transduce.settings.fields import require
from transduce.text.trees.tree import SymbolKind, Tree, TreeBuilder, require_one_per_word

Form = Literal["xx", "numbered", "tags", "t2t"]
FORMS: tuple[Form, ...] = get_args(Form)
WORD_SYMBOL = "XX"
# The word after the 64th is XX1 again, so that long sentences have no rare symbols.
NUMBERED_SYMBOLS = tuple(f"{WORD_SYMBOL}{number}" for number in range(1, 65))
# The prefix of the label in an opening and in a closing symbol.
BRACKETS = {form: ("", "/") if form == "t2t" else ("(", ")") for form in FORMS}

# The word symbols of each form without tags.
WORD_SYMBOLS: Mapping[Form, Sequence[str]] = MappingProxyType(
    {"xx": (WORD_SYMBOL,), "numbered": NUMBERED_SYMBOLS}
)


class Symbol(NamedTuple):
    """A parsed symbol of a linearised tree: its kind, and its constituent's label or word's tag."""

    kind: SymbolKind
    label: str


def linearise(tree: Tree, form: Form) -> list[str]:
    """Return a tree as a list of symbols, such as (S (NP XX )NP (VP XX )VP )S in the form xx."""
    require_no_clash(set(tree.labels), set(tree.tags), form)
    before, after = BRACKETS[form]
    words = list(islice(cycle(WORD_SYMBOLS.get(form, tree.tags)), len(tree.words)))
    symbols = {
        SymbolKind.OPEN: [before + label for label in tree.labels],
        SymbolKind.WORD: words,
        SymbolKind.CLOSE: [after + label for label in tree.labels],
    }
    return [symbols[step.kind][step.number] for step in tree.walk()]


def delinearise(
    symbols: Sequence[str],
    words: Sequence[str],
    form: Form,
    tags: Sequence[str] | None = None,
    labels: Collection[str] | None = None,
) -> Tree:
    """Return the tree that symbols describe over the words; raise InputError if malformed.

    In the forms tags and t2t the symbols hold the part-of-speech tags; in the others these are
    `tags`, by default XX for each word. Only the form t2t needs `labels`, the constituent labels;
    by default these are all X with a closing symbol /X.
    """
    if tags is None:
        tags = (WORD_SYMBOL,) * len(words)
    require_one_per_word("tags", tags, words)
    labels = find_closed_labels(symbols) if labels is None else labels
    builder = TreeBuilder()
    for number, text in enumerate(symbols, start=1):
        try:
            symbol = classify_symbol(text, form, labels)
            require_legal(symbol, builder, len(words))
            require(not has_wrong_number(symbol, len(builder.words), form), "it has a wrong number")
        except InputError as error:
            raise InputError(f"symbol {number} ({text}): {error.fact}", error.hint) from None
        apply_symbol(symbol, builder, words, tags if form in WORD_SYMBOLS else None)
    require_complete(builder, len(words))
    return builder.build()


def require_legal(symbol: Symbol, builder: TreeBuilder, words: int) -> None:
    """Raise InputError if a symbol cannot come next in an unfinished tree of `words` words."""
    is_inside = bool(builder.open_indices)
    if builder.labels and not is_inside:
        raise InputError("the tree has ended before it")
    if symbol.kind is SymbolKind.CLOSE:
        require_legal_closing(symbol.label, builder)
    elif symbol.kind is SymbolKind.WORD:
        if not is_inside:
            raise InputError("a word outside of the tree")
        if len(builder.words) == words:
            raise InputError(f"one word too many, the sentence has {words}")


def require_legal_closing(label: str, builder: TreeBuilder) -> None:
    """Raise InputError unless the innermost open constituent has this label and at least a word."""
    if not builder.open_indices:
        raise InputError("it closes nothing")
    top = builder.open_indices[-1]
    if builder.labels[top] != label:
        raise InputError(f"it closes a constituent {builder.labels[top]}")
    if builder.starts[top] == len(builder.words):
        raise InputError("it closes a constituent without words")


def apply_symbol(
    symbol: Symbol, builder: TreeBuilder, words: Sequence[str], tags: Sequence[str] | None
) -> None:
    """Add a symbol, which must be legal, to an unfinished tree.

    A word's tag is from `tags` if they are given, else from its symbol.
    """
    if symbol.kind is SymbolKind.OPEN:
        builder.open_constituent(symbol.label)
    elif symbol.kind is SymbolKind.CLOSE:
        builder.close_constituent()
    else:
        word = len(builder.words)
        builder.add_word(words[word], symbol.label if tags is None else tags[word])


def require_complete(builder: TreeBuilder, words: int) -> None:
    """Raise InputError unless a tree has all its `words` words and no open constituent."""
    if not builder.labels:
        raise InputError("no symbols, and so no tree")
    if builder.open_indices:
        label = builder.labels[builder.open_indices[-1]]
        raise InputError(f"the symbols end before the constituent {label} is closed")
    if len(builder.words) < words:
        raise InputError(f"the symbols end after {len(builder.words)} of {words} words")


def classify_symbol(symbol: str, form: Form, labels: Collection[str] = ()) -> Symbol:
    """Return a symbol's kind and label; the form t2t also needs all constituent labels.

    Raises InputError if the form has no symbol of this name.
    """
    if form == "t2t":
        if symbol.startswith("/") and len(symbol) > 1:
            return Symbol(SymbolKind.CLOSE, symbol[1:])
        return Symbol(SymbolKind.OPEN if symbol in labels else SymbolKind.WORD, symbol)
    if symbol.startswith("("):
        return Symbol(SymbolKind.OPEN, symbol[1:])
    if symbol.startswith(")"):
        return Symbol(SymbolKind.CLOSE, symbol[1:])
    if symbol not in WORD_SYMBOLS.get(form, (symbol,)):
        raise InputError(f"the form {form} has no symbol {symbol!r}")
    return Symbol(SymbolKind.WORD, symbol)


def classify_symbols(symbols: Sequence[str], form: Form) -> list[Symbol]:
    """Return the kind and label of each symbol; `symbols` are all that a parser can write.

    Raises InputError if a label lacks its opening or its closing symbol, or if a symbol is listed
    twice. In the form t2t, a tag that equals a label is listed twice.
    """
    if repeated := [symbol for symbol, count in Counter(symbols).items() if count > 1]:
        raise InputError(f"listed twice: {', '.join(repeated)}", clash_hint(form))
    labels = find_closed_labels(symbols)
    classified = [classify_symbol(one, form, labels) for one in symbols]
    of_kind = {kind: {one.label for one in classified if one.kind is kind} for kind in SymbolKind}
    if unpaired := of_kind[SymbolKind.OPEN] ^ of_kind[SymbolKind.CLOSE]:
        raise InputError(f"one of two symbols is missing: label {', '.join(sorted(unpaired))}")
    return classified


def has_wrong_number(symbol: Symbol, index: int, form: Form) -> bool:
    """Return whether a symbol of the form "numbered", such as XX3, is wrong for word `index`."""
    numbered = form == "numbered" and symbol.kind is SymbolKind.WORD
    return numbered and symbol.label != NUMBERED_SYMBOLS[index % len(NUMBERED_SYMBOLS)]


def find_closed_labels(symbols: Iterable[str]) -> set[str]:
    """Return all labels X with a closing symbol /X, as which t2t's format closes brackets."""
    return {symbol[1:] for symbol in symbols if symbol.startswith("/") and len(symbol) > 1}


def require_no_clash(labels: Collection[str], tags: Collection[str], form: Form) -> None:
    """Raise InputError if a part-of-speech tag would be taken for an opening or closing symbol."""
    if form in WORD_SYMBOLS:
        return
    taken = {tag for tag in tags if classify_symbol(tag, form, labels).kind is not SymbolKind.WORD}
    if taken:
        raise InputError(
            f"the form {form} cannot tell these tags from brackets: {', '.join(sorted(taken))}",
            clash_hint(form),
        )


def clash_hint(form: Form) -> str:
    """Return an error's hint to use another form than t2t, or "" if the form is not t2t."""
    return "the other forms keep labels and tags apart" if form == "t2t" else ""
