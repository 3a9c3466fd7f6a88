"""Too many connections: who holds many slow ones loses them, and keeps no other client out."""

import errno
import http.client
import math
import os
import resource
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest
from tests.serve.fake_search import FakeSearch
from tests.serve.running import Client, running_server
from tests.serve.test_life import unique_lines

from transduce.machine.limits import open_file_limit, raise_open_file_limit
from transduce.serve import protocol, server
from transduce.serve.interface import Limits
from transduce.serve.protocol import name_client
from transduce.serve.server import fit_open_files

LIMITS = Limits(connections=20, receive_seconds=60.0)
SLOW, HONEST = "127.0.0.1", "127.0.0.2"  # addresses of clients
HEAD = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


class Slow:
    """A client that holds `count` connections, sends a byte on each in turn, and never ends."""

    def __init__(self, port, count, beginning=HEAD):
        self.port, self.count, self.beginning = port, count, beginning
        self.open, self.closed = list[socket.socket](), 0

    def open_all(self):
        while len(self.open) < self.count:
            one = socket.create_connection(("127.0.0.1", self.port), 30, (SLOW, 0))
            one.sendall(self.beginning)
            one.setblocking(False)
            self.open.append(one)

    def send_a_byte_on_each(self):
        for one in list(self.open):
            try:
                one.send(b"x")
                is_alive = one.recv(1_000) != b""
            except BlockingIOError:
                is_alive = True
            except OSError:
                is_alive = False
            if not is_alive:
                one.close()
                self.open.remove(one)
                self.closed += 1


@contextmanager
def slow_client(port, count, beginning=HEAD):
    found = Slow(port, count, beginning)
    try:
        found.open_all()
        yield found
    finally:
        for one in found.open:
            one.close()


def count_answers(client, slow, rounds):
    """Return how many honest requests are answered while a slow client opens all again."""
    answered = 0
    for number in range(rounds):
        slow.send_a_byte_on_each()
        slow.open_all()
        with suppress(OSError, http.client.HTTPException):  # the connection may be refused
            answered += client.translate(f"line {number}").json == {
                "translatedText": f"[line {number}]"
            }
    return answered


@pytest.mark.parametrize("beginning", [b"", HEAD, HEAD + b"Content-Length: 90000\r\n\r\n"])
@pytest.mark.parametrize("source", [HONEST, SLOW])
def test_a_client_with_many_slow_connections_keeps_no_other_out(beginning, source, record):
    with running_server(start=FakeSearch(), limits=LIMITS) as client:
        honest = Client(client.port, source=source)
        with slow_client(client.port, 30, beginning) as slow:
            answered = count_answers(honest, slow, rounds=20)
    record(honest=20, answered=answered, slow_closed=slow.closed)
    assert answered == 20
    assert slow.closed >= 20


def test_the_control_that_refuses_the_newest_connection_is_caught(monkeypatch, record):
    monkeypatch.setattr(protocol, "choose_connection", lambda waiting: list(waiting)[-1])
    with running_server(start=FakeSearch(), limits=LIMITS) as client:
        honest = Client(client.port, source=HONEST)
        with slow_client(client.port, 30) as slow:
            answered = count_answers(honest, slow, rounds=5)
    record(honest=5, answered=answered)
    assert answered < 5


def test_requests_that_are_being_answered_keep_their_connections():
    search = FakeSearch(is_open=False)
    with (
        running_server(start=search, limits=LIMITS) as client,
        ThreadPoolExecutor(10) as pool,
    ):
        asked = [pool.submit(client.translate, line) for line in unique_lines(10)]
        search.wait_for(3)
        while client.measure("queue_sentences") < 7:
            pass
        with slow_client(client.port, 60):
            search.gate.set()
            found = [one.result().json["translatedText"] for one in asked]
    assert found == [f"[{line}]" for line in unique_lines(10)]


def test_idle_connections_of_a_client_that_has_few_are_kept():
    with running_server(start=FakeSearch(), limits=LIMITS) as client:
        source = (HONEST, 0)
        kept = [
            http.client.HTTPConnection("127.0.0.1", client.port, source_address=source)
            for _ in range(5)
        ]
        for one in kept:
            one.request("GET", "/health")
            one.getresponse().read()
        with slow_client(client.port, 60):
            for one in kept:
                one.request("GET", "/health")
                assert one.getresponse().read() == b'{"status":"ok"}'
                one.close()


class FullAtFirst(socket.socket):
    """A listening socket whose process has as many open files as it may, three times."""

    refusals = 3

    def accept(self):
        if self.refusals:
            self.refusals -= 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().accept()


def test_connections_beyond_the_open_files_are_told_once_and_answered_later(
    monkeypatch, caplog, capfd
):
    bind = server.bind
    monkeypatch.setattr(server, "bind", lambda *place: FullAtFirst(fileno=bind(*place).detach()))
    with running_server(start=FakeSearch()) as client:
        assert client.translate("a").json == {"translatedText": "[a]"}
    assert [one.getMessage() for one in caplog.records] == [
        "warning: some connections have to wait: too many open files; "
        "a higher limit (ulimit -n) admits more at once"
    ]
    assert capfd.readouterr().err == ""


def test_a_client_is_an_address_or_a_network_of_ipv6():
    assert name_client("192.168.1.7") != name_client("192.168.1.8")
    assert name_client("2001:db8:1:2::7") == name_client("2001:db8:1:2:ffff::1")
    assert name_client("2001:db8:1:2::7") != name_client("2001:db8:1:3::7")
    assert name_client("fe80::1%eth0") == name_client("fe80::2")
    assert name_client("a:b") == "a:b"


@pytest.mark.parametrize(("files", "connections"), [(1_024.0, 896), (math.inf, 2_000), (100.0, 1)])
def test_there_are_no_more_connections_than_open_files_allow(files, connections):
    assert fit_open_files(Limits(), files).connections == connections


@pytest.mark.parametrize(
    ("now", "most", "after"), [(1_024, 4_096, 4_096), (1_024, -1, 5_000), (-1, -1, -1)]
)
def test_the_limit_on_open_files_is_raised_as_far_as_allowed(now, most, after, monkeypatch):
    limits = {resource.RLIMIT_NOFILE: (now, most)}
    monkeypatch.setattr(resource, "getrlimit", limits.__getitem__)
    monkeypatch.setattr(resource, "setrlimit", limits.__setitem__)
    raise_open_file_limit(5_000)
    assert limits[resource.RLIMIT_NOFILE] == (after, most)
    assert open_file_limit() == (math.inf if after == -1 else after)


def ask_and_close_sending(port, count=1):
    """Send a request `count` times, close the sending side, and return all that is received."""
    body = b'{"q": "a dog", "source": "en", "target": "de"}'
    head = HEAD + b"Content-Length: %d\r\n\r\n" % len(body)
    with socket.create_connection(("127.0.0.1", port), 30) as one:
        one.sendall((head + body) * count)
        one.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: one.recv(10_000), b""))


def test_a_client_that_closes_its_sending_side_is_answered():
    with running_server() as client:
        expected = client.translate("a dog").body
        *_, head, body = ask_and_close_sending(client.port).split(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        assert body == expected
        found = ask_and_close_sending(client.port, count=3)
        assert found.count(b"HTTP/1.1 200 ") == found.count(body) == 3
