"""Repair of the malformed output of a parser that decodes without a constraint    (section 6.3)

Vinyals, Kaiser et al. (2015) add brackets at the beginning or the end until they balance. The rules
of this module do so too, and cover all other errors:

- a closing bracket that closes nothing gets an opening bracket at the front;
- a closing bracket closes the open bracket even if their labels differ; the opening label counts;
- open brackets are closed at the end;
- surplus words are dropped, and constituents without words are removed;
- words that are missing, or outside of the only outer constituent, are added to that constituent;
- several outer constituents, or none, are put under a new root.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, final

from transduce.errors import InputError
from transduce.text.trees.linearise import (
    WORD_SYMBOL,
    WORD_SYMBOLS,
    Form,
    Symbol,
    classify_symbol,
    find_closed_labels,
    has_wrong_number,
)
from transduce.text.trees.tree import Constituent, SymbolKind, Tree, require_one_per_word


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
    words_moved: int = 0  # words that were outside of the outer constituent
    constituents_dropped: int = 0  # constituents without words
    roots_added: int = 0

    @property
    def was_malformed(self) -> bool:
        """Whether the output symbols needed any change."""
        return any(asdict(self).values())

    def as_json(self) -> dict[str, Any]:
        """Return the counts of changes as JSON values, for a report."""
        return asdict(self)


def repair_symbols(
    symbols: Sequence[str],
    words: Sequence[str],
    form: Form,
    *,
    tags: Sequence[str] | None = None,
    labels: Collection[str] | None = None,
    root: str = "S",
) -> tuple[Tree, Repair]:
    """Build a tree over all words from any list of symbols; return it and the changes it needed.

    Well-formed symbols give the same tree as `delinearise`, without a change. `tags` and `labels`
    mean the same as there, but a word without a symbol gets its tag from `tags` in every form.
    `root` is the label of a root that has to be added. Raises InputError only if there are no
    words, or not one tag for each.
    """
    if not words:
        raise InputError("a tree needs at least one word")
    given = (WORD_SYMBOL,) * len(words) if tags is None else tuple(tags)
    require_one_per_word("tags", given, words)
    known = find_closed_labels(symbols) if labels is None else labels
    state = RepairState(len(words))
    for text in symbols:
        try:
            symbol = classify_symbol(text, form, known)
        except InputError:
            state.repair.symbols_dropped += 1
            continue
        state.repair.numbers_ignored += has_wrong_number(symbol, len(state.tags), form)
        state.read(symbol)
    state.close_all()
    constituents = add_root(state, root)
    read = given if form in WORD_SYMBOLS else (*state.tags, *given[len(state.tags) :])
    labels_, starts, ends = zip(*constituents, strict=True)
    return Tree(tuple(words), read, labels_, starts, ends), state.repair


@final
@dataclass
class RepairState:
    """The tags and constituents that were read from symbols so far, and the repairs made."""

    words: int  # number of words of the sentence
    tags: list[str] = field(default_factory=list)  # of the words that were read, in order
    constituents: list[Constituent] = field(default_factory=list)  # the end is -1 while open
    open_indices: list[int] = field(default_factory=list)
    added: list[Constituent] = field(default_factory=list)  # start at word 0; innermost first
    repair: Repair = field(default_factory=Repair)

    def read(self, symbol: Symbol) -> None:
        """Process the next symbol: open or close a constituent, or add a word."""
        if symbol.kind is SymbolKind.OPEN:
            self.open_indices.append(len(self.constituents))
            self.constituents.append(Constituent(symbol.label, len(self.tags), -1))
        elif symbol.kind is SymbolKind.CLOSE:
            self._close(symbol.label)
        elif len(self.tags) < self.words:
            self.tags.append(symbol.label)
        else:
            self.repair.words_dropped += 1

    def _close(self, label: str) -> None:
        """Close the innermost open constituent, or add one that starts at the first word."""
        position = len(self.tags)
        if not self.open_indices:
            self.added.append(Constituent(label, 0, position))
            self.repair.openings_added += 1
            return
        index = self.open_indices.pop()
        self.repair.labels_ignored += self.constituents[index].label != label
        self.constituents[index] = self.constituents[index]._replace(end=position)

    def close_all(self) -> None:
        """Close all open constituents at the end of the symbols, and count them."""
        self.repair.closings_added += len(self.open_indices)
        for index in self.open_indices:
            self.constituents[index] = self.constituents[index]._replace(end=len(self.tags))
        self.open_indices.clear()


def add_root(state: RepairState, label: str) -> list[Constituent]:
    """Return a state's constituents in preorder with one root over all words; count the repairs."""
    repair, words = state.repair, state.words
    found = [*reversed(state.added), *state.constituents]
    kept = [one for one in found if one.start < one.end]
    repair.constituents_dropped += len(found) - len(kept)
    repair.words_added += words - len(state.tags)
    outer = find_outermost(kept)
    if len(outer) != 1:
        repair.roots_added += 1
        return [Constituent(label, 0, words), *kept]
    (root,) = outer
    repair.words_moved += len(state.tags) - (root.end - root.start)
    return [root._replace(start=0, end=words), *kept[1:]]


def find_outermost(constituents: Sequence[Constituent]) -> list[Constituent]:
    """Return the constituents, given in preorder, that are not inside another constituent."""
    found = list[Constituent]()
    for one in constituents:
        if not found or one.start >= found[-1].end:
            found.append(one)
    return found
