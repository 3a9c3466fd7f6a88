"""Under load, over capacity, when clients leave and searches end: nothing crossed, nothing lost."""

import asyncio
import errno
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle
from multiprocessing import Pipe

import pytest
from tests.inference.random_models import LINES, random_translator
from tests.serve.fake_search import FACTS, FakeSearch, start_or_fail
from tests.serve.models import load_back, load_nothing, load_random
from tests.serve.running import running_server

from transduce.errors import InputError
from transduce.serve import dispatcher
from transduce.serve.interface import Limits

QUICK = Limits(restart_seconds=0.01)
WORDS = " ".join(LINES).replace(".", "").split()


def unique_lines(count):
    return [f"{WORDS[n % 17]} {WORDS[(7 * n + 3) % 17]} {n}" for n in range(count)]


@pytest.mark.filterwarnings("ignore:.*its translation lacks")  # the model is random
def test_parallel_clients_get_the_answers_to_their_own_texts():
    lines = unique_lines(36)
    expected = random_translator()(lines)
    assert len(set(expected)) > 20  # a few are equal: the model is small
    with running_server() as client, ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(client.translate, lines))
        assert client.measure("sentences_total") == 36
    assert [one.json["translatedText"] for one in answers] == expected


def ask_for_unique_lines(search, client, lines):
    """Return the lines whose answers are not their own, when all were in one search at once."""
    with ThreadPoolExecutor(len(lines)) as pool:
        asked = [pool.submit(client.translate, line) for line in lines]
        search.wait_for(len(lines))
        search.gate.set()
        answers = [one.result() for one in asked]
    both = zip(lines, answers, strict=True)
    return [line for line, one in both if one.json != {"translatedText": f"[{line}]"}]


def test_no_answer_goes_to_another_client(record):
    search = FakeSearch(is_open=False)
    with running_server(start=search) as client:
        crossed = ask_for_unique_lines(search, client, unique_lines(3))
    record(clients=3, crossed=len(crossed))
    assert crossed == []


def test_the_control_whose_requests_share_a_number_is_caught(monkeypatch, record):
    monkeypatch.setattr(dispatcher, "count", lambda _: cycle((1, 2)))
    search = FakeSearch(is_open=False)
    with running_server(start=search, limits=Limits(request_seconds=0.5)) as client:
        crossed = ask_for_unique_lines(search, client, unique_lines(3))
    record(clients=3, crossed=len(crossed))
    assert crossed


def test_a_long_text_holds_up_no_short_one():
    search = FakeSearch(is_open=False)
    with running_server(start=search) as client, ThreadPoolExecutor(2) as pool:
        long = pool.submit(client.translate, "\n".join(unique_lines(30)))
        search.wait_for(3)
        short = pool.submit(client.translate, "short")
        wait_until(client, "queue_sentences", 28)
        search.gate.set()
        assert short.result().json == {"translatedText": "[short]"}
        found = "\n".join(f"[{line}]" for line in unique_lines(30))
        assert long.result().json == {"translatedText": found}
    assert search.seen.index("short") <= 4


def wait_until(client, metric, value):
    """Wait until a metric has a value."""
    for _ in range(400):
        if client.measure(metric) == value:
            return
        threading.Event().wait(0.02)
    raise AssertionError(f"{metric}: {client.measure(metric)}, not {value}")


def wait_until_ready(client):
    """Wait until every model has a search again."""
    for _ in range(400):
        if client.get("/ready").status == 200:
            return
        threading.Event().wait(0.02)
    raise AssertionError(client.get("/ready"))


def test_over_capacity_requests_are_refused_at_once_and_all_accepted_ones_are_answered():
    search = FakeSearch(is_open=False)
    running = running_server(start=search, limits=Limits(queue=5))
    with running as client, ThreadPoolExecutor(20) as pool:
        accepted = [pool.submit(client.translate, line) for line in unique_lines(8)]
        wait_until(client, "queue_sentences", 5)
        refused = [client.translate(line) for line in unique_lines(4)]
        health = client.get("/health")
        search.gate.set()
        answers = [one.result() for one in accepted]
    assert {one.status for one in refused} == {503}
    assert {one.headers["retry-after"] for one in refused} == {"2"}
    assert health.status == 200
    assert [one.json["translatedText"] for one in answers] == [f"[{n}]" for n in unique_lines(8)]


def test_what_a_client_that_leaves_has_asked_for_is_no_longer_searched():
    search = FakeSearch(is_open=False)
    with running_server(start=search) as client:
        body = b'{"q": ["a1", "b1", "c1", "d1", "e1"], "source": "en", "target": "de"}'
        head = f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        with client.connect() as connection:
            connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
            search.wait_for(3)
        search.wait_for(1)
        assert len(search.cancelled) == 3
        wait_until(client, "running_sentences", 0)
        assert client.measure("queue_sentences") == 0
        assert client.measure("cancelled_total") == 1
        search.gate.set()
        assert client.translate("next").json == {"translatedText": "[next]"}
    assert search.seen == ["a1", "b1", "c1", "next"]


def test_what_takes_too_long_is_refused_and_no_longer_searched():
    search = FakeSearch(is_open=False)
    with running_server(start=search, limits=Limits(request_seconds=0.1)) as client:
        answer = client.translate("slow")
        assert (answer.status, set(answer.json)) == (504, {"error"})
        search.wait_for(2)
        assert len(search.cancelled) == 1
        search.gate.set()
        assert any(client.translate("quick").status == 200 for _ in range(50))


def test_the_sentences_of_a_search_that_ends_are_searched_again():
    search = FakeSearch(is_open=False)
    with running_server(start=search) as client, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.translate, unique_lines(5))
        search.wait_for(3)
        search.die()
        search.wait_for(3)
        search.gate.set()
        assert asked.result().json == {"translatedText": [f"[{n}]" for n in unique_lines(5)]}
        assert client.measure("restarts_total") == 1
        assert client.get("/ready").status == 200


def test_a_search_that_starts_again_with_other_languages_is_not_used():
    search = FakeSearch()
    with running_server(start=search, limits=QUICK) as client:
        search.facts = replace(FACTS, source="fr")
        search.die()
        while client.measure("restarts_total") < 2:
            threading.Event().wait(0.02)
        assert client.get("/ready").status == 503
        assert client.translate("a").status == 503
        search.facts = FACTS
        wait_until_ready(client)
        assert client.translate("a").json == {"translatedText": "[a]"}


def test_several_searches_share_the_sentences_of_one_model():
    search = FakeSearch(is_open=False)
    running = running_server(start=search, workers=2)
    with running as client, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.translate, unique_lines(9))
        search.wait_for(6)
        assert client.measure("queue_sentences") == 3
        search.die()
        search.gate.set()
        assert asked.result().json == {"translatedText": [f"[{n}]" for n in unique_lines(9)]}


def test_a_sentence_that_ends_two_searches_is_refused():
    search = FakeSearch(is_open=False)
    with running_server(start=search, limits=QUICK) as client, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.translate, "deadly")
        for _ in range(2):
            search.wait_for(1)
            search.die()
        assert asked.result().status == 503
        search.gate.set()
        wait_until_ready(client)
        assert client.translate("harmless").json == {"translatedText": "[harmless]"}


def test_a_request_that_ends_two_searches_is_refused_alone():
    search = FakeSearch(is_open=False)
    with running_server(start=search, limits=QUICK) as client, ThreadPoolExecutor(2) as pool:
        asked = pool.submit(client.translate, ["deadly", "deadly too"])
        search.wait_for(2)
        search.die()
        search.wait_for(2)
        other = pool.submit(client.translate, "harmless")
        search.wait_for(1)
        search.die()
        assert asked.result().status == 503
        search.gate.set()
        assert other.result().json == {"translatedText": "[harmless]"}
        assert client.translate("later").json == {"translatedText": "[later]"}
        assert client.get("/health").status == 200


def test_health_says_that_a_model_has_no_search_until_it_has_one_again():
    search = FakeSearch()
    with running_server(start=search, limits=QUICK) as client:
        search.facts = None  # the next search never tells that it is ready
        search.die()
        wait_until(client, "restarts_total", 1)
        answer = client.get("/health")
        assert (answer.status, answer.json) == (503, {"status": "no search process for en to de"})
        search.facts = FACTS
        search.die()
        wait_until_ready(client)
        assert client.get("/health").json == {"status": "ok"}


def test_a_search_that_is_stopped_is_replaced_and_health_says_so(caplog):
    search = FakeSearch()
    limits = replace(QUICK, hang_seconds=0.3)
    with running_server(start=search, limits=limits) as client, ThreadPoolExecutor(1) as pool:
        search.facts = None  # the next search never tells that it is ready
        search.stop()
        asked = pool.submit(client.translate, "a")
        wait_until(client, "restarts_total", 1)
        assert client.get("/health").json == {"status": "no search process for en to de"}
        search.facts = FACTS
        search.die()
        wait_until_ready(client)
        assert asked.result().json == {"translatedText": "[a]"}
        assert client.get("/health").json == {"status": "ok"}
    assert "en to de: a search process has not answered for 0 seconds" in caplog.text


def test_a_stopped_search_whose_pipe_is_full_does_not_stop_the_server():
    search = FakeSearch()
    search.facts = replace(FACTS, capacity=99)
    with running_server(start=search, limits=QUICK) as client:
        search.stop()
        assert client.translate(["\u5b57" * 5_000] * 30).status == 200
        assert client.measure("restarts_total") == 1


def test_a_search_that_cannot_be_started_again_is_tried_until_it_can(caplog):
    search, failures = FakeSearch(), list[Exception]()
    with running_server(start=start_or_fail(search, failures), limits=QUICK) as client:
        failures += [OSError(errno.EPERM, "no"), MemoryError(), OSError(errno.EMFILE, "open")]
        search.die()
        wait_until(client, "restarts_total", 4)
        wait_until_ready(client)
        assert client.translate("a").json == {"translatedText": "[a]"}
    assert "a search process ended, and another one is started" in caplog.text
    assert "could be started: too many files are open; the next try is in 0.0 s" in caplog.text
    assert "en to de: a search process was started again" in caplog.text


def test_the_control_that_starts_a_search_once_is_caught(monkeypatch, record):
    monkeypatch.setattr(dispatcher.Dispatcher, "restart", dispatcher.Dispatcher.start_one)
    search, failures = FakeSearch(), list[Exception]()
    with running_server(start=start_or_fail(search, failures)) as client:
        failures.append(OSError(errno.EMFILE, "open"))
        search.die()
        while failures:
            threading.Event().wait(0.02)
        status = client.translate("a").status
    record(status_afterwards=status)
    assert status == 503


def test_thousands_of_failed_starts_are_followed_by_another_one():
    limits = Limits(restart_seconds=1e-6, longest_restart_seconds=1e-6)
    search, failures = FakeSearch(), list[Exception]()
    with running_server(start=start_or_fail(search, failures), limits=limits) as client:
        failures += [OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))] * 1_100
        search.die()
        wait_until(client, "restarts_total", 1_101)
        wait_until_ready(client)
        assert client.translate("a").status == 200


def test_a_search_that_ends_as_soon_as_it_is_ready_is_started_again():
    search, deaths = FakeSearch(), list[None]()

    def start(load):
        if not deaths:
            return search(load)
        ours, theirs = Pipe()
        theirs.send(FACTS)
        theirs.close()
        return ours, deaths.pop()

    with running_server(start=start, limits=QUICK) as client:
        deaths.append(None)
        search.die()
        wait_until(client, "restarts_total", 2)
        wait_until_ready(client)
        assert client.translate("a").status == 200


def test_a_server_that_is_stopped_answers_what_it_has_accepted():
    search = FakeSearch(is_open=False)
    with ThreadPoolExecutor(10) as pool:
        with running_server(start=search) as client:
            asked = [pool.submit(client.translate, line) for line in unique_lines(10)]
            wait_until(client, "queue_sentences", 7)
            client.server.stop()
            search.gate.set()
        answers = [one.result() for one in asked]
    assert [one.json["translatedText"] for one in answers] == [f"[{n}]" for n in unique_lines(10)]


def test_a_server_that_is_stopped_refuses_what_it_cannot_finish_in_time():
    search = FakeSearch(is_open=False)
    with ThreadPoolExecutor(5) as pool:
        with running_server(start=search, limits=Limits(stop_seconds=1.2)) as client:
            asked = [pool.submit(client.translate, line) for line in unique_lines(5)]
            wait_until(client, "queue_sentences", 2)
        answers = [one.result() for one in asked]
    assert {one.status for one in answers} == {503}
    assert all("stops" in one.json["error"] for one in answers)


def test_a_model_that_cannot_be_loaded_is_an_error_of_the_command():
    with (
        pytest.raises(InputError, match="somewhere: no such folder"),
        running_server(load_nothing),
    ):
        pass


def test_two_models_of_one_pair_are_refused():
    with (
        pytest.raises(InputError, match="two models translate en to de"),
        running_server(load_random, load_random),
    ):
        pass


def test_a_port_in_use_is_refused():
    with running_server(start=FakeSearch()) as client:
        second = running_server(load_back, port=client.port)
        with pytest.raises(InputError, match="cannot be used"), second:
            pass


def test_a_search_that_ends_after_its_start_was_cancelled_is_no_fault():
    async def lose() -> None:
        found = dispatcher.Dispatcher(load_nothing, FakeSearch(), Limits())
        client = dispatcher.SearchClient.__new__(dispatcher.SearchClient)
        found.starting[client] = asyncio.get_running_loop().create_future()
        found.starting[client].cancel()  # as Ctrl-C does while a model is loaded
        found.handle_loss(client)
        assert not found.starting

    asyncio.run(lose())
