"""Rules for outputs, against trying everything and keeping what obeys."""

import random
from dataclasses import dataclass

import pytest
from tests.reference.exhaustive_search import END, every_sentence
from tests.reference.toy_decoder import ToyDecoder, random_model
from tests.search.test_beam_search import same, sources_of

from transduce.search import (
    ConstrainedDecoder,
    ConstrainedSource,
    Constraint,
    Decoder,
    ForcedPrefix,
    beam_search,
)
from transduce.search.constraints import after
from transduce.search.penalties import DIVISORS
from transduce.settings import Search

OPEN, CLOSE = 2, 3


@dataclass(frozen=True)
class Brackets:
    """Each bracket that is opened is closed; `left` symbols may be written, END among them."""

    left: int
    depth: int = 0

    def allowed(self):
        ends = [END] if self.depth == 0 else [CLOSE]
        return [*ends, OPEN] if self.left >= self.depth + 3 else ends

    def advance(self, symbol):
        assert symbol in self.allowed()  # the search promises it
        assert symbol != END
        return Brackets(self.left - 1, self.depth + (1 if symbol == OPEN else -1))


@dataclass(frozen=True)
class Only:
    """Some symbols and no others."""

    symbols: tuple[int, ...]

    def allowed(self):
        return self.symbols

    def advance(self, symbol):
        assert symbol in self.symbols
        return self


def obeys(rule: Constraint, ids):
    """Whether an output obeys, by walking through it."""
    for symbol in (*ids, END):
        allowed = rule.allowed()
        if allowed is not None and symbol not in allowed:
            return False
        rule = rule if symbol == END else rule.advance(symbol)
    return True


def best_of_all(model, source, rule, search, symbols=4):
    """Every output that obeys, best first."""
    divisor, longest = DIVISORS[search.penalty], len(source) + search.extra_length
    return sorted(
        (
            (log_p / divisor(n, search.alpha), log_p, ids)
            for log_p, n, ids in every_sentence(model, source, symbols, longest)
            if obeys(rule, ids)
        ),
        reverse=True,
    )


def found_with(model, sources, rules, search, nbest=1):
    decoder = ConstrainedDecoder(ToyDecoder(model, search.beam))
    ruled = [ConstrainedSource(source, rule) for source, rule in zip(sources, rules, strict=True)]
    return beam_search(decoder, ruled, search, nbest=nbest)


def test_a_decoder_with_rules_is_a_decoder_and_its_sources_are_sequences():
    assert isinstance(ConstrainedDecoder(ToyDecoder(random_model(1, 3), 2)), Decoder)
    assert isinstance(ForcedPrefix((1,)), Constraint)
    ruled = ConstrainedSource((5, 6, END), ForcedPrefix(()))
    assert (list(ruled), len(ruled), ruled[1], ruled[:2]) == ([5, 6, END], 3, 6, (5, 6))


@pytest.mark.parametrize("penalty", DIVISORS)
@pytest.mark.parametrize(
    "rule",
    [
        ForcedPrefix((2,)),
        ForcedPrefix((3, 1)),
        ForcedPrefix((1, 2)),
        ForcedPrefix(()),
        Brackets(4),
        Only((END, 1)),
    ],
    ids=str,
)
def test_a_width_that_covers_all_finds_the_best_of_all_outputs_that_obey(rule, penalty):
    search = Search(beam=27, penalty=penalty, extra_length=3)
    for seed in range(5):
        model = random_model(seed, symbols=4)
        expected = best_of_all(model, (END,), rule, search)
        assert len(expected) > 1
        (found,) = found_with(model, [(END,)], [rule], search, nbest=27)
        same(found, expected[:27])


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_any_beam_finds_outputs_that_obey_with_the_model_s_own_scores(beam):
    search = Search(beam=beam, extra_length=6, batch_size=7, penalty="average")
    model, sources = random_model(3, symbols=4), sources_of(30, longest=3)
    found = found_with(model, sources, [Brackets(len(s) + 6) for s in sources], search)
    lengths = set()
    for source, (best,) in zip(sources, found, strict=True):
        assert obeys(Brackets(99), best.ids)
        places = range(len(best.ids) + 1)
        log_p = sum(model(source, best.ids[:i])[(*best.ids, END)[i]] for i in places)
        assert best.log_prob == pytest.approx(log_p, abs=1e-5)
        lengths.add(len(best.ids))
    assert len(lengths) > 2


@pytest.mark.parametrize("beam", [1, 3])
def test_a_rule_changes_nothing_where_the_free_result_obeys(beam):
    model, search = random_model(4, symbols=5), Search(beam=beam, extra_length=5)
    sources = sources_of(30, longest=3)
    free = beam_search(ToyDecoder(model, beam), sources, search)
    prefixes = [ForcedPrefix(best.ids[:2]) for (best,) in free]
    assert any(len(rule.ids) == 2 for rule in prefixes)
    assert found_with(model, sources, [ForcedPrefix(())] * 30, search) == free
    if beam == 1:  # a wider beam is narrowed by a prefix, and may find better ones
        assert found_with(model, sources, prefixes, search) == free


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_rules_move_with_their_rows_and_never_to_others(batch):
    """Sentences come, leave and join at different times, each with a rule of its own."""
    draw = random.Random(batch)
    model, sources = random_model(5, symbols=9), sources_of(40)
    rules = [ForcedPrefix(tuple(draw.choices(range(1, 9), k=draw.randint(0, 6)))) for _ in sources]
    search = Search(beam=3, extra_length=9, batch_size=batch)
    together = found_with(model, sources, rules, search, nbest=2)
    alone = [
        found_with(model, [source], [rule], search, nbest=2)[0]
        for source, rule in zip(sources, rules, strict=True)
    ]
    assert together == alone
    for rule, (best, *_) in zip(rules, together, strict=True):
        assert best.ids[: len(rule.ids)] == rule.ids


def test_a_row_that_is_over_stays_over():
    assert after(None, 5) is None
    assert after(ForcedPrefix(()), END) is None
    assert after(ForcedPrefix((5,)), 6) is None
    assert after(ForcedPrefix((5,)), 5) == ForcedPrefix(())
    assert after(ForcedPrefix(()), 7) == ForcedPrefix(())


def test_many_symbols_are_searched_under_a_rule_as_few_are():
    """Of 1,111 symbols three are allowed: wide rows are searched block by block."""
    model, search = random_model(1, symbols=1_111, sharpness=1.0), Search(beam=8, extra_length=2)
    rule = Only((END, 700, 1_110))
    (found,) = found_with(model, [(END,)], [rule], search, nbest=8)

    def narrow(source, prefix):
        names = [END, 700, 1_110]
        return [model(source, tuple(names[i] for i in prefix))[name] for name in names]

    expected = best_of_all(narrow, (END,), Only((0, 1, 2)), search, symbols=3)
    named = [(s, p, tuple((END, 700, 1_110)[i] for i in ids)) for s, p, ids in expected]
    same(found, named[:8])
