import numpy as np
import pytest

from transduce.corpus.plan import Plan, sort_inside_windows


def lengths_of(count, seed=1):
    """Pairs like those of a corpus: skewed lengths, sides that go together."""
    draws = np.random.default_rng(seed)
    source = np.clip(np.exp(draws.normal(2.5, 0.5, count)), 1, 60)
    target = np.clip(source * np.exp(draws.normal(0, 0.2, count)), 1, 60)
    return source.astype(np.int32), target.astype(np.int32)


def plan_of(lengths, budget=300, seed=1):
    return Plan(*lengths, source_tokens=budget, target_tokens=budget, seed=seed)


def epoch_of(plan, number):
    first = 1 + sum(len(plan.epoch(before)) for before in range(1, number))
    return [plan.select_pairs(step) for step in range(first, first + len(plan.epoch(number)))]


def test_every_pair_is_in_exactly_one_update_of_every_epoch():
    plan = plan_of(lengths_of(2_000))
    for number in (1, 2, 3):
        assert sorted(np.concatenate(epoch_of(plan, number))) == list(range(2_000))


def test_no_update_is_over_either_budget():
    source, target = lengths_of(2_000)
    plan = Plan(source, target, source_tokens=500, target_tokens=200, seed=1)
    updates = epoch_of(plan, 1)
    assert max(source[update].sum() for update in updates) <= 500
    assert 190 < max(target[update].sum() for update in updates) <= 200


def test_steps_epochs_and_positions_are_counted_from_1():
    plan = plan_of(lengths_of(500))
    first, second = len(plan.epoch(1)), len(plan.epoch(2))
    assert plan.locate(1) == (1, 1)
    assert plan.locate(first) == (1, first)
    assert plan.locate(first + 1) == (2, 1)
    assert plan.locate(first + second + 2) == (3, 2)


def test_there_is_no_step_0():
    with pytest.raises(AssertionError, match="counted from 1"):
        plan_of(lengths_of(50)).select_pairs(0)


def test_an_update_is_the_same_whatever_was_asked_before():
    lengths = lengths_of(300)
    in_order = {step: plan_of(lengths).select_pairs(step).tolist() for step in range(1, 60)}
    plan = plan_of(lengths)
    for step in [59, 1, 30, 2, 58, 30, 15, 59]:
        assert plan.select_pairs(step).tolist() == in_order[step]


def test_what_a_caller_does_to_an_update_stays_with_the_caller():
    plan = plan_of(lengths_of(300))
    plan.select_pairs(1)[:] = 0
    assert plan.select_pairs(1).tolist() == plan_of(lengths_of(300)).select_pairs(1).tolist()


def test_another_seed_and_another_epoch_are_another_order():
    lengths = lengths_of(1_000)
    plan, other = plan_of(lengths), plan_of(lengths, seed=2)
    first, second = epoch_of(plan, 1), epoch_of(plan, 2)
    assert not np.array_equal(np.concatenate(first), np.concatenate(second))
    assert not np.array_equal(np.concatenate(first), np.concatenate(epoch_of(other, 1)))


def test_the_order_is_known_for_good():
    """Runs that were stored go on only if the same seed means the same pairs for ever."""
    plan = Plan(np.arange(1, 13), np.full(12, 3), source_tokens=15, target_tokens=9, seed=7)
    found = [plan.select_pairs(step).tolist() for step in range(1, len(plan.epoch(1)) + 1)]
    assert found == [[1, 2, 0], [6, 7], [3, 4, 5], [8], [11], [10], [9]]


def test_pairs_of_an_update_have_about_the_same_length():
    lengths = lengths_of(5_000)
    longer = np.maximum(*lengths)
    spreads = [np.ptp(longer[update]) for update in epoch_of(plan_of(lengths), 1)]
    assert np.median(spreads) <= 1
    assert np.ptp(longer) > 40


def test_windows_run_up_and_down_in_turn_so_that_like_meets_like():
    order = np.arange(7)
    sides = (np.array([3, 1, 2, 1, 1, 1, 5]), np.array([1, 1, 1, 3, 1, 2, 1]))
    sort_inside_windows(order, sides, window=3)
    assert order.tolist() == [1, 2, 0, 3, 5, 4, 6]


def test_updates_of_an_epoch_do_not_come_by_length():
    lengths = lengths_of(5_000)
    means = [lengths[0][update].mean() for update in epoch_of(plan_of(lengths), 1)]
    places = np.arange(len(means))
    assert abs(np.corrcoef(means, places)[0, 1]) < 0.2


def test_which_pairs_meet_changes_from_epoch_to_epoch():
    plan = plan_of(lengths_of(5_000))
    first = {frozenset(update.tolist()) for update in epoch_of(plan, 1)}
    second = {frozenset(update.tolist()) for update in epoch_of(plan, 2)}
    assert not first & second


def test_budgets_are_filled():
    """The mean update of the paper has about as many tokens as the budget says."""
    source, target = lengths_of(20_000)
    plan = plan_of((source, target), budget=1_000)
    fullest = max(source.sum(), target.sum()) / (1_000 * len(plan.epoch(1)))
    assert fullest > 0.95
