"""Damaged requests, and what no answer to them may be."""

import json
import random
import re
import socket
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

PATIENCE = 5.0  # seconds without an answer, after which a client leaves
LINE = "a dog"
FIELDS = {"q": LINE, "source": "en", "target": "de"}
MULTIPART = "".join(
    f'--xyz\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
    for name, value in FIELDS.items()
)
JSON, FORM, PARTS = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=xyz",
)
REQUESTS = [  # method and path, type of the body, body
    ("POST /translate", JSON, json.dumps(FIELDS)),
    ("POST /translate", JSON, json.dumps({**FIELDS, "q": [LINE, "b"], "alternatives": 2})),
    ("POST /translate", JSON, json.dumps({**FIELDS, "q": "<b>a</b> &amp; b", "format": "html"})),
    ("POST /translate", JSON, json.dumps({**FIELDS, "source": "auto", "detail": True})),
    ("POST /translate", FORM, urlencode({**FIELDS, "alternatives": 1})),
    ("POST /translate", PARTS, f"{MULTIPART}--xyz--\r\n"),
    ("POST /translator/translate", JSON, json.dumps([{"src": LINE, "id": 0}])),
    ("POST /detect", JSON, json.dumps({"q": LINE})),
    ("POST /", FORM, urlencode(FIELDS)),
    ("POST /attention", FORM, urlencode(FIELDS)),
    ("GET /languages", "", ""),
    ("GET /metrics", "", ""),
]
HOSTILE = (
    *(
        b"\x00",
        b"\r\n",
        b"\r\n\r\n",
        b'"',
        b"\\",
        b"\xff",
        b"\xed\xa0\x80",
        b"%",
        b"%00",
        b"&" * 200,
    ),
    *(b"{" * 300, b"[" * 300, b"[]", b"null", b"NaN", b"-1", b"1e999", b"9" * 400, b"\\ud800"),
    *(b"Content-Length: 7\r\n", b"Transfer-Encoding: chunked\r\n", b"Host: evil.example\r\n"),
    *(b"Origin: http://[\r\n", b"Upgrade: websocket\r\n", b"Expect: 100-continue\r\n"),
    *(b"Content-Disposition:" * 50, b'name="q"', b"--xyz", b"<" * 500, b"<script>", b"&#x110000;"),
    *(b"a" * 6_000, b" . " * 400, "\u202e\u2028\ufeff".encode(), b"auto", b"html", b"true"),
)


def build_request(head: str, kind: str, body: bytes) -> bytes:
    """Return a request as bytes, with the length of its body."""
    lines = [f"{head} HTTP/1.1", "Host: localhost", "Connection: close"]
    lines += [f"Content-Type: {kind}", f"Content-Length: {len(body)}"] if kind else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def mutate(content: bytes, rng: random.Random) -> bytes:
    """Return bytes with up to four slices of them changed; every fifth time, none."""
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        first, last = sorted(rng.choices(range(len(content) + 1), k=2))
        last = min(last, first + rng.choice((1, 8, 64)))
        before, part, after = content[:first], content[first:last], content[last:]
        changed = (
            bytes(one ^ (1 << rng.randrange(8)) for one in part),
            b"",
            part * rng.choice((2, 50)),
            part + rng.choice(HOSTILE),
            rng.choice(HOSTILE),
            part[::-1],
        )
        content = before + rng.choice(changed) + after
    return content


def draw_attack(number: int, seed: int) -> bytes:
    """Return a damaged request: in its body only, in any byte, or cut off."""
    rng = random.Random(f"{seed} {number}")
    head, kind, body = rng.choice(REQUESTS)
    whole = build_request(head, kind, body.encode())
    choice = rng.randrange(5)
    if choice < 3 and body:
        return build_request(head, kind, mutate(body.encode(), rng))
    return mutate(whole, rng) if choice < 4 else whole[: rng.randrange(len(whole))]


def exchange(port: int, sent: bytes) -> bytes:
    """Send bytes; return what comes until the server closes, or until nothing comes."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        try:
            connection.sendall(sent)
            connection.settimeout(PATIENCE)
            while part := connection.recv(65_536):
                found += part
        except OSError:
            pass
    return found


def judge(answer: bytes) -> str:
    """Return the status of an answer, `nothing`, or in words what is wrong with it."""
    if not answer:
        return "nothing"
    head, _, body = answer.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.1 (\d{3}) ", head)
    if status is None:
        return "fault: no HTTP"
    code = int(status[1])
    if b"Traceback" in answer or (code >= 500 and code not in (503, 504)):
        return f"fault: status {code}"
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    if code >= 400 and length and len(body) >= int(length[1]):
        try:
            if set(json.loads(body[: int(length[1])])) != {"error"}:
                return f"fault: another object with {code}"
        except ValueError:
            return f"fault: no JSON with {code}"
    return str(code)


def attack(port: int, count: int, *, seed: int, threads: int = 32) -> Counter[str]:
    """Send damaged requests, some at once; return how often each answer came."""
    with ThreadPoolExecutor(threads) as pool:
        numbers = range(count)
        return Counter(pool.map(lambda n: judge(exchange(port, draw_attack(n, seed))), numbers))


def list_faults(found: Counter[str]) -> list[str]:
    """Return the answers that no server may give."""
    return [name for name in found if name.startswith("fault")]
