"""The orders of a search process: pages wait for pings and searches, and can be cancelled."""

import pytest
from tests.inference.random_models import LINES, random_translator

from transduce.errors import InputError, NotEnoughMemoryError, NotFiniteError
from transduce.serve.messages import (
    Alive,
    AttentionRequest,
    Cancel,
    Failed,
    Page,
    Ping,
    SentenceOutputs,
    TranslationOrder,
)
from transduce.serve.search_worker import SearchWorker

MOST = 1 << 30  # bytes that a page may need
LINE = LINES[0]


def test_pages_are_drawn_one_a_step_and_a_ping_waits_for_none():
    sent = list[object]()
    worker = SearchWorker(random_translator(), sent.append)
    for order in (AttentionRequest(1, LINE, MOST), AttentionRequest(2, LINE, MOST), Ping()):
        worker.receive(order)
    assert sent == [Alive()]
    for number in (1, 2):
        assert not worker.is_idle
        worker.step()
        assert isinstance(sent[-1], Page)
        assert (len(sent), sent[-1].id) == (1 + number, number)
    assert worker.is_idle


def test_a_sentence_that_comes_with_pages_is_searched_between_them():
    sent = list[object]()
    worker = SearchWorker(random_translator(), sent.append)
    worker.receive(TranslationOrder(1, LINE))
    steps = 0
    while not worker.is_idle:
        worker.step()
        steps += 1
    for number in range(2, steps + 3):
        worker.receive(AttentionRequest(number, LINE, MOST))
    worker.receive(TranslationOrder(99, LINE))
    while not any(isinstance(one, SentenceOutputs) and one.id == 99 for one in sent):
        worker.step()
    assert not worker.is_idle


@pytest.mark.parametrize("error", [InputError, NotEnoughMemoryError, NotFiniteError])
def test_only_an_input_that_cannot_be_used_is_the_fault_of_its_request(error):
    def fail():
        raise error("line 1: a fact")

    sent = list[object]()
    SearchWorker(random_translator(), sent.append).answer_errors(7, fail)
    assert sent == [Failed(7, "a fact", is_server_fault=error is not InputError)]


def test_a_cancelled_page_is_never_drawn():
    sent = list[object]()
    worker = SearchWorker(random_translator(), sent.append)
    for number in (1, 2):
        worker.receive(AttentionRequest(number, LINE, MOST))
    worker.receive(Cancel(frozenset({1})))
    while not worker.is_idle:
        worker.step()
    assert [one.id for one in sent if isinstance(one, Page)] == [2]
    assert len(sent) == 1
