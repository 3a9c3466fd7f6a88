"""The server of a live page: for this machine only, read-only, and it sends new lines only."""

import http.client
import json
import os
import shutil
import socket
import tempfile
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.view.curves.logs import update, write_log
from tests.view.curves.serving import serve

import transduce
from transduce.errors import FolderError, InputError, TransduceError
from transduce.training.journal import LOG
from transduce.view.curves import server as server_module
from transduce.view.curves.server import CurvesServer, NewLines, read_growing_log


@pytest.fixture
def run(tmp_path):
    return write_log(tmp_path / "run", [update(step) for step in range(1, 6)])


def ask(server, path="/", method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    connection.request(method, path, headers=headers)
    return connection.getresponse()


class Stream:
    """A client of the stream of new lines."""

    def __init__(self, server, offset, **headers):
        self.answer = ask(server, f"/events?from={offset}", **headers)

    def message(self):
        """Return the fields of the next message, without comments."""
        fields = []
        while line := self.answer.fp.readline().rstrip(b"\n"):
            fields.append(line.partition(b": ")[::2])
        return fields if any(name for name, _ in fields) else self.message()

    def lines(self):
        """Return the data of the next message after its first line, and its id."""
        fields = self.message()
        data = [value for name, value in fields if name == b"data"]
        return data[1:], dict(fields)[b"id"]


def test_the_page_is_sent_and_may_connect_to_its_own_server_only(run):
    with serve(run) as server:
        answer = ask(server)
        page = answer.read().decode()
    assert answer.status == 200
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "connect-src 'self';" in page
    assert '"events":"/events"' in page
    assert server.address == f"http://127.0.0.1:{server.server_address[1]}/"


def test_the_server_listens_on_this_machine_only(run):
    with CurvesServer([run]) as server:
        assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "localhost:x", "a@localhost"]
)
@pytest.mark.parametrize("path", ["/", "/events?from=0"])
def test_a_request_under_another_name_is_refused(run, host, path):
    with serve(run) as server:
        answer = ask(server, path, Host=host)
        assert (answer.status, answer.read()) == (403, b"this server answers to 127.0.0.1 only\n")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9000", "127.0.0.1:1", "[::1]:8000"])
def test_a_tunnel_from_another_port_may_be_used(run, host):
    with serve(run) as server:
        assert ask(server, Host=host).status == 200


@pytest.mark.parametrize("path", ["/", "/events?from=0", "/events?from=x", "/nowhere"])
def test_head_has_the_status_and_headers_of_get_and_nothing_else(run, path):
    with serve(run) as server:
        head, get = (ask(server, path, method) for method in ("HEAD", "GET"))
        assert head.status == get.status
        assert {**head.headers, "Date": ""} == {**get.headers, "Date": ""}
        assert head.fp.read() == b""


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_but_get_and_head_is_answered(run, method):
    with serve(run) as server:
        assert ask(server, method=method).status in (405, 501)


@pytest.mark.parametrize(
    "path", ["/log.jsonl", "/../../etc/passwd", "/x//", "/events/", "/%2e%2e/"]
)
def test_no_other_path_exists(run, path):
    with serve(run) as server:
        assert ask(server, path).status == 404


@pytest.mark.parametrize("offsets", ["", "x", "-1", "0,0", "1e3", "9" * 20, "0,"])
def test_offsets_that_are_none_are_refused(run, offsets):
    with serve(run) as server:
        assert ask(server, f"/events?from={offsets}").status == 400


def test_only_new_bytes_are_sent(run):
    with serve(run) as server:
        size = (run / LOG).stat().st_size
        stream = Stream(server, size)
        write_log(run, [update(6), update(7)])
        lines, identity = stream.lines()
        while len(lines) < 2:
            more, identity = stream.lines()
            lines += more
        sent = [json.loads(line) for line in lines if line]
    assert [event["step"] for event in sent] == [6, 7]
    assert int(identity) == (run / LOG).stat().st_size


def test_a_line_that_is_being_written_is_sent_when_it_ends(run):
    with serve(run) as server:
        stream = Stream(server, (run / LOG).stat().st_size)
        with (run / LOG).open("ab", buffering=0) as file:
            file.write(b'{"event": "upd')
            threading.Timer(0.5, lambda: None).start()
            file.write(b'ate", "step": 6}\n')
            assert stream.lines()[0] == [b'{"event": "update", "step": 6}']


def test_a_browser_that_comes_back_goes_on_at_its_last_offset(run):
    with serve(run) as server:
        size = (run / LOG).stat().st_size
        write_log(run, [update(6)])
        stream = Stream(server, 0, **{"Last-Event-ID": str(size)})
        assert [json.loads(line)["step"] for line in stream.lines()[0]] == [6]


def test_a_log_that_is_another_file_is_said_to_have_changed(run):
    with serve(run) as server:
        stream = Stream(server, (run / LOG).stat().st_size)
        (run / LOG).write_bytes(b"")
        assert (b"event", b"changed") in stream.message()
        assert (b"event", b"changed") in Stream(server, 3).message(), "no line ends there"


def test_a_carriage_return_in_a_log_adds_no_message(run):
    with serve(run) as server:
        stream = Stream(server, (run / LOG).stat().st_size)
        write_log(run, [], [b"a\rdata: b\r\revent: changed"])
        assert stream.lines()[0] == [b"a data: b  event: changed"]


def test_a_page_that_is_asked_for_again_has_what_was_written_since(run):
    with serve(run) as server:
        ask(server).read()
        write_log(run, [update(6)])
        assert f'"offset":{(run / LOG).stat().st_size}' in ask(server).read().decode()
        (run / LOG).write_bytes(b"")
        assert '"offset":0' in ask(server).read().decode()


def test_a_run_that_has_not_begun_is_waited_for(tmp_path):
    (tmp_path / "run").mkdir()
    with serve(tmp_path / "run") as server:
        assert '"cells":0' in ask(server).read().decode()
        stream = Stream(server, 0)
        write_log(tmp_path / "run", [update(1)])
        assert json.loads(stream.lines()[0][0])["step"] == 1


def test_a_run_that_is_deleted_and_begun_anew_is_waited_for(run):
    with serve(run) as server:
        shutil.rmtree(run)
        assert '"cells":0' in ask(server).read().decode()
        run.mkdir()
        write_log(run, [update(1)])
        assert '"offset":0' not in ask(server).read().decode()


def test_an_endless_line_is_one_line_that_is_not_read(run, monkeypatch):
    monkeypatch.setattr(server_module, "MAX_BYTES", 1000)
    with serve(run) as server:
        stream = Stream(server, (run / LOG).stat().st_size)
        write_log(run, [], [b"x" * 2500])
        write_log(run, [update(6)])
        lines = list[bytes]()
        while not any(b"update" in line for line in lines):
            lines += stream.lines()[0]
    assert [line for line in lines if b"update" not in line] == [b"?"]


def test_more_pages_than_the_limit_are_refused(run, monkeypatch):
    monkeypatch.setattr(server_module, "MAX_STREAMS", 2)
    with serve(run) as server:
        streams = [Stream(server, 0) for _ in range(2)]
        assert all(stream.message() for stream in streams)
        assert ask(server, "/events?from=0").status == 503


def test_a_closed_page_makes_room_for_another(run, monkeypatch):
    monkeypatch.setattr(server_module, "MAX_STREAMS", 1)
    monkeypatch.setattr(server_module, "SECONDS_BETWEEN_SIGNS", 0.05)
    monkeypatch.setattr(server_module, "SECONDS_BETWEEN_READS", 0.01)
    with serve(run) as server:
        with closing(socket.create_connection(server.server_address)) as first:
            first.sendall(b"GET /events?from=0 HTTP/1.0\r\nHost: localhost\r\n\r\n")
            assert first.recv(20).startswith(b"HTTP/1.0 200")
        assert server.streams.acquire(timeout=10)
        server.streams.release()


def test_a_log_that_vanishes_or_becomes_a_pipe_is_named(run):
    with serve(run) as server:
        (run / LOG).unlink()
        assert ask(server).status == 200
        os.mkfifo(run / LOG)
        answer = ask(server)
        assert (answer.status, b"is no regular file" in answer.read()) == (500, True)


def test_a_port_that_is_taken_and_runs_that_are_none_are_refused(run, tmp_path):
    with CurvesServer([run]) as server, pytest.raises(InputError, match="cannot be used"):
        CurvesServer([run], server.server_address[1])
    with pytest.raises(InputError, match="no such folder"):
        CurvesServer([tmp_path / "nowhere"])
    with pytest.raises(InputError, match="no run was named"):
        CurvesServer([])
    os.mkfifo(tmp_path / LOG)
    with pytest.raises(FolderError, match="is no regular file"):
        CurvesServer([tmp_path])


@contextmanager
def as_a_plain_user():
    """Have the rights of a user that owns nothing, in a with block, if this is root."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65_534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def test_a_folder_that_may_not_be_entered_is_no_empty_run():
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        run = write_log(Path(place, "run"), [update(1)])
        try:
            run.chmod(0o644)
            new_lines = NewLines(run / LOG, 5)
            for read in (read_growing_log, transduce.curves, lambda _: new_lines.read()):
                with as_a_plain_user(), pytest.raises(TransduceError, match="Permission denied"):
                    read(run)
        finally:
            run.chmod(0o755)
