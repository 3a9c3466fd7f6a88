"""Trees by constraint: its legal sets, against shared ones and the plain rule."""

import json
import random
from functools import cache
from typing import Any

import pytest
import torch
from tests.reference.plain_constraints import END, PlainTree

from transduce.errors import InputError
from transduce.search.constraints import TreeConstraint, TreeSymbolKind, TreeSymbols

CPU = torch.device("cpu")
KINDS = {"(": TreeSymbolKind.OPEN, ")": TreeSymbolKind.CLOSE, "X": TreeSymbolKind.WORD}
NAMES = ("</s>", "<s>", "(A", "XX", ")A", "<unk>", ")B", "(B")  # of tiny trees


@cache
def build_symbols(names):
    labels = sorted({name[1:] for name in names})
    kinds = tuple(KINDS.get(name[0], TreeSymbolKind.OTHER) for name in names)
    numbers = tuple(int(name[2:]) if name[2:].isdigit() else 0 for name in names)
    return TreeSymbols(kinds, tuple(labels.index(name[1:]) for name in names), numbers)


def tree(words, limit, max_open=2, names=NAMES):
    return TreeConstraint(words, limit, build_symbols(names), max_open)


def rule(constraint, names=NAMES):
    """Return the plain twin of a constraint."""
    return PlainTree(constraint.words, constraint.limit, constraint.max_open, names)


def random_trees(count, seed, most_words=4):
    """Build constraints of many sizes, the first as tight as can be."""
    draw = random.Random(seed)
    found = [tree(1, 4, 1)]
    while len(found) < count:
        words = draw.randint(1, most_words)
        found.append(tree(words, words + draw.randint(3, 9), draw.randint(1, 3)))
    return found


@pytest.fixture
def legal_sets(facts):
    return json.loads((facts / "parsing/constraint.json").read_text("utf-8"))


def fixture_names(legal_sets):
    brackets = [bracket + label for label in legal_sets["labels"] for bracket in "()"]
    return ("</s>", "<s>", *brackets, "<unk>", "XX")


def test_legal_sets_equal_the_shared_ones_in_rows_that_join_move_and_leave(legal_sets):
    """Cases join a few at a time, at different steps; rows are shuffled, repeated and dropped."""
    draw, names = random.Random(7), fixture_names(legal_sets)
    waiting, rows = list(enumerate(legal_sets["cases"])), list[Any]()
    checked, state = set(), None
    draw.shuffle(waiting)
    while waiting or rows:
        joining, waiting = waiting[:7], waiting[7:]
        if joining:
            limits = [(case["words"], case["limit"], case["max_open"]) for _, case in joining]
            new = TreeConstraint.start_batch([tree(*of, names=names) for of in limits], CPU)
            state = new if state is None else state.concatenate(new)
            rows += [(number, case, 0) for number, case in joining]
        assert state
        for (number, case, step), legal in zip(rows, state.allowed(len(names)), strict=True):
            if step < len(case["allowed"]):
                found = sorted(names[symbol] for symbol in legal.nonzero().flatten())
                assert " ".join(found) == case["allowed"][step]
                checked.add((number, step))
        outputs = [[*case["symbols"], "</s>"][step:] for _, case, step in rows]
        ids = [names.index(ids[0]) if ids else draw.randrange(len(names)) for ids in outputs]
        state = state.advance(torch.tensor(ids))
        rows = [(number, case, step + 1) for number, case, step in rows]
        order = [row for row, left in enumerate(outputs) if left or draw.random() < 0.7]
        order += draw.choices(order, k=2) if order else []
        draw.shuffle(order)
        state, rows = state.reorder(torch.tensor(order).long()), [rows[row] for row in order]
    assert len(checked) == 1_452


def test_malformed_trees_are_refused_at_their_first_wrong_symbol(legal_sets):
    names, found = fixture_names(legal_sets), []
    for text, _ in legal_sets["malformed_for_one_word"]:
        state, forbidden = TreeConstraint.start_batch([tree(1, 302, 10, names)], CPU), []
        for step, symbol in enumerate([*text.split(), "</s>"]):
            if not state.allowed(len(names))[0, names.index(symbol)]:
                forbidden.append(step)
            state = state.advance(torch.tensor([names.index(symbol)]))
        found.append(forbidden[0])
    assert found == [2, 2, 1, 0, 3, 3, 2, 0, 0, 2]


def test_legal_sets_are_those_of_the_plain_rule_and_other_rows_do_no_harm():
    """Symbols are drawn at random: after a forbidden one a row is dead, and is not compared."""
    draw, constraints = random.Random(3), random_trees(300, seed=3, most_words=6)
    state = TreeConstraint.start_batch(constraints, CPU)
    rules = [rule(constraint) for constraint in constraints]
    compared = 0
    for _ in range(25):
        ids = []
        for plain, legal in zip(rules, state.allowed(len(NAMES)).tolist(), strict=True):
            allowed = range(len(NAMES)) if plain is None else plain.allowed()
            if plain is not None:
                assert [symbol for symbol, holds in enumerate(legal) if holds] == allowed
                compared += 1
            ids.append(draw.choice(allowed if draw.random() < 0.97 else range(len(NAMES))))
        state = state.advance(torch.tensor(ids))
        rules = [
            plain.advance(symbol) if plain and symbol != END and symbol in plain.allowed() else None
            for plain, symbol in zip(rules, ids, strict=True)
        ]
    assert compared > 1_500


def test_a_word_symbol_with_a_number_is_allowed_at_the_words_of_this_number_alone():
    """Three numbers for five words: 1 2 3 1 2; the rows of two sentences join and exchange."""
    names = ("</s>", "<s>", "(A", ")A", "XX1", "XX2", "XX3")
    first, second = tree(5, 12, names=names), tree(2, 12, names=names)
    state = TreeConstraint.start_batch([first], CPU).advance(torch.tensor([2]))
    for number in (1, 2, 3):
        assert state.allowed(7)[0, 4:].tolist() == [number == one for one in (1, 2, 3)]
        state = state.advance(torch.tensor([3 + number]))
    other = TreeConstraint.start_batch([second], CPU).advance(torch.tensor([2]))
    both = state.concatenate(other.advance(torch.tensor([4]))).reorder(torch.tensor([1, 0]))
    assert both.allowed(7)[:, 4:].tolist() == [[False, True, False], [True, False, False]]


def test_stacks_hold_the_deepest_trees_and_no_symbol_overruns_them():
    for words, limit, max_open in [(1, 4, 1), (1, 301, 10), (3, 30, 4), (2, 302, 200)]:
        constraint = tree(words, limit, max_open)
        state, plain, depth = TreeConstraint.start_batch([constraint], CPU), rule(constraint), 0
        opens = NAMES.index("(A")
        while True:  # open whenever it is allowed: the deepest tree there is
            symbol = opens if opens in plain.allowed() else min(plain.allowed())
            if symbol == END:
                break
            plain, state = plain.advance(symbol), state.advance(torch.tensor([symbol]))
            depth = max(depth, len(plain.stack))
        assert depth == constraint.max_depth
        for symbol in [opens] * 160 + [NAMES.index(")A")] * 330:
            state = state.advance(torch.tensor([symbol]))


@pytest.mark.parametrize(
    ("words", "limit", "max_open", "message"),
    [
        (0, 9, 10, "a tree needs a word\nhint: an empty line has no tree"),
        (4, 6, 10, "a tree over 4 words has no room in 6 symbols\nhint: raise search.extra_length"),
        (4, 9, 0, "max_open must be more than 0, not 0"),
    ],
)
def test_what_no_tree_satisfies_is_refused(words, limit, max_open, message):
    with pytest.raises(InputError) as error:
        tree(words, limit, max_open)
    assert str(error.value).startswith(message)


def test_equal_constraints_are_equal_and_hashable():
    assert {tree(2, 9): 1}[tree(2, 9)] == 1
    assert len({tree(2, 9), tree(3, 9), tree(2, 10), tree(2, 9, 4), tree(2, 9)}) == 4
