"""Random answers of a server: the file comes as it should be, or a sentence says why not."""

import hashlib
from dataclasses import replace
from random import Random

import pytest
from tests.datasets.liar import liar
from tests.datasets.lies import CONTENT, LENGTH, LIMIT, OK, say

from transduce.datasets.downloads import find_file
from transduce.datasets.transfer import NetworkSettings
from transduce.datasets.values import Download
from transduce.errors import InputError

SEED = 41
SOUND = (
    OK + b"Date: Mon, 23 Nov 2026 00:00:00 GMT\r\nContent-Type: text/plain\r\n" + LENGTH + CONTENT
)
HEADERS = (
    b"Transfer-Encoding: chunked", b"Content-Encoding: gzip", b"Content-Length: -1",
    b"Content-Length: 1e9", b"Content-Range: bytes 5-9/3", b"Location: /fuzzed",
    b"Connection: close", b"ETag: " + b"x" * 70_000, b"no header",
    b"\x00: \xff", b" folded", b"Accept-Ranges: none",
)  # fmt: skip
STATUSES = (b"200", b"206", b"301", b"307", b"404", b"416", b"500", b"99", b"abc", b"100", b"204")


def fuzz(draw):
    """A sound answer with one to four random changes."""
    answer = bytearray(SOUND)
    for _ in range(draw.randint(1, 4)):
        end = answer.find(b"\r\n\r\n") + 4 or len(answer)
        at = draw.randrange(max(1, end if draw.random() < 0.8 else len(answer)))
        match draw.randrange(6):
            case 0:
                answer[at : at + 1] = bytes([draw.randrange(256)])
            case 1:
                del answer[at : at + draw.choice((1, 5, 50, 5_000))]
            case 2:
                answer[at:at] = answer[at : at + draw.choice((1, 20, 200))]
            case 3:
                line = answer.find(b"\r\n")
                answer[line:line] = b"\r\n" + draw.choice(HEADERS)
            case 4:
                answer[9:12] = draw.choice(STATUSES)
            case _:
                answer[at:at] = draw.choice((b"\0", b"\r\n", b"\r\n\r\n", b"9" * 99, b"\n"))
        answer = answer or bytearray(b"\n")
    return bytes(answer)


@pytest.mark.parametrize("count", [40, pytest.param(10_000, marks=pytest.mark.soak)])
def test_a_fuzzed_answer_gives_the_file_or_a_sentence(settings, monkeypatch, record, count):
    monkeypatch.setenv("no_proxy", "*")
    quick = NetworkSettings(seconds=0.3, attempts=1, pause=0.0, largest=LIMIT)
    settings, draw = replace(settings, network=quick), Random(SEED)
    sentences: set[str] = set()
    known, whole = hashlib.sha256(CONTENT).hexdigest(), 0
    with liar() as server:
        for number in range(count):
            answer = fuzz(draw)
            server.lies["/fuzzed"] = say(answer)
            what = Download((f"{server.address}/fuzzed",), sha256=known, file_name=f"f{number}")
            try:
                found = find_file(what, settings, lambda *_: None)
            except InputError as error:
                sentences.add(error.fact)
            else:
                assert found.path.read_bytes() == CONTENT
                found.path.unlink()
                whole += 1
            for leftover in settings.folder.iterdir():
                leftover.unlink()
    assert {fact for fact in sentences if len(fact.splitlines()) != 1} == set()
    record(answers=count, taken=whole, refused=count - whole, seeds=[SEED])
