"""What holds for the plan and the split of any corpus."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from transduce.corpus.plan import Plan
from transduce.packed import greedy_cut, split_update

PAIRS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=80)
BUDGETS = st.tuples(st.integers(30, 200), st.integers(30, 200))
SEED = st.integers(0, 2**70)


def sides(pairs):
    return np.array(pairs, np.int32).T


def cut_by_hand(rows, budgets):
    """One sentence at a time: a new stretch as soon as one budget has no room."""
    cuts, left = [0], list(budgets)
    for number, sizes in enumerate(zip(*rows, strict=True)):
        if any(size > room for size, room in zip(sizes, left, strict=True)):
            cuts.append(number)
            left = list(budgets)
        left = [room - size for size, room in zip(sizes, left, strict=True)]
    return [*cuts, len(rows[0])]


@given(PAIRS, BUDGETS)
def test_the_cut_is_the_one_made_a_sentence_at_a_time(pairs, budgets):
    rows = sides(pairs)
    assert greedy_cut(list(rows), budgets).tolist() == cut_by_hand(rows.tolist(), budgets)


@given(PAIRS, BUDGETS, SEED)
def test_an_epoch_holds_every_pair_once_within_both_budgets(pairs, budgets, seed):
    source, target = sides(pairs)
    plan = Plan(source, target, source_tokens=budgets[0], target_tokens=budgets[1], seed=seed)
    first = len(plan.epoch(1))
    for steps in (range(1, first + 1), range(first + 1, first + len(plan.epoch(2)) + 1)):
        updates = [plan.select_pairs(step) for step in steps]
        assert sorted(np.concatenate(updates)) == list(range(len(pairs)))
        assert all(source[update].sum() <= budgets[0] for update in updates)
        assert all(target[update].sum() <= budgets[1] for update in updates)


@settings(max_examples=40)
@given(PAIRS, SEED, st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_an_update_depends_on_seed_and_step_alone(pairs, seed, steps):
    def fresh():
        return Plan(*sides(pairs), source_tokens=60, target_tokens=60, seed=seed)

    asked = fresh()
    for step in steps:
        assert asked.select_pairs(step).tolist() == fresh().select_pairs(step).tolist()
        assert asked.locate(step) == fresh().locate(step)


@given(PAIRS, st.integers(60, 300), st.randoms())
def test_a_split_keeps_every_pair_once_within_the_limit(pairs, limit, random):
    source, target = sides(pairs)
    some = np.array(random.sample(range(len(pairs)), random.randint(1, len(pairs))))
    parts = split_update(some, source, target, limit)
    assert sorted(np.concatenate(parts)) == sorted(some)
    assert all(0 < (source + target)[part].sum() <= limit for part in parts)
