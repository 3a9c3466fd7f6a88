"""The server's counters, in the text format that Prometheus reads; users' texts are not in them."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import final

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
Sample = tuple[Mapping[str, object], int | float]  # labels and value


@final
class Metrics:
    """Counters of requests, sentences and characters, and a histogram of seconds per request."""

    def __init__(self) -> None:
        self.requests = Counter[tuple[str, int]]()  # (path, status) -> count
        self.buckets, self.seconds = [0] * (len(SECONDS) + 1), 0.0
        self.sentences = self.characters = self.cancelled = 0

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request by path and status; add its time if it asked for translations."""
        self.requests[path, status] += 1
        if path.startswith("/translat"):
            self.buckets[bisect_left(SECONDS, seconds)] += 1
            self.seconds += seconds

    def count_sentences(self, texts: Sequence[str]) -> None:
        """Count the sentences of an answered request, and their characters."""
        self.sentences += len(texts)
        self.characters += sum(map(len, texts))

    def write(self, others: Iterable[str]) -> str:
        """Return all counters in Prometheus' text format, followed by the lines of `others`."""
        requests = [
            ({"path": path, "status": status}, count)
            for (path, status), count in sorted(self.requests.items())
        ]
        times = zip([*SECONDS, "+Inf"], accumulate(self.buckets), strict=True)
        lines = [
            *write_metric("requests_total", "requests answered", *requests),
            "# HELP transduce_seconds from a request for translations to its answer",
            "# TYPE transduce_seconds histogram",
            *(write_sample("seconds_bucket", {"le": most}, count) for most, count in times),
            write_sample("seconds_sum", {}, round(self.seconds, 6)),
            write_sample("seconds_count", {}, sum(self.buckets)),
            *write_metric("sentences_total", "sentences translated", ({}, self.sentences)),
            *write_metric("characters_total", "characters of source text", ({}, self.characters)),
            *write_metric("cancelled_total", "requests whose client left", ({}, self.cancelled)),
            *others,
        ]
        return "\n".join(lines) + "\n"


def write_metric(name: str, about: str, *samples: Sample) -> list[str]:
    """Return the lines of a metric: of a counter if its name ends in _total, else of a gauge."""
    kind = "counter" if name.endswith("_total") else "gauge"
    head = [f"# HELP transduce_{name} {about}", f"# TYPE transduce_{name} {kind}"]
    return head + [write_sample(name, *one) for one in samples]


def write_sample(name: str, labels: Mapping[str, object], value: int | float) -> str:
    """Return the line of one sample: transduce_NAME, labels in braces if any, value."""
    escape = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    inner = ",".join(f'{key}="{str(one).translate(escape)}"' for key, one in labels.items())
    return f"transduce_{name}{{{inner}}} {value}" if inner else f"transduce_{name} {value}"
