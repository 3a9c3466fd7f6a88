"""Linearisation of a tree as a sequence of symbols, and its strict inverse    (section 6.3)"""

from collections.abc import Collection, Sequence
from itertools import cycle, islice

from transduce.errors import InputError
from transduce.settings.fields import require
from transduce.text.trees.build import TreeBuilder
from transduce.text.trees.symbols import (
    BRACKETS,
    WORD_SYMBOL,
    WORD_SYMBOLS,
    Form,
    Symbol,
    classify_symbol,
    find_closed_labels,
    has_wrong_number,
    require_no_clash,
)
from transduce.text.trees.tree import SymbolKind, Tree, require_one_per_word


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
    """Extend an unfinished tree by a legal symbol; `tags`, if given, replace tags in symbols."""
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
