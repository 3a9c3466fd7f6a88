import numpy as np

from transduce.corpus.feed import read_batch

PAIRS = [("a dog", "ein Hund"), ("", "leer"), ("two äpfel", "zwei Äpfel"), ("x", "")]


def test_a_batch_holds_the_named_pairs_in_the_named_order(store_of):
    store = store_of(PAIRS)
    batch = read_batch(store, np.array([2, 0, 1]))
    expected = [[side.tolist() for side in store.pair(number)] for number in (2, 0, 1)]
    assert batch.source.to_sentences() == [source for source, _ in expected]
    assert batch.target.to_sentences() == [target for _, target in expected]


def test_an_empty_line_is_in_a_batch_as_its_end(store_of):
    batch = read_batch(store_of(PAIRS), np.array([1]))
    assert batch.source.to_sentences() == [[0]]


def test_a_batch_goes_to_a_device_whole(store_of):
    batch = read_batch(store_of(PAIRS), np.array([0, 3])).to("meta")
    assert {batch.source.ids.device.type, batch.target.ids.device.type} == {"meta"}
    assert batch.target.lengths == (9, 1)


def test_padding_brings_both_sides_to_a_multiple_and_moves_no_pair(store_of):
    batch = read_batch(store_of(PAIRS), np.array([2, 0, 1]))
    full = batch.pad_to_multiple(8)
    for side, filled in ((batch.source, full.source), (batch.target, full.target)):
        assert len(filled.ids) % 8 == 0
        assert 1 <= filled.lengths[-1] <= 8
        assert filled.to_sentences()[:-1] == side.to_sentences()
    assert full.pad_to_multiple(8) is full, "nothing is missing any more"


def test_a_side_that_is_even_already_gets_a_filler_with_the_other(store_of):
    batch = read_batch(store_of([("abc", "x")]), np.array([0]))
    assert [len(side.ids) for side in (batch.source, batch.target)] == [4, 2]
    full = batch.pad_to_multiple(4)
    assert (full.source.lengths, full.target.lengths) == ((4, 4), (2, 2))
