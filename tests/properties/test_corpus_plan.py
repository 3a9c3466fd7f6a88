"""What holds for the plan and the split of any corpus."""

from functools import partial

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from transduce.corpus.mixture import Share
from transduce.corpus.plan import Plan
from transduce.packed import greedy_cut, split_update

PAIRS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=80)
BUDGETS = st.tuples(st.integers(30, 200), st.integers(30, 200))
SEED = st.integers(0, 2**70)
STEPS = st.lists(st.integers(1, 60), min_size=1, max_size=6)
WEIGHTS = st.floats(0.01, 100.0)


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


@st.composite
def mixtures(draw, *, are_always_read):
    """Two to four texts, each with a weight and its updates, and the mixture's plan for a seed."""
    texts = draw(st.lists(PAIRS, min_size=2, max_size=4))
    spans: list[tuple[int, int]] = []
    for _ in texts:
        start = 1 if are_always_read or not spans else draw(st.integers(1, 40))
        spans.append((start, 0 if are_always_read else draw(st.integers(start, 60))))
    if not are_always_read:  # from the first text's last update on the last one is read
        spans[-1] = (draw(st.integers(1, spans[0][1] + 1)), 0)
    shares = [
        Share(name="text", pairs=len(text), weight=draw(WEIGHTS), start=start, stop=stop)
        for text, (start, stop) in zip(texts, spans, strict=True)
    ]
    rows = sides([pair for text in texts for pair in text])
    plan = partial(Plan, *rows, source_tokens=60, target_tokens=60, mixture=shares)
    return shares, lambda seed: plan(seed=seed)


def split_by_text(shares, pairs):
    """The pairs of each text among some pairs of a store, counted from its own first one."""
    ends = np.cumsum([share.pairs for share in shares])
    return [pairs[(end - share.pairs <= pairs) & (pairs < end)] - (end - share.pairs)
            for share, end in zip(shares, ends, strict=True)]  # fmt: skip


@settings(max_examples=40)
@given(mixtures(are_always_read=False), SEED, STEPS)
def test_an_update_of_a_mixture_depends_on_seed_and_step_alone(mixture, seed, steps):
    _, plan = mixture
    asked = plan(seed)
    for step in steps:
        assert asked.select_pairs(step).tolist() == plan(seed).select_pairs(step).tolist()


@settings(max_examples=40)
@given(mixtures(are_always_read=False), SEED)
def test_an_update_of_a_mixture_has_pairs_of_the_texts_that_it_reads_within_budgets(mixture, seed):
    shares, plan = mixture
    found = plan(seed)
    for step in range(1, 61):
        pairs = found.select_pairs(step)
        assert len(pairs)
        assert max(side[pairs].sum() for side in found.lengths) <= 60
        for share, own in zip(shares, split_by_text(shares, pairs), strict=True):
            assert not len(own) or share.start <= step <= (share.stop or step)


@settings(max_examples=40)
@given(mixtures(are_always_read=True), SEED)
def test_each_text_has_its_share_of_an_epoch_to_a_pair_and_is_read_in_passes(mixture, seed):
    shares, plan = mixture
    found, step, taken = plan(seed), 0, [np.zeros(share.pairs, int) for share in shares]
    total, weights = sum(share.pairs for share in shares), sum(share.weight for share in shares)
    for number in (1, 2, 3):
        updates = len(found.epoch(number))
        read = [found.select_pairs(step + one) for one in range(1, updates + 1)]
        step += updates
        for share, own, counts in zip(
            shares, split_by_text(shares, np.concatenate(read)), taken, strict=True
        ):
            wanted = total * share.weight / weights
            assert abs(len(own) - wanted) <= 0.5 or len(own) == 1 > wanted
            np.add.at(counts, own, 1)
            assert counts.max() - counts.min() <= 1, "none is read twice before all are read once"


@given(PAIRS, st.integers(60, 300), st.randoms())
def test_a_split_keeps_every_pair_once_within_the_limit(pairs, limit, random):
    source, target = sides(pairs)
    some = np.array(random.sample(range(len(pairs)), random.randint(1, len(pairs))))
    parts = split_update(some, source, target, limit)
    assert sorted(np.concatenate(parts)) == sorted(some)
    assert all(0 < (source + target)[part].sum() <= limit for part in parts)
