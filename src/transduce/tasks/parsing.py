"""The task of constituency parsing: tokenised sentences to trees    (section 6.3)

A source line is a sentence, its words separated by spaces. A target line is a tree in one line of
brackets, as EVALB reads it. The model writes the tree as symbols of a fixed vocabulary, without
words: the n-th word symbol stands for the n-th word.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast, final

from transduce.datasets.penn import SECTIONS, find_penn_files, find_tree_files, has_penn_sections
from transduce.errors import InputError
from transduce.settings import Data, Search
from transduce.settings.data import ModelDescription
from transduce.tasks.task import SentenceTask, TaskKind
from transduce.text.trees.brackets import format_tree, parse_tree, read_trees
from transduce.text.trees.linearise import (
    NUMBERED_SYMBOLS,
    WORD_SYMBOLS,
    Form,
    Repair,
    classify_symbols,
    find_closed_labels,
    linearise,
    repair_symbols,
)
from transduce.text.trees.tree import SymbolKind, Tree, clean_tree, flat_tree
from transduce.text.words import escape_brackets, normalise_blanks, split_words, to_source_text
from transduce.vocabulary import BEGIN
from transduce.vocabulary.tag_lexicon import TagLexicon
from transduce.vocabulary.vocabulary import Vocabularies

if TYPE_CHECKING:
    from transduce.search.constraints import TreeConstraint, TreeSymbols


@final
@dataclass(frozen=True)
class Parsing(SentenceTask):
    """The task of parsing sentences into constituency trees, scored by labelled bracket F1.

    The output vocabulary has the symbols of linearised trees. A sentence that is too long is not
    split, since a tree needs all of it. F1 is computed after outputs get the references' tags.
    """

    lexicon: TagLexicon  # gives words their part-of-speech tags if the linearisation has none
    form: Form  # the linearisation: how a tree is written as symbols

    metrics: ClassVar[tuple[str, ...]] = ("brackets",)
    card: ClassVar[ModelDescription] = ModelDescription(
        pipeline_tag="token-classification",
        title="constituency parser, {}",
        purpose="parses tokenised sentences ({}) into constituency trees",
        command="parse",
        files=("sentences.txt", "trees.txt"),
    )

    def list_symbols(self, line: str) -> list[str]:
        """Return the symbols of a bracketed tree, cleaned and linearised."""
        return linearise(to_tree(line), self.form)

    def decode(self, ids: Sequence[int], line: str) -> str:
        """Convert symbol ids to a bracketed tree over the words of `line`, repaired if needed."""
        tree, _ = self.repair(ids, line)
        return format_tree(tree)

    def find_fault(self, ids: Sequence[int], line: str) -> str:
        """Return a phrase that names and counts the repairs of `decode`; "" if none is needed."""
        _, repair = self.repair(ids, line)
        counts = [(name.replace("_", " "), count) for name, count in vars(repair).items() if count]
        found = ", ".join(f"{name} {count}" for name, count in counts)
        return f"a malformed tree, repaired: {found}" if found else ""

    def repair(self, ids: Sequence[int], line: str) -> tuple[Tree, Repair]:
        """Convert symbol ids to a tree over a sentence's words; return the tree and the repairs."""
        words = [escape_brackets(word) for word in split_words(line)]
        symbols = [self.target.symbols[number] for number in ids]
        tags = self.lexicon.tag(words)
        return repair_symbols(symbols, words, tags, self.form, self.labels)

    @cached_property
    def labels(self) -> set[str]:
        """The constituent labels of the target vocabulary, without part-of-speech tags."""
        return find_closed_labels(self.target.symbols)

    def fallback(self, line: str) -> str:
        """Return a flat tree over the words of a sentence that is too long for the model."""
        words = [escape_brackets(word) for word in split_words(line)]
        return format_tree(flat_tree(words, self.lexicon.tag(words)))

    def parse_output(self, output: str) -> Tree | None:
        """Convert an output line in brackets to a `Tree`; return None for an empty sentence."""
        return to_tree(output) if output else None

    @cached_property
    def tree_symbols(self) -> "TreeSymbols":
        """The kind, label index and word position (0 for any word) of each target id."""
        from transduce.search.constraints import TreeSymbolKind, TreeSymbols  # imports torch

        symbols = classify_symbols(self.target.symbols[BEGIN + 1 :], self.form)
        labels = {label: index for index, label in enumerate({one.label: 0 for one in symbols})}
        # the number in a numbered word symbol, such as 3 in XX3
        numbered = NUMBERED_SYMBOLS if self.form == "numbered" else ()
        numbers = {label: number for number, label in enumerate(numbered, start=1)}
        rows = [(TreeSymbolKind.OTHER, 0, 0)] * (BEGIN + 1)
        for kind, label in symbols:
            number = numbers.get(label, 0) if kind is SymbolKind.WORD else 0
            rows.append((TreeSymbolKind[kind.name], labels[label], number))
        return TreeSymbols(*zip(*rows, strict=True))

    def constraint(self, line: str, search: Search) -> "TreeConstraint":
        """Return the constraint that the output is a tree over exactly the words of a sentence."""
        from transduce.paper.search import max_output_length  # imports torch
        from transduce.search.constraints import TreeConstraint

        word_count = len(split_words(line))
        limit = max_output_length(word_count, search.extra_length) + 1
        return TreeConstraint(word_count, limit, self.tree_symbols, search.max_openings)


def build_parsing(data: Data, vocabularies: Vocabularies) -> Parsing:
    """Build the parsing task from vocabularies and the linearisation in the data settings."""
    assert vocabularies.lexicon is not None
    form = cast("Form", data.linearisation)
    return Parsing(vocabularies.source, vocabularies.target, vocabularies.lexicon, form)


def to_tree(line: str) -> Tree:
    """Return the cleaned tree of one line of brackets; raise InputError if it has no words."""
    tree = clean_tree(parse_tree(line))
    if tree is None:
        raise InputError("a tree without words", "leave the line out")
    return tree


def list_tree_files(path: Path, split: str) -> list[Path]:
    """Return the tree files of `split` in the folder `path`; only `path` itself if it is a file.

    For train, dev and test, a folder of the Penn Treebank gives sections. Otherwise all tree
    files of the folder are returned.
    """
    if not path.is_dir():
        return [path]
    if has_penn_sections(path) and split in SECTIONS:
        return find_penn_files(path, split)
    return find_tree_files(path)


def read_tree_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (sentence, cleaned tree) for every tree of a file; ("", error) for a malformed one.

    A tree without words is yielded as ("", ""). Cleaning the corpus later drops and counts both.
    """
    malformed: list[InputError] = []
    for raw in read_trees(path, on_malformed=malformed.append):
        tree = clean_tree(raw)
        yield from (("", error.fact.removeprefix(f"{path.parent}/")) for error in malformed)
        malformed.clear()
        yield ("", "") if tree is None else (" ".join(tree.words), format_tree(tree))
    yield from (("", error.fact.removeprefix(f"{path.parent}/")) for error in malformed)


def read_test_trees(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (sentence, cleaned tree) for each tree with words; raise InputError if malformed."""
    for raw in read_trees(path):
        tree = clean_tree(raw)
        if tree is not None:
            yield " ".join(tree.words), format_tree(tree)


def find_word_mismatch(line: str, tree: str) -> str:
    """Return a phrase on how a tree's words differ from a sentence's, or "" if they are equal."""
    words, leaves = split_words(line), to_tree(tree).words
    if len(words) != len(leaves):
        return f"a tree over {len(leaves)} words for a sentence of {len(words)}"
    pairs = enumerate(zip(words, leaves, strict=True), start=1)
    return next(
        (
            f"word {n} is {leaf} in the tree and {escape_brackets(word)} in the sentence"
            for n, (word, leaf) in pairs
            if escape_brackets(leaf) != escape_brackets(word)
        ),
        "",
    )


def list_target_symbols(data: Data, line: str) -> list[str]:
    """Return a bracketed tree's symbols, then all word symbols that the linearisation can have."""
    form = cast("Form", data.linearisation)
    return [*linearise(to_tree(line), form), *WORD_SYMBOLS.get(form, ())]


def list_tagged_words(line: str) -> Iterable[tuple[str, str]]:
    """Return the (word, part-of-speech tag) pairs of a bracketed tree."""
    tree = to_tree(line)
    return zip(tree.words, tree.tags, strict=True)


PARSING = TaskKind(
    build=build_parsing,
    read_file=read_tree_pairs,
    read_test_file=read_test_trees,
    test_file="trees in brackets",
    options="--trees FILE_OR_FOLDER",
    sides=("words", "trees"),
    unit="tree",
    unusable="no tree, or a tree without words",
    list_files=list_tree_files,
    normalise=normalise_blanks,
    find_mismatch=find_word_mismatch,
    source_text=to_source_text,
    is_tokenised=True,
    target_symbols=list_target_symbols,
    list_tagged_words=list_tagged_words,
)
KINDS = {"parsing": PARSING}
