import pytest

from transduce.corpus.feed import Feed
from transduce.corpus.plan import Plan
from transduce.corpus.toys import generate_pairs


@pytest.fixture
def feed(store_of):
    store = store_of(generate_pairs("reverse", 300), max_length=40)
    lengths = (store.source_lengths, store.target_lengths)
    plan = Plan(*lengths, source_tokens=500, target_tokens=500, seed=3)
    return Feed(store, plan, micro_batch_tokens=200)


def sentences(batches):
    """Pairs of sentences, in one order whatever the split."""
    return sorted(
        pair
        for batch in batches
        for pair in zip(batch.source.to_sentences(), batch.target.to_sentences(), strict=True)
    )


def test_an_update_holds_the_pairs_of_the_plan(feed):
    for step in (1, 2, 20):
        numbers = feed.plan.select_pairs(step).tolist()
        expected = sorted(
            tuple(side.tolist() for side in feed.store.pair(number)) for number in numbers
        )
        assert sentences(feed.micro_batches(step)) == expected


def test_no_micro_batch_is_over_the_limit(feed):
    batches = feed.micro_batches(1)
    assert len(batches) > 1
    assert all(len(batch.source.ids) + len(batch.target.ids) <= 200 for batch in batches)


def test_the_limit_decides_the_split_not_the_pairs(feed):
    whole = Feed(feed.store, feed.plan, micro_batch_tokens=10_000).micro_batches(5)
    assert len(whole) == 1
    assert sentences(whole) == sentences(feed.micro_batches(5))


def test_a_step_is_the_same_again_after_others(feed):
    first = sentences(feed.micro_batches(3))
    feed.micro_batches(90)
    assert sentences(feed.micro_batches(3)) == first
