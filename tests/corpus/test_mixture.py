"""Mixtures: each text has its share of every epoch, pass after pass, and only in its updates."""

import json
from collections import Counter

import numpy as np
import pytest
from tests.corpus.test_plan import lengths_of

from transduce.corpus.mixture import Share, resolve_shares
from transduce.corpus.plan import Plan
from transduce.corpus.store import Store
from transduce.durable.folder import atomic_folder, open_folder
from transduce.errors import FolderError, InputError
from transduce.vocabulary import BEGIN, END

FEW, MANY = 300, 900  # pairs of two texts
LENGTHS = lengths_of(FEW + MANY)


def plan_of(*shares, seed=1, **known):
    return Plan(*LENGTHS, source_tokens=300, target_tokens=300, seed=seed, mixture=shares, **known)


def two(weight, **times):
    few = Share(name="few", pairs=FEW, weight=weight)
    return few, Share(name="many", pairs=MANY, weight=1.0, **times)


def read(plan, first, last):
    return np.concatenate([plan.select_pairs(step) for step in range(first, last + 1)])


@pytest.mark.parametrize("weight", [0.2, 1.0, 3.0])
def test_each_text_has_its_share_of_every_epoch(weight):
    plan = plan_of(*two(weight))
    for number in (1, 2, 3):
        order = plan.epoch(number).order
        assert len(order) == FEW + MANY
        assert (order < FEW).mean() == pytest.approx(weight / (1 + weight), abs=0.001)


def test_no_pair_is_read_a_second_time_before_all_of_its_text_were_read_once():
    plan = plan_of(*two(1.5))
    taken = np.concatenate([plan.epoch(number).order for number in (1, 2, 3, 4)])
    for text in (taken[taken < FEW], taken[taken >= FEW]):
        counts = Counter(text.tolist()).values()
        assert max(counts) - min(counts) <= 1


def test_updates_of_a_mixture_keep_to_the_budgets_and_to_pairs_of_like_length():
    plan = plan_of(*two(3.0))
    updates = [plan.select_pairs(step) for step in range(1, 100)]
    for lengths in LENGTHS:
        assert max(lengths[update].sum() for update in updates) <= 300
    assert np.mean([LENGTHS[0][update].std() for update in updates]) < LENGTHS[0].std() / 2


def test_an_update_of_a_mixture_is_the_same_whatever_was_asked_before():
    in_order = {step: plan_of(*two(2.0, start=20, stop=90)) for step in (1, 40, 130)}
    asked = plan_of(*two(2.0, start=20, stop=90))
    for step in (130, 1, 40, 130):
        assert asked.select_pairs(step).tolist() == in_order[step].select_pairs(step).tolist()
    other = plan_of(*two(2.0, start=20, stop=90), seed=2)
    assert other.select_pairs(40).tolist() != asked.select_pairs(40).tolist()


def test_a_text_is_read_from_its_first_update_to_its_last():
    plan = plan_of(*two(1.0, start=20, stop=90))
    assert read(plan, 1, 19).max() < FEW <= read(plan, 20, 24).max()
    assert read(plan, 86, 90).max() >= FEW > read(plan, 91, 200).max()
    assert (read(plan, 20, 90) >= FEW).mean() == pytest.approx(0.5, abs=0.1)


def test_a_plan_that_is_told_where_earlier_epochs_ended_goes_on_the_same():
    told = []
    straight = plan_of(*two(0.4, start=20, stop=90), on_epoch=lambda ends: told.append([*ends]))
    pairs = straight.select_pairs(400).tolist()
    assert told[-1] == straight.ends
    assert len(told) == len(straight.ends) > 5
    resumed = plan_of(*two(0.4, start=20, stop=90), known_ends=told[-1])
    resumed.append_epoch = None  # no epoch needs to be planned again
    assert resumed.select_pairs(400).tolist() == pairs


def test_a_mixture_of_one_text_is_that_text():
    alone = Plan(*LENGTHS, source_tokens=300, target_tokens=300, seed=1)
    mixed = plan_of(Share(name="all", pairs=FEW + MANY, weight=7.0))
    for step in (1, 50, 170):
        assert mixed.select_pairs(step).tolist() == alone.select_pairs(step).tolist()


def test_texts_without_weights_weigh_as_much_as_their_pairs():
    shares = [Share(name="a"), Share(name="b"), Share(name="c", weight=0.5, is_added=True)]
    assert [one.weight for one in resolve_shares(shares, [30, 10, 7])] == [0.75, 0.25, 0.5]
    with pytest.raises(InputError, match="no pair of the b text is left"):
        resolve_shares(shares, [30, 0, 7])


MIXED = [Share(name="a", weight=1.0), Share(name="back", weight=2.0, is_tagged=True, is_added=True)]


def test_a_store_keeps_its_texts_apart_and_tags_one(store_of):
    store = store_of([[("ab", "x")], [("ab", "y"), ("x" * 11, "z"), ("cd", "z")]], shares=MIXED)
    assert [(one.name, one.pairs, one.weight) for one in store.mixture] == [
        ("a", 1, 1.0),
        ("back", 2, 2.0),
    ]
    sources = [store.pair(number)[0].tolist() for number in range(3)]
    assert sources == [[99, 100, END], [BEGIN, 99, 100, END], [BEGIN, 101, 102, END]]
    assert store.about["pairs"]["too_long"] == 1, "the tag counts"
    assert store.fingerprint != store_of([("ab", "x")], "other").fingerprint


@pytest.mark.parametrize(
    "change",
    [
        lambda shares: shares[1].update(is_tagged=False),
        lambda shares: shares[0].update(is_tagged=True),
        lambda shares: shares[0].update(pairs=2),
        lambda shares: shares[0].update(weight=0.0),
        lambda shares: shares.pop(),
    ],
)
def test_a_manifest_that_tells_of_other_texts_is_refused(store_of, change):
    store = store_of([[("ab", "x")], [("ab", "y")]], shares=MIXED)
    verified = open_folder(store.folder, "store")
    about = json.loads(json.dumps(verified.about))
    change(about["mixture"])
    with atomic_folder(store.folder.with_name("o"), kind="store", about=about) as writer:
        for name in verified.files:
            writer.write(name, verified.read(name))
    with pytest.raises(FolderError):
        Store.open(store.folder.with_name("o"))
