"""The server's counters, in the text format that Prometheus reads; users' texts are not in them."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import final

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
Labels = Mapping[str, object]


@final
class Metrics:
    """Counters of requests, sentences and characters, and a histogram of seconds per request."""

    def __init__(self) -> None:
        self.requests = Counter[tuple[str, int]]()  # (path, status) -> count
        self.buckets, self.seconds = [0] * (len(SECONDS) + 1), 0.0
        self.sentences = self.characters = self.cancelled = 0

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count an answered request by path and status; time those that ask for translations."""
        self.requests[path, status] += 1
        if path.startswith("/translat"):
            self.buckets[bisect_left(SECONDS, seconds)] += 1
            self.seconds += seconds

    def count_sentences(self, texts: Sequence[str]) -> None:
        """Count the sentences of an answered request, and their characters."""
        self.sentences += len(texts)
        self.characters += sum(map(len, texts))

    def write(self, gauges: Iterable[str]) -> str:
        """Return all counters in Prometheus' text format, followed by the lines `gauges`."""
        requests = [
            write_sample("requests_total", count, {"path": path, "status": status})
            for (path, status), count in sorted(self.requests.items())
        ]
        both = zip([*SECONDS, "+Inf"], accumulate(self.buckets), strict=True)
        times = [write_sample("seconds_bucket", count, {"le": limit}) for limit, count in both]
        lines = [
            *write_head("requests_total", "counter", "requests answered"),
            *requests,
            *write_head("seconds", "histogram", "from a request for translations to its answer"),
            *times,
            write_sample("seconds_sum", round(self.seconds, 6)),
            write_sample("seconds_count", sum(self.buckets)),
            *write_total("sentences_total", self.sentences, "sentences translated"),
            *write_total("characters_total", self.characters, "characters of source text"),
            *write_total("cancelled_total", self.cancelled, "requests whose client left"),
            *gauges,
        ]
        return "\n".join(lines) + "\n"


def write_head(name: str, kind: str, text: str) -> list[str]:
    """Return the HELP and TYPE lines that precede the samples of a metric."""
    return [f"# HELP transduce_{name} {text}", f"# TYPE transduce_{name} {kind}"]


def write_total(name: str, value: int, text: str) -> list[str]:
    """Return the lines of a counter metric that has a single value."""
    return [*write_head(name, "counter", text), write_sample(name, value)]


def write_sample(name: str, value: int | float, labels: Labels | None = None) -> str:
    """Return the line of one sample: metric name, labels in braces if any, value."""
    inner = ",".join(f'{key}="{escape_label(str(one))}"' for key, one in (labels or {}).items())
    return f"transduce_{name}{{{inner}}} {value}" if inner else f"transduce_{name} {value}"


def escape_label(value: str) -> str:
    """Return a label's value with its backslashes, quotes and line ends escaped."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
