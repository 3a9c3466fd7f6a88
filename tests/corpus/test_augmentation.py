"""Augmentation: an epoch changes some pairs, the same for whoever asks, and keeps to all limits."""

from dataclasses import replace

import numpy as np
import pytest
from tests.corpus.conftest import DATA
from tests.corpus.test_feed import sentences

from transduce.corpus.feed import Augmentation, Feed
from transduce.corpus.mixture import Share
from transduce.corpus.plan import Plan
from transduce.errors import InputError
from transduce.runs.choice import Choice
from transduce.settings import Recipe
from transduce.settings.data import CHANGES
from transduce.settings.recipe import with_changes
from transduce.tasks import build_task
from transduce.vocabulary import BEGIN
from transduce.vocabulary.learn import learn_vocabulary
from transduce.vocabulary.vocabulary import Vocabularies

PAIRS = [(f"w{'o' * (number % 9)}rd {number}.", f"wort {number}.") for number in range(300)]
BYTES = learn_vocabulary(["a line"], 258)


def augmented(store, **shares):
    data = replace(DATA, max_length=20, **shares)
    return Augmentation(store, build_task(data, Vocabularies(BYTES, BYTES)), data, seed=3)


def feed_of(store, augmentation=None, limit=200):
    plan = Plan(
        store.source_lengths,
        store.target_lengths,
        source_tokens=500,
        target_tokens=500,
        seed=3,
        mixture=store.mixture,
        measure=augmentation and augmentation.measure,
    )
    return Feed(store, plan, limit, augmentation)


def text(ids):
    return BYTES.decode(ids)


@pytest.fixture
def store(store_of):
    return store_of(PAIRS, max_length=20)


def test_a_share_of_each_epoch_changes_and_each_epoch_changes_others(store):
    augmentation = augmented(store, upper_case=0.3, copied_token=0.1)
    pairs = np.arange(300)
    first, second = (augmentation.change(epoch, pairs) for epoch in (1, 2))
    assert len(first) == pytest.approx(300 * 0.33, abs=25)
    assert first.keys() != second.keys()
    texts = [text(source) for source, _ in first.values()]
    assert sum("W" in line for line in texts) == pytest.approx(90, abs=25)


def test_an_update_holds_the_changed_pairs_within_the_budgets(store):
    feed = feed_of(store, augmented(store, no_end_mark=0.5, copied_token=0.3))
    updates = len(feed.plan.epoch(1))
    found = [sentences(feed.micro_batches(step)) for step in range(1, updates + 1)]
    for update in found:
        assert all(sum(len(pair[side]) for pair in update) <= 500 for side in (0, 1))
    targets = [text(target) for update in found for _, target in update]
    assert len(targets) == 300
    assert sum("." not in target for target in targets) == pytest.approx(150, abs=40)


def test_an_epoch_is_planned_from_the_lengths_of_shortened_pairs(store_of):
    store = store_of(
        [(f"Word {n}. And {n}.", f"Wort {n}. Und {n}.") for n in range(100, 400)], max_length=20
    )
    feed = feed_of(store, augmented(store, short_input=0.5))
    epoch = feed.plan.epoch(1)
    found = [pair for n in range(1, len(epoch) + 1) for pair in sentences(feed.micro_batches(n))]
    short = [pair for pair in found if len(pair[0]) < 12]
    assert len(short) == pytest.approx(150, abs=30)
    assert {text(source)[:3] for source, _ in short} == {"Wor", "And"}
    for side, planned in enumerate(epoch.lengths):
        assert sorted(planned) == sorted(len(pair[side]) for pair in found)
    assert len(epoch) < len(feed_of(store).plan.epoch(1))


def test_an_update_is_the_same_whatever_was_asked_before_and_however_it_is_split(store):
    augmentation = augmented(store, upper_case=0.2, typos=0.2, copied_token=0.2)
    asked, fresh = feed_of(store, augmentation), feed_of(store, augmentation, limit=10_000)
    for step in (40, 2, 41):
        assert sentences(asked.micro_batches(step)) == sentences(fresh.micro_batches(step))
    assert sentences(asked.micro_batches(40)) != sentences(feed_of(store).micro_batches(40))


def test_without_shares_a_feed_is_as_before(store):
    nothing = augmented(store)
    for step in (1, 20):
        assert sentences(feed_of(store, nothing).micro_batches(step)) == sentences(
            feed_of(store).micro_batches(step)
        )


def test_a_pair_that_would_be_too_long_stays_and_a_tag_stays_first(store_of):
    shares = [Share(name="a", weight=1.0), Share(name="b", weight=1.0, is_tagged=True)]
    store = store_of([[("a", "b")], [("x" * 18, "y"), ("c", "d")]], max_length=20, shares=shares)
    changed = augmented(store, upper_case=0.999).change(1, np.arange(3))
    assert {pair: (text(source), text(target)) for pair, (source, target) in changed.items()} == {
        0: ("A", "B"),
        1: ("X" * 18, "Y"),
        2: ("C", "D"),
    }
    assert [changed[pair][0][0] == BEGIN for pair in (0, 1, 2)] == [False, True, True]
    assert not augmented(store, copied_token=0.999).change(1, np.array([1]))


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("task", ["parsing", "copy"])
def test_a_task_without_text_refuses_augmentation_by_name(name, task):
    recipe = with_changes(Recipe(name="any"), {f"data.{name}": 0.1, "data.task": task})
    with pytest.raises(
        InputError, match=rf"data\.{name} would change text, and data\.task is {task}"
    ):
        Choice(recipe=recipe, reasons=[])
