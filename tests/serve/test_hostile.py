"""Clients that mean no good meet limits, and honest ones are answered meanwhile."""

import json
import socket

import pytest
from tests.serve.fake_search import HIDDEN, FakeSearch
from tests.serve.mutations import attack, list_faults
from tests.serve.running import running_server

import transduce.serve.body
from transduce.serve.interface import Limits
from transduce.serve.protocol import DeadlineProtocol

LIMITS = Limits(receive_seconds=0.3, send_seconds=0.3)
HEAD = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = json.dumps({"q": "a", "source": "en", "target": "de"})


@pytest.fixture(scope="module")
def client():
    with running_server(start=FakeSearch(), limits=LIMITS) as running:
        yield running


@pytest.fixture(autouse=True)
def honest(client):
    """An honest client is answered before and after."""
    assert client.translate("honest").json == {"translatedText": "[honest]"}
    yield
    assert client.translate("honest").json == {"translatedText": "[honest]"}


def exchange(client, sent):
    """Send bytes and return all that comes until the server closes the connection."""
    with client.connect() as connection:
        connection.sendall(sent if isinstance(sent, bytes) else sent.encode())
        return read_all(connection)


def read_all(connection):
    found = b""
    try:
        while part := connection.recv(65_536):
            found += part
    except ConnectionResetError:
        pass
    return found


def status_of(answer):
    return int(answer.split(b" ", 2)[1])


def test_a_head_that_never_ends_is_not_waited_for(client):
    for sent in ("", "P", "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "):
        assert exchange(client, sent) == b""


def test_plain_uvicorn_waits_for_it_without_end(monkeypatch):
    monkeypatch.setattr(DeadlineProtocol, "await_head", lambda _: None)
    with running_server(start=FakeSearch(), limits=LIMITS) as plain, plain.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        connection.settimeout(3 * LIMITS.receive_seconds)
        with pytest.raises(TimeoutError):
            connection.recv(1)


def test_two_hundred_slow_clients_hold_up_no_honest_one(client):
    slow = [client.connect() for _ in range(200)]
    try:
        for one in slow:
            one.sendall(b"POST /translate HT")
        assert client.translate("now").json == {"translatedText": "[now]"}
        assert {read_all(one) for one in slow} == {b""}
    finally:
        for one in slow:
            one.close()


def test_a_body_that_never_ends_is_not_waited_for(client):
    answer = exchange(client, f'{HEAD}Content-Length: 100\r\n\r\n{{"q": ')
    assert status_of(answer) == 408
    assert set(json.loads(answer.split(b"\r\n\r\n", 1)[1])) == {"error"}


def test_damaged_requests_get_no_other_answers_than_refusals(client, record):
    found = attack(client.port, 150, seed=1)
    record(requests=150, answers=found, seeds=[1])
    assert list_faults(found) == []
    assert found["400"] > 15
    assert found["200"] > 15


def test_the_control_that_reads_json_as_python_does_is_caught(client, record, monkeypatch):
    monkeypatch.setattr(transduce.serve.body, "parse_body", json.loads)
    found = attack(client.port, 100, seed=1)
    record(requests=100, faults=found["fault: status 500"])
    assert list_faults(found) == ["fault: status 500"]


def test_a_large_body_is_refused_whether_its_length_is_said_or_not(client):
    large = b"a" * (LIMITS.body + 1)
    said = HEAD.encode() + b"Content-Length: %d\r\n\r\n" % len(large) + large
    assert status_of(exchange(client, said)) == 413
    only_said = HEAD.encode() + b"Content-Length: %d\r\n\r\n" % len(large)
    assert status_of(exchange(client, only_said)) == 413  # at once: the rest never comes
    chunk = b"%x\r\n%b\r\n" % (len(large), large)
    unsaid = HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunk + b"0\r\n\r\n"
    assert status_of(exchange(client, unsaid)) == 413
    assert status_of(exchange(client, unsaid.removesuffix(b"0\r\n\r\n"))) == 413  # of no end


def test_a_body_in_chunks_of_a_byte_is_refused_unread(client):
    sent = HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 30_000
    answer = exchange(client, sent)
    assert answer == b"" or status_of(answer) == 400  # the rest that comes may cut the answer


def test_a_body_of_two_lengths_is_refused(client):
    lengths = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    answer = exchange(client, HEAD + lengths)
    assert (status_of(answer), b"and not both" in answer) == (400, True)


def test_a_head_that_is_too_large_is_refused(client):
    answer = exchange(client, "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "a" * 70_000)
    assert answer == b"" or status_of(answer) in (400, 431)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x00\xa5\x01\x00\x00",
        b"GET\r\n\r\n",
        HEAD.encode() + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\nnone\r\n",
        HEAD.encode() + b"Content-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused_with_json(client, sent):
    answer = exchange(client, sent)
    assert status_of(answer) in (400, 403)
    assert set(json.loads(answer.split(b"\r\n\r\n", 1)[1])) == {"error"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[" * 100_000,
        b'{"q":' * 2_000,
        b'{"q": NaN}',
        b'{"q": 1e999}',
        b'{"q": "\\ud800", "source": "en", "target": "de"}',
        b'{"q": "a", "q": "b", "source": "en", "target": "de"}',
        b"\xff\xfe",
        b'{"q": ' + b"9" * 10_000 + b"}",
    ],
)
def test_what_is_no_json_is_refused_and_not_repeated(client, body):
    answer = client.send("POST", "/translate", body, Content_Type="application/json")
    assert (answer.status, set(answer.json)) == (400, {"error"})
    assert "Traceback" not in answer.json["error"]


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "", "application/jsonx"])
def test_other_types_of_body_are_refused(client, kind):
    assert client.send("POST", "/translate", BODY.encode(), Content_Type=kind).status == 415


@pytest.mark.parametrize(
    "kind",
    ["multipart/form-data", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"],
)
def test_broken_forms_are_refused(client, kind):
    body = b'--x\r\nContent-Disposition: form-data; name="q"\r\n\r\n\xff\r\n--x--&q=%ff&' * 3
    assert client.send("POST", "/translate", body, Content_Type=kind).status == 400


@pytest.mark.parametrize("end", ["", "\r\n", "\r\n--x", "\r\n--x\r\n"])
def test_a_form_that_is_cut_off_is_refused_and_not_translated_in_part(client, end):
    head = 'Content-Disposition: form-data; name="{}"\r\n\r\n{}'
    fields = [("source", "en"), ("target", "de"), ("q", "a dog ru")]
    body = "--x\r\n" + "\r\n--x\r\n".join(head.format(*one) for one in fields) + end
    kind = "multipart/form-data; boundary=x"
    answer = client.send("POST", "/translate", body.encode(), Content_Type=kind)
    assert (answer.status, "cut off" in answer.json["error"]) == (400, True)


def test_a_part_of_a_form_in_base64_is_refused_and_not_taken_as_text(client):
    head = '--x\r\nContent-Disposition: form-data; name="{}"\r\n'
    body = head.format("q") + "Content-Transfer-Encoding: base64\r\n\r\nYSBkb2c=\r\n"
    body += "".join(
        head.format(a) + f"\r\n{b}\r\n" for a, b in (("source", "en"), ("target", "de"))
    )
    kind = "multipart/form-data; boundary=x"
    answer = client.send("POST", "/translate", f"{body}--x--\r\n".encode(), Content_Type=kind)
    assert (answer.status, "base64" in answer.json["error"]) == (400, True)


def test_two_texts_are_not_drawn_as_one(client):
    body = {"q": ["a dog", "a cat"], "source": "en", "target": "de"}
    assert client.post("/attention", body).status == 400


@pytest.mark.parametrize("field", [{"prefix": "a cat"}, {"format": "html"}])
def test_a_text_with_a_prefix_or_tags_is_not_drawn_as_if_it_had_none(client, field):
    body = {"q": "a <b>dog</b>", "source": "en", "target": "de", **field}
    found = client.post("/attention", body)
    assert (found.status, found.json["error"]) == (
        400, "a picture is of plain text, without a prefix",
    )  # fmt: skip


def test_a_head_of_a_form_that_repeats_its_beginning_takes_linear_time(client):
    body = b"--x\r\n" + b"Content-Disposition:" * 50_000  # it took a second for each 17 kB
    kind = "multipart/form-data; boundary=x"
    assert client.send("POST", "/translate", body, Content_Type=kind).status == 400


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "localhost.evil.example", "", "a:b:c", "[::1", "localhost/evil.example",
        "localhost?x", "localhost#x", "evil.example@localhost", "localhost:port",
    ],
)  # fmt: skip
def test_names_of_host_that_are_not_this_server_s_are_refused(client, host):
    assert client.get("/health", Host=host).status == 403
    assert client.get("/", Host=host).status == 403


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:5000", "[::1]:80", "192.168.1.7"])
def test_addresses_and_localhost_are_no_foreign_names(client, host):
    assert client.get("/health", Host=host).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Origin": "http://["},
        {"Origin": "evil://localhost:5000"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_web_pages_of_other_origins_are_refused(client, headers):
    named = {"Host": "localhost:5000", **headers}
    assert client.translate("a").status == 200
    assert client.post("/translate", json.loads(BODY), **named).status == 403
    kind = {"Content_Type": "application/x-www-form-urlencoded"}
    sent = b"q=a&source=en&target=de"
    assert client.send("POST", "/translate", sent, **named, **kind).status == 403
    assert client.send("POST", "/", sent, **named, **kind).status == 403


@pytest.mark.parametrize(
    "header",
    [
        "Host: localhost", "Origin: http://localhost", "Sec-Fetch-Site: same-origin",
        "Authorization: Bearer a", "Content-Type: application/json",
    ],
)  # fmt: skip
def test_a_header_that_decides_is_refused_when_it_stands_twice(client, header):
    one = f"{HEAD}Content-Length: {len(BODY)}\r\nConnection: close\r\n"
    name = header.partition(":")[0]
    first = "" if f"{name}: " in one else f"{header}\r\n"
    second = f"{name}: other\r\n"
    assert exchange(client, f"{one}{first}\r\n{BODY}").startswith(b"HTTP/1.1 200")
    assert exchange(client, f"{one}{first}{second}\r\n{BODY}").startswith(b"HTTP/1.1 400")


def test_the_server_s_own_page_is_no_other_origin(client):
    own = {"Host": "localhost:5000", "Origin": "http://localhost:5000"}
    answer = client.post("/translate", json.loads(BODY), **own, Sec_Fetch_Site="same-origin")
    assert answer.status == 200
    assert "access-control-allow-origin" not in answer.headers


def test_a_form_of_the_server_s_own_page_has_no_origin_because_of_its_policy(client):
    own = {"Host": "localhost:5000", "Origin": "null", "Sec_Fetch_Site": "same-origin"}
    assert client.post("/translate", json.loads(BODY), **own).status == 200


def test_a_link_from_another_site_may_open_the_page_but_not_use_the_server(client):
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert client.get("/", **link).status == 200
    assert client.get("/languages", Sec_Fetch_Site="cross-site").status == 403


def test_allowed_names_and_origins_are_answered_and_only_they():
    site = "https://site.example"
    allowed = {"allowed_hosts": ("server.example", "Named.Example.")}
    with running_server(start=FakeSearch(), **allowed, allowed_origins=(site,)) as client:
        for host in ("server.example", "server.example.", "named.example", "Named.Example.:80"):
            assert client.get("/health", Host=host).status == 200
        assert client.get("/health", Host="other.example").status == 403
        answer = client.post("/translate", json.loads(BODY), Origin=site)
        assert answer.status == 200
        assert answer.headers["access-control-allow-origin"] == site
        wish = {"Access_Control_Request_Method": "POST"}
        wish["Access_Control_Request_Headers"] = "content-type,authorization"
        asked = client.send("OPTIONS", "/translate", None, Origin=site, **wish)
        assert (asked.status, asked.headers["access-control-allow-origin"]) == (200, site)
        foreign = client.send("OPTIONS", "/translate", None, Origin="https://x.example", **wish)
        assert (foreign.status, set(foreign.json)) == (403, {"error"})
        refused = client.post("/translate", {}, Origin=site)  # its page may read why
        assert (refused.status, refused.headers["access-control-allow-origin"]) == (400, site)


def test_requests_sent_at_once_are_answered_one_after_the_other(client):
    one = f"{HEAD}Content-Length: {len(BODY)}\r\n\r\n{BODY}"
    last = one.replace("Content-Type", "Connection: close\r\nContent-Type").replace('"a"', '"b"')
    answer = exchange(client, one + one + last)
    found = [json.loads(part.split(b"HTTP/1.1")[0]) for part in answer.split(b"\r\n\r\n")[1:]]
    assert [part["translatedText"] for part in found] == ["[a]", "[a]", "[b]"]


def test_a_client_that_does_not_read_is_not_waited_for(client):
    with client.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            send_forever(connection, request * 50)


def send_forever(connection, request):
    while True:
        connection.sendall(request)


def test_a_form_that_is_not_utf_8_is_refused_by_that_name(client):
    form = b"q=%ff&source=en&target=de"
    head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    kind = b"Content-Type: application/x-www-form-urlencoded\r\n"
    size = b"Content-Length: %d\r\n\r\n" % len(form)
    answer = exchange(client, head + kind + size + form)
    assert b" 400 " in answer
    assert answer.endswith(b'{"error":"the form is not UTF-8"}')


def test_answers_carry_headers_that_keep_pages_apart(client):
    headers = client.translate("a").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["content-security-policy"] == "frame-ancestors 'none'"
    assert "server" not in headers
    assert "set-cookie" not in headers


def test_a_fault_is_logged_without_the_text_and_told_without_a_trace(caplog):
    with running_server(start=FakeSearch(breaks=True)) as client:
        answer = client.post("/translator/translate", [{"src": HIDDEN}])
    assert (answer.status, answer.json) == (500, {"error": "a fault of the server"})
    assert "ValueError while answering /translator/translate" in caplog.text
    assert HIDDEN not in caplog.text
