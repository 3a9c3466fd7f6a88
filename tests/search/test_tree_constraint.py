"""Trees by constraint: the shared legal sets, the plain rule, and every tree that there is."""

import json
import math
import random
from collections import Counter
from functools import cache

import pytest
import torch
from tests.reference.plain_beam_search import plain_beam_search
from tests.reference.plain_constraints import END, PlainTree, enumerate_allowed, satisfies
from tests.reference.toy_decoder import ToyDecoder, random_model
from tests.search.test_beam import SCORES, assert_same, score_function

from transduce.errors import InputError, NotFiniteError
from transduce.search import (
    ConstrainedDecoder,
    ConstrainedSource,
    TreeConstraint,
    TreeSymbolKind,
    TreeSymbols,
    beam_search,
    sample_unordered,
)
from transduce.settings import Search
from transduce.settings.search import Sampling

CPU = torch.device("cpu")
KINDS = {"(": TreeSymbolKind.OPEN, ")": TreeSymbolKind.CLOSE, "X": TreeSymbolKind.WORD}
NAMES = ("</s>", "<s>", "(A", "XX", ")A", "<unk>", ")B", "(B")  # of tiny trees


@cache
def build_symbols(names):
    labels = sorted({name[1:] for name in names})
    kinds = tuple(KINDS.get(name[0], TreeSymbolKind.OTHER) for name in names)
    return TreeSymbols(kinds, tuple(labels.index(name[1:]) for name in names))


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
def legal_sets(shared):
    return json.loads((shared / "fixtures/parsing/constraint.json").read_text("utf-8"))


def fixture_names(legal_sets):
    brackets = [bracket + label for label in legal_sets["labels"] for bracket in "()"]
    return ("</s>", "<s>", *brackets, "<unk>", "XX")


def test_legal_sets_equal_the_shared_ones_in_rows_that_join_move_and_leave(legal_sets):
    """Cases join a few at a time, at different steps; rows are shuffled, repeated and dropped."""
    draw, names = random.Random(7), fixture_names(legal_sets)
    waiting, rows, checked, state = list(enumerate(legal_sets["cases"])), [], set(), None
    draw.shuffle(waiting)
    while waiting or rows:
        joining, waiting = waiting[:7], waiting[7:]
        if joining:
            limits = [(case["words"], case["limit"], case["max_open"]) for _, case in joining]
            new = TreeConstraint.start_batch([tree(*of, names=names) for of in limits], CPU)
            state = new if state is None else state.concatenate(new)
            rows += [(number, case, 0) for number, case in joining]
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
        state, wrong = TreeConstraint.start_batch([tree(1, 302, 10, names)], CPU), None
        for step, symbol in enumerate([*text.split(), "</s>"]):
            if wrong is None and not state.allowed(len(names))[0, names.index(symbol)]:
                wrong = step
            state = state.advance(torch.tensor([names.index(symbol)]))
        found.append(wrong)
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


def masked(model, constraint):
    """Give the symbols which the plain rule forbids probability 0."""

    def log_probs(source, prefix):
        state = rule(constraint)
        for symbol in prefix:
            state = state.advance(symbol)
        legal = state.allowed()
        return [
            p if symbol in legal else -math.inf for symbol, p in enumerate(model(source, prefix))
        ]

    return log_probs


def source_of(constraint, number=0, pieces=0):
    """Build a source of the constraint's words, and `pieces` more, whose ids differ by number."""
    ids = (*range(100 * number + 2, 100 * number + 2 + constraint.words + pieces), END)
    return ConstrainedSource(ids, constraint)


def search_trees(model, sources, search, nbest=1):
    decoder = ConstrainedDecoder(ToyDecoder(model, search.beam))
    return beam_search(decoder, sources, search, nbest=nbest)


def rank_all(model, source, search):
    """Return every tree that the plain rule allows, best first."""
    score, found = score_function(search), []
    for ids in enumerate_allowed(rule(source.constraint)):
        log_p = sum(model(source.ids, ids[:i])[(*ids, END)[i]] for i in range(len(ids) + 1))
        found.append((score(log_p, len(ids) + 1), log_p, ids))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("settings", SCORES, ids=str)
@pytest.mark.parametrize("pieces", [0, 2])
def test_a_wide_beam_finds_all_trees_in_their_order(settings, pieces):
    """Near the limit there are far fewer continuations than candidates, many of them forbidden."""
    for words, limit, count in [(1, 8, 6), (2, 7, 14), (3, 8, 26)]:
        constraint = tree(words, limit, max_open=2)
        search = Search(beam=count + 9, extra_length=limit - words - 1, **settings)
        source, model = source_of(constraint, pieces=pieces), random_model(words, len(NAMES))
        expected = rank_all(model, source, search)
        assert len(expected) == count
        (found,) = search_trees(model, [source], search, nbest=count + 9)
        assert_same(found, expected)
        assert all(math.isfinite(one.score) for one in found)


@pytest.mark.parametrize("beam", [1, 2, 4, 21])
@pytest.mark.parametrize("settings", SCORES[:1] + SCORES[-1:], ids=str)
def test_any_beam_finds_what_plain_beam_search_finds_under_the_plain_rule(beam, settings):
    search = Search(beam=beam, extra_length=12, **settings)
    for number, constraint in enumerate(random_trees(12, seed=beam)):
        model, source = random_model(number, len(NAMES)), source_of(constraint)
        expected = plain_beam_search(
            masked(model, constraint),
            source.ids,
            beam=beam,
            max_length=constraint.words + 13,
            score=score_function(search),
        )
        (found,) = search_trees(model, [source], search, nbest=beam)
        assert_same(found, expected[:beam])
        assert all(satisfies(rule(constraint), one.ids) for one in found)


@pytest.mark.parametrize("beam", [1, 4])
def test_trees_do_not_depend_on_the_batch(beam):
    """Sentences join the search and leave it while others are in the middle of their trees."""
    sources = [source_of(c, n) for n, c in enumerate(random_trees(20, seed=5))]
    model = random_model(2, len(NAMES))
    separate = [
        search_trees(model, [s], Search(beam=beam, extra_length=9), nbest=beam)[0] for s in sources
    ]
    for batch in (3, 64):
        search = Search(beam=beam, extra_length=9, batch_size=batch)
        assert search_trees(model, sources, search, nbest=beam) == separate


@pytest.mark.parametrize("beam", [1, 3])
def test_a_free_result_that_is_a_tree_keeps_its_score(beam):
    """The model gives one tree so much probability that a free search finds it."""
    draw, search = random.Random(2), Search(beam=beam, extra_length=12)
    for number, constraint in enumerate(random_trees(8, seed=9)):
        wanted = (*draw.choice(list(enumerate_allowed(rule(constraint)))), END)

        def model(_, prefix, wanted=wanted):
            likely = wanted[len(prefix)] if prefix == wanted[: len(prefix)] else END
            return [math.log(0.93 if symbol == likely else 0.01) for symbol in range(len(NAMES))]

        source = source_of(constraint, number)
        free = beam_search(ToyDecoder(model, beam), [source.ids], search)
        assert free[0][0].ids == wanted[:-1]
        assert search_trees(model, [source], search) == free


def test_a_search_that_must_end_earlier_than_the_constraint_ends_only_in_trees():
    model, source = random_model(3, len(NAMES)), source_of(tree(1, 40, max_open=10))
    (found,) = search_trees(model, [source], Search(beam=64, extra_length=4), nbest=64)
    expected = [tuple(map(NAMES.index, ["(" + a, "XX", ")" + a])) for a in "AB"]
    expected += [
        tuple(map(NAMES.index, ["(" + a, "(" + b, "XX", ")" + b, ")" + a]))
        for a in "AB"
        for b in "AB"
    ]
    assert sorted(one.ids for one in found) == sorted(expected)
    with pytest.raises(NotFiniteError):
        search_trees(model, [source], Search(beam=64, extra_length=1))


SAMPLINGS = [
    {},
    {"temperature": 30.0},
    {"top_k": 3},
    {"top_p": 0.5},
    {"temperature": 0.01},
    {"temperature": 2.0, "top_k": 5, "top_p": 0.9},
]


@pytest.mark.parametrize("settings", SAMPLINGS, ids=str)
def test_samples_are_trees_whatever_the_settings(settings):
    constraints = random_trees(20, seed=4, most_words=6)
    sources = [source_of(constraint, number) for number, constraint in enumerate(constraints)]
    decoder = ConstrainedDecoder(ToyDecoder(random_model(1, len(NAMES)), 5))
    search, sampling = Search(extra_length=9, batch_size=7), Sampling(**settings)
    found = dict(sample_unordered(decoder, sources, search, sampling, samples=5))
    for number, constraint in enumerate(constraints):
        assert len(found[number]) == 5
        for one in found[number]:
            assert satisfies(rule(constraint), one.ids)
            assert len(one.ids) < constraint.limit
            assert math.isfinite(one.score)


def test_trees_are_drawn_as_often_as_the_model_says_among_the_allowed_symbols():
    constraint, model = tree(2, 7), random_model(8, len(NAMES), sharpness=1.0)
    source, draws, expected = source_of(constraint), 4_000, {}
    for ids in enumerate_allowed(rule(constraint)):
        rows = [masked(model, constraint)(source.ids, ids[:i]) for i in range(len(ids) + 1)]
        totals = [sum(map(math.exp, row)) for row in rows]
        steps = zip((*ids, END), rows, totals, strict=True)
        expected[ids] = math.prod(math.exp(row[symbol]) / total for symbol, row, total in steps)
    assert sum(expected.values()) == pytest.approx(1)
    decoder, search = ConstrainedDecoder(ToyDecoder(model, draws)), Search(extra_length=4)
    found = dict(sample_unordered(decoder, [source], search, Sampling(), samples=draws))[0]
    counts = Counter(one.ids for one in found)
    assert counts.keys() <= expected.keys()
    assert sum(abs(counts[ids] / draws - p) for ids, p in expected.items()) / 2 < 0.04


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
