"""A search that sources join and leave finds for each what it finds alone."""

import random

import pytest
from tests.reference.toy_decoder import ToyDecoder, random_model
from tests.search.test_beam import random_sources

from transduce.paper.search import beam_search
from transduce.search.running_search import MAX_WAIT_STEPS, RunningSearch
from transduce.settings import Search

SEARCH = Search(beam=3, extra_length=4, batch_size=5)


def build(nbest=1):
    decoder = ToyDecoder(random_model(3, symbols=7), SEARCH.beam)
    return decoder, RunningSearch(decoder, SEARCH, nbest=nbest, max_length=8)


def assert_found(found, expected):
    assert [one.ids for one in found] == [one.ids for one in expected]
    assert [one.score for one in found] == pytest.approx([one.score for one in expected])


@pytest.mark.parametrize("nbest", [1, 3])
def test_sources_that_join_at_any_time_get_what_they_get_alone(nbest):
    decoder, running = build(nbest)
    sources, draw, found = random_sources(18, max_length=4), random.Random(4), {}
    coming = list(enumerate(sources))
    while coming or not running.is_idle:
        for _ in range(draw.choice([0, 0, 1, 3])):
            if coming:
                running.add(dict([coming.pop()]))
        assert running.running <= SEARCH.batch_size
        for number, hypotheses in running.step():
            assert number not in found
            found[number] = hypotheses
    assert sorted(found) == list(range(18))
    for number, source in enumerate(sources):
        assert_found(found[number], beam_search(decoder, [source], SEARCH, nbest=nbest)[0])


def test_sources_that_leave_give_no_result_and_change_no_other():
    decoder, running = build()
    sources = random_sources(16, max_length=4, seed=2)
    running.add(dict(enumerate(sources)))
    found = dict(running.step())
    gone = {2, 3, 11, 15}  # running and waiting
    running.drop(gone)
    while not running.is_idle:
        found |= dict(running.step())
    assert set(range(16)) - set(found) == gone - set(found)
    assert {11, 15} & set(found) == set()
    for number, hypotheses in found.items():
        assert_found(hypotheses, beam_search(decoder, [sources[number]], SEARCH)[0])


def test_a_lone_source_starts_at_once_and_no_source_waits_long():
    _, running = build()
    long = random_sources(12, max_length=7, seed=5)
    running.add({0: long[0]})
    running.step()
    assert not running.waiting
    running.add({1: long[1]})
    for _ in range(MAX_WAIT_STEPS + 1):
        running.step()
    assert not running.waiting


def test_all_can_be_taken_out_at_once():
    _, running = build()
    running.add(dict(enumerate(random_sources(9))))
    running.step()
    numbers = running.clear()
    assert running.is_idle
    assert set(numbers) <= set(range(9))
    assert running.step() == []


@pytest.mark.parametrize("failing_call", ["start", "step", "concatenate"])
def test_sources_whose_entry_failed_are_among_those_taken_out(failing_call, monkeypatch):
    decoder, running = build()
    sources = random_sources(12, max_length=7, seed=5)
    running.add({0: sources[0]})
    running.step()
    assert running.running == 1

    def fail(*_):
        raise MemoryError

    running.add({1: sources[1], 2: sources[2]})
    with monkeypatch.context() as patch:
        patch.setattr(decoder, failing_call, fail)
        with pytest.raises(MemoryError):
            running.step()
    assert sorted(running.clear()) == [0, 1, 2]
    running.add({3: sources[3]})
    results = []
    while not running.is_idle:
        results += running.step()
    assert_found(dict(results)[3], beam_search(decoder, [sources[3]], SEARCH)[0])
