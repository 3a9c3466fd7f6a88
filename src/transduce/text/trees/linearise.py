"""A tree as a sequence of symbols, and the tree built from any sequence of symbols    (section 6.3)

A tree has four forms:

    xx         (S (NP XX )NP (VP XX )VP )S          Vinyals, Kaiser et al. (2015); the default
    numbered   (S (NP XX1 )NP (VP XX2 )VP )S        the number of each word, from 1 to 64 in turn
    tags       (S (NP PRP )NP (VP VBZ )VP )S        the tag of each word in place of XX
    t2t        S NP PRP /NP VP VBZ /VP /S           tensor2tensor

The n-th symbol of kind WORD stands for the n-th word. In the form t2t, labels and tags share one
name space: a bare symbol X is a label if the list of all symbols has /X.

A parser without a constraint may write a malformed sequence. Vinyals, Kaiser et al. (2015) add
brackets at the beginning or the end until they balance. The rules here do so too, and cover all
other errors:

- a closing bracket that closes nothing gets an opening bracket at the front;
- a closing bracket closes the open bracket even if their labels differ; the opening label counts;
- open brackets are closed at the end;
- surplus words are dropped, and constituents without words are removed;
- if there is one outermost constituent, words missing from it are added to it;
- if there are several outermost constituents, or none, a new root is added over all words.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Literal, NamedTuple, final, get_args

from transduce.errors import InputError
from transduce.text.trees.tree import Constituent, SymbolKind, Tree, require_one_per_word

Form = Literal["xx", "numbered", "tags", "t2t"]
FORMS: tuple[Form, ...] = get_args(Form)
WORD_SYMBOL = "XX"
ROOT = "S"  # the label of a root that repair adds
# The word after the 64th is XX1 again, so that long sentences have no rare symbols.
NUMBERED_SYMBOLS = tuple(f"{WORD_SYMBOL}{number}" for number in range(1, 65))
# The prefix of the label in an opening and in a closing symbol.
BRACKETS = {form: ("", "/") if form == "t2t" else ("(", ")") for form in FORMS}

# The word symbols of each form without tags.
WORD_SYMBOLS: Mapping[Form, Sequence[str]] = {"xx": (WORD_SYMBOL,), "numbered": NUMBERED_SYMBOLS}


class Symbol(NamedTuple):
    """A parsed symbol of a linearised tree: its kind, and its text without the bracket."""

    kind: SymbolKind
    label: str


def linearise(tree: Tree, form: Form) -> list[str]:
    """Return a tree as a list of symbols, such as (S (NP XX )NP (VP XX )VP )S in the form xx.

    Raises InputError if a tag would be taken for an opening or closing symbol.
    """
    require_no_clash(set(tree.labels), set(tree.tags), form)
    before, after = BRACKETS[form]
    words = list(islice(cycle(WORD_SYMBOLS.get(form, tree.tags)), len(tree.words)))
    symbols = {
        SymbolKind.OPEN: [before + label for label in tree.labels],
        SymbolKind.WORD: words,
        SymbolKind.CLOSE: [after + label for label in tree.labels],
    }
    return [symbols[step.kind][step.number] for step in tree.walk()]


def classify_symbol(symbol: str, form: Form, labels: Collection[str] = ()) -> Symbol:
    """Return a symbol's kind and label; InputError if `form` has no such symbol.

    Only the form t2t needs `labels`, the constituent labels.
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
    """Return kind and label of each symbol; InputError if one is repeated or a pair is incomplete.

    Raises InputError if a label lacks its opening or its closing symbol in this `form` (xx,
    numbered, tags or t2t), or if a symbol is listed twice, as when a tag equals a label in t2t.
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
    """Return whether a word symbol of the form "numbered" has the wrong number for word `index`."""
    numbered = form == "numbered" and symbol.kind is SymbolKind.WORD
    return numbered and symbol.label != NUMBERED_SYMBOLS[index % len(NUMBERED_SYMBOLS)]


def find_closed_labels(symbols: Iterable[str]) -> set[str]:
    """Return every label X whose closing symbol /X, of the form t2t, is among the symbols."""
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
    """Return an error's hint to use a form other than t2t; "" if the form is not t2t."""
    return "the other forms keep labels and tags apart" if form == "t2t" else ""


@final
@dataclass
class Repair:
    """Counts of the changes, by kind, that turned a parser's output symbols into a tree."""

    symbols_dropped: int = 0  # symbols that the linearisation does not have
    openings_added: int = 0
    closings_added: int = 0
    numbers_ignored: int = 0  # word symbols whose number is not that of the next word
    labels_ignored: int = 0  # closing brackets whose label is not that of the opening one
    words_dropped: int = 0
    words_added: int = 0
    words_moved: int = 0  # words that were outside the outermost constituent
    constituents_dropped: int = 0  # constituents without words
    roots_added: int = 0


def repair_symbols(
    symbols: Sequence[str],
    words: Sequence[str],
    tags: Sequence[str],
    form: Form,
    labels: Collection[str],
) -> tuple[Tree, Repair]:
    """Build a tree over all words from any symbols; return it and counts of the repairs made.

    In the forms tags and t2t the symbols hold the part-of-speech tags. Otherwise, and for a word
    without a symbol, the tags come from `tags`. Only the form t2t needs `labels`, the constituent
    labels. A root that has to be added has the label S. Raises InputError only if there are no
    words, or if `tags` does not have one tag per word.
    """
    if not words:
        raise InputError("a tree needs at least one word")
    require_one_per_word("tags", tags, words)
    repair = Repair()
    read, found = read_symbols(symbols, form, labels, len(words), repair)
    constituents = add_root(found, len(read), len(words), repair)
    all_tags = tuple(tags) if form in WORD_SYMBOLS else (*read, *tags[len(read) :])
    all_labels, starts, ends = zip(*constituents, strict=True)
    return Tree(tuple(words), all_tags, all_labels, starts, ends), repair


def read_symbols(
    symbols: Sequence[str], form: Form, labels: Collection[str], words: int, repair: Repair
) -> tuple[list[str], list[Constituent]]:
    """Return the labels of up to `words` word symbols, and the constituents in preorder.

    A constituent may be without words, and several may be outermost. The repairs are counted in
    `repair`.
    """
    read, open_indices = list[str](), list[int]()
    found = list[Constituent]()  # the end is -1 while open
    in_front = list[Constituent]()  # those without an opening bracket, innermost first
    for text in symbols:
        try:
            symbol = classify_symbol(text, form, labels)
        except InputError:
            repair.symbols_dropped += 1
            continue
        repair.numbers_ignored += has_wrong_number(symbol, len(read), form)
        if symbol.kind is SymbolKind.OPEN:
            open_indices.append(len(found))
            found.append(Constituent(symbol.label, len(read), -1))
        elif symbol.kind is SymbolKind.CLOSE and open_indices:
            index = open_indices.pop()
            repair.labels_ignored += found[index].label != symbol.label
            found[index] = found[index]._replace(end=len(read))
        elif symbol.kind is SymbolKind.CLOSE:
            in_front.append(Constituent(symbol.label, 0, len(read)))
        elif len(read) < words:
            read.append(symbol.label)
        else:
            repair.words_dropped += 1
    repair.openings_added, repair.closings_added = len(in_front), len(open_indices)
    closed = [one._replace(end=len(read)) if one.end < 0 else one for one in found]
    return read, [*reversed(in_front), *closed]


def add_root(
    found: Sequence[Constituent], read: int, words: int, repair: Repair
) -> list[Constituent]:
    """Return constituents in preorder with one root over all `words`, of which `read` were read.

    Constituents without words are left out. The repairs are counted in `repair`.
    """
    kept = [one for one in found if one.start < one.end]
    repair.constituents_dropped += len(found) - len(kept)
    repair.words_added += words - read
    outer = find_outermost(kept)
    if len(outer) != 1:
        repair.roots_added += 1
        return [Constituent(ROOT, 0, words), *kept]
    (root,) = outer
    repair.words_moved += read - (root.end - root.start)
    return [root._replace(start=0, end=words), *kept[1:]]


def find_outermost(constituents: Sequence[Constituent]) -> list[Constituent]:
    """Return the constituents, given in preorder, that are not inside another constituent."""
    found = list[Constituent]()
    for one in constituents:
        if not found or one.start >= found[-1].end:
            found.append(one)
    return found
