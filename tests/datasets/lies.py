"""What a lying server does, and what is said of it."""

CONTENT = b"A dog.\n" * 300
OK = b"HTTP/1.1 200 OK\r\n"
DIGITS = b"9" * 5_000
LENGTH = b"Content-Length: %d\r\n\r\n" % len(CONTENT)
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
LIMIT = 1 << 20
TOO_MUCH = "--limit allows more"
X = b"x" * 65_536


def say(*parts):
    """A lie that sends these bytes."""
    return lambda line: line.send(*parts)


def drip_after(start, part):
    """A lie that goes on for ever after its beginning."""

    def lie(line):
        line.send(start)
        line.drip(part)

    return lie


def flood(start, part):
    """A lie that sends a part as fast as it is read."""

    def lie(line):
        line.send(start)
        while not line.has_ended.is_set():
            line.send(part)

    return lie


def redirect(to, status=b"302 Found"):
    return say(b"HTTP/1.1 " + status + b"\r\nLocation: " + to + b"\r\nContent-Length: 0\r\n\r\n")


def partial(value):
    """A lie about the range of the bytes that follow."""
    head = b"HTTP/1.1 206 Partial Content\r\nContent-Range: " + value + b"\r\n"
    return say(head + LENGTH + CONTENT)


# by name: what the server does, and what is said of it
LIES = {
    "nothing": (say(), "the connection broke off|no connection"),
    "an empty file": (say(OK + b"Content-Length: 0\r\n\r\n"), "is empty"),
    "an empty chunked file": (say(CHUNKED + b"0\r\n\r\n"), "is empty"),
    "no content": (say(b"HTTP/1.1 204 No Content\r\n\r\n"), "is empty"),
    "a length of 5,000 digits": (
        flood(OK + b"Content-Length: " + DIGITS + b"\r\n\r\n", X),
        TOO_MUCH,
    ),
    "a length beyond the limit": (say(OK + b"Content-Length: 1048577\r\n\r\n"), TOO_MUCH),
    "a length of 18 digits": (say(OK + b"Content-Length: " + DIGITS[:18] + b"\r\n\r\n"), TOO_MUCH),
    "a negative length": (flood(OK + b"Content-Length: -5\r\n\r\n", X), TOO_MUCH),
    "a length in other digits": (flood(OK + "Content-Length: ٣\r\n\r\n".encode(), X), TOO_MUCH),
    "a length that is too great": (
        say(OK + b"Content-Length: 9000\r\n\r\n" + CONTENT),
        "ended after|broke off",
    ),
    "no end": (flood(OK + b"\r\n", X), TOO_MUCH),
    "chunks without end": (flood(CHUNKED, b"10000\r\n" + X + b"\r\n"), TOO_MUCH),
    "a chunk of 10^30 bytes": (
        flood(CHUNKED + b"f" * 25 + b"\r\n", X),
        "--limit allows more|broke off",
    ),
    "a chunk of 5,000 digits": (say(CHUNKED + b"9" * 5_000 + b"\r\n"), "broke off|--limit|ended"),
    "a chunk of no number": (say(CHUNKED + b"many\r\n"), "broke off"),
    "a chunk of a negative size": (
        say(CHUNKED + b"-5\r\nhello"),
        "broke off|malformed|is empty|silent",
    ),
    "a chunk that is cut": (say(CHUNKED + b"100\r\nhello"), "broke off"),
    "a chunk's line without end": (flood(CHUNKED + b"5;", b"x" * 4_096), "broke off"),
    "dripping chunk lines": (drip_after(CHUNKED + b"5;", b"x"), "silent for"),
    "dripping trailers": (drip_after(CHUNKED + b"5\r\nhello\r\n0\r\n", b"X: y\r\n"), "silent for"),
    "dripping headers": (drip_after(OK, b"X-More: x\r\n"), "silent for|broke off"),
    "a dripping header": (drip_after(OK + b"X-More: ", b"x"), "silent for"),
    "a dripping status": (drip_after(b"HTTP/1.1 200 ", b"O"), "silent for"),
    "dripping 100 Continue": (drip_after(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "silent for"),
    "a dripping body": (drip_after(OK + LENGTH, b"x"), "the server gave|silent for"),
    "silence": (lambda line: line.has_ended.wait(), "silent for"),
    "silence after headers": (drip_after(OK + LENGTH, b""), "silent for"),
    "a thousand headers": (say(OK + b"X: y\r\n" * 1_000 + LENGTH + CONTENT), "broke off"),
    "a header without end": (flood(OK + b"X: ", X), "broke off"),
    "no status": (say(b"hello\r\n\r\n"), "broke off"),
    "a status of no number": (say(b"HTTP/1.1 ok fine\r\n\r\n"), "broke off"),
    "a status of 5,000 digits": (say(b"HTTP/1.1 " + DIGITS + b"\r\n\r\n"), "broke off"),
    "a long reason": (
        say(b"HTTP/1.1 404 " + b"no " * 9_000 + b"\r\n\r\n"),
        "the server answered HTTP Error 404",
    ),
    "a reason that acts on a terminal": (
        say(b"HTTP/1.1 404 \x1b[2J\r\nContent-Length: 0\r\n\r\n"),
        "HTTP Error 404",
    ),
    "binary": (say(bytes(range(256)) * 9), "broke off"),
    "a redirect to ftp": (redirect(b"ftp://127.0.0.1/a"), "no address of the web"),
    "a redirect to a file": (redirect(b"file:///etc/passwd"), "is not allowed"),
    "a redirect to data": (redirect(b"data:,hello"), "is not allowed"),
    "a redirect to half an address": (redirect(b"http://["), "malformed"),
    "a redirect to a port of 20 digits": (
        redirect(b"http://127.0.0.1:" + DIGITS[:20] + b"/"),
        "malformed|no connection",
    ),
    "a redirect to a port of no number": (redirect(b"http://127.0.0.1:x/"), "malformed"),
    "a redirect to a long label": (
        redirect(b"http://" + b"a" * 70 + b".invalid/"),
        "malformed|no connection",
    ),
    "a redirect to an empty label": (redirect(b"http://a..b/"), "malformed|no connection"),
    "a redirect to a NUL": (
        redirect(b"http://127.0.0.1/\x00"),
        "malformed|broke off|HTTP Error|no connection",
    ),
    "a redirect to itself": (redirect(b"/lie"), "HTTP Error 302"),
    "a redirect with a long body": (
        say(b"HTTP/1.1 302 Found\r\nLocation: /lie\r\n\r\n", X * 600),
        "HTTP Error 302",
    ),
    "a redirect to nowhere": (
        say(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
        "HTTP Error 302",
    ),
    "a range of 5,000 digits": (partial(b"bytes 0-5/" + DIGITS), "another range"),
    "a range from elsewhere": (partial(b"bytes 7-2099/2100"), "another range"),
    "a range of no numbers": (partial(b"bytes a-b/c"), "another range"),
    "a range in other digits": (partial("bytes ٠-٣/٣".encode()), "another range"),
    "other bytes": (say(OK + LENGTH + CONTENT[::-1]), "is another file"),
}
