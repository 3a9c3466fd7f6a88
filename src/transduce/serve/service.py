"""The server's models: finds a request's model and its answers; refuses it when too many wait.

It also says which languages a text may be in. Its counters are in the text format that Prometheus
reads; users' texts are not in them.
"""

import asyncio
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import accumulate
from typing import Any, final

from transduce.serve.dispatcher import Dispatcher, Job, Work
from transduce.serve.interface import (
    ClientGone,
    Detection,
    Limits,
    Refusal,
    bad_request,
    too_large,
    unavailable,
)
from transduce.serve.messages import Page, SentenceOutputs
from transduce.text.languages import (
    can_detect_languages,
    rank_languages,
    to_detected_code,
)

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Pair = tuple[str, str]  # codes of source and target language
MIN_PROBABILITY = 0.05  # a ranking leaves out less probable languages, except the first
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
Sample = tuple[Mapping[str, object], int | float]  # labels and value


@final
class Service:
    """The server's models, with one dispatcher for each language pair, and its counters."""

    def __init__(self, models: Mapping[Pair, Dispatcher], limits: Limits) -> None:
        self.models, self.limits = dict(models), limits
        self.metrics, self.detecting = Metrics(), asyncio.Lock()
        self.is_stopping, self.replaced = False, 0
        self.old = set[Dispatcher]()  # replaced models that still finish their requests

    @property
    def waiting(self) -> int:
        """The number of sentences that wait for a search, over all models."""
        return sum(one.waiting for one in (*self.models.values(), *self.old))

    @property
    def is_ready(self) -> bool:
        """Whether every model has a running search process and the server is not stopping."""
        return not self.is_stopping and not self.fault

    @property
    def fault(self) -> str:
        """A sentence that names the language pairs without a search process, or else ""."""
        lost = [" to ".join(pair) for pair, one in self.models.items() if not one.clients]
        return f"no search process for {', '.join(lost)}" if lost else ""

    def find(self, source: str, target: str) -> Dispatcher:
        """Return the dispatcher of a language pair; refuse a pair without a model."""
        sources = self.list_sources(target)
        source = match_language(source, sources)
        if source not in sources:
            fact = f"{source[:20]} is not supported as a source of {target}"
            raise bad_request(f"{fact}; supported: {', '.join(sources)}")
        return self.models[source, match_language(target, [pair[1] for pair in self.models])]

    def list_sources(self, target: str) -> list[str]:
        """Return the source languages of a target language; refuse a target without any."""
        targets = [pair[1] for pair in self.models]
        target = match_language(target, targets)
        if target not in targets:
            fact = f"{target[:20]} is not supported as a target language"
            raise bad_request(f"{fact}; supported: {', '.join(dict.fromkeys(targets))}")
        return [pair[0] for pair in self.models if pair[1] == target]

    async def detect(self, text: str, target: str = "") -> list[Detection]:
        """Rank the languages that a text may be in, or all sources of `target`, likeliest first.

        Refuses if py3langid is not installed; a language that it does not know has probability 0.
        """
        sources = self.list_sources(target) if target else []
        if not can_detect_languages():
            fact = "languages are not detected here: py3langid is not installed, or does not load"
            raise Refusal(HTTPStatus.NOT_IMPLEMENTED, fact)
        async with self.detecting:  # py3langid's 78 MB of tables must be loaded only once
            found = await asyncio.to_thread(rank_languages, text)
        if target:
            known = dict(found)
            found = [(code, known.get(to_detected_code(code), 0.0)) for code in sources]
            found.sort(key=lambda one: one[1], reverse=True)
        else:
            found = [one for one in found if one[1] >= MIN_PROBABILITY] or found[:1]
        return [Detection(language=code, confidence=round(100 * one, 1)) for code, one in found]

    async def run(
        self, dispatcher: Dispatcher, orders: Sequence[Work], receive: Receive
    ) -> list[SentenceOutputs | Page]:
        """Return the answers to a request's orders; refuse it if the queue is full or time is up.

        If the client closes its connection, the orders leave the queue and the search at once.
        """
        if self.is_stopping or dispatcher.is_closed or not dispatcher.clients:
            raise unavailable("the server is about to stop" if self.is_stopping else "not ready")
        if len(orders) > self.limits.sentences:
            fact = f"{len(orders):,} sentences, and a request may have {self.limits.sentences}"
            raise too_large(fact)
        if self.waiting >= self.limits.queue:
            raise unavailable("too many requests are waiting")
        job = dispatcher.submit(orders)
        leaving = asyncio.ensure_future(end_with_client(job, receive))
        try:
            async with asyncio.timeout(self.limits.request_seconds):
                found = await job.finished
        except TimeoutError:
            fact = f"no answer within {self.limits.request_seconds:.0f} seconds"
            raise Refusal(HTTPStatus.GATEWAY_TIMEOUT, fact) from None
        except ClientGone:
            self.metrics.cancelled += 1
            raise
        finally:
            leaving.cancel()
            dispatcher.cancel(job)
        self.metrics.count_sentences([one.text for one in orders])
        return found

    async def swap(self, pair: Pair, new: Dispatcher) -> None:
        """Replace a language pair's dispatcher; close the old one after its last request."""
        old, self.models[pair] = self.models[pair], new
        self.replaced += 1
        self.old.add(old)
        while old.jobs and not old.is_closed:
            await asyncio.wait({job.finished for job in old.jobs})
        await old.close()
        self.old.discard(old)

    def stop_searches(self) -> None:
        """Refuse all requests that are still in the queue or in a search."""
        for one in (*self.models.values(), *self.old):
            one.refuse_all()

    async def close(self) -> None:
        """End all search processes."""
        self.is_stopping = True
        await asyncio.gather(*(one.close() for one in (*self.models.values(), *self.old)))

    def format_gauges(self) -> list[str]:
        """Return queue length, running searches, restarts and models as lines of metrics."""
        pairs = [({"source": a, "target": b}, one) for (a, b), one in self.models.items()]
        facts = [
            ({**pair, "name": one.facts.name, "sha256": one.facts.hash}, 1)
            for pair, one in pairs
            if one.facts
        ]
        running = [(pair, one.running) for pair, one in pairs]
        restarts = [(pair, one.restarts) for pair, one in pairs]
        ended = "search processes started after one ended"
        swapped = "models replaced while running"
        return [
            *format_metric(
                "queue_sentences", "sentences that wait for a search", ({}, self.waiting)
            ),
            *format_metric("running_sentences", "sentences in a search", *running),
            *format_metric("restarts_total", ended, *restarts),
            *format_metric("replaced_total", swapped, ({}, self.replaced)),
            *format_metric("model_info", "the models that are loaded", *facts),
        ]


async def end_with_client(job: Job, receive: Receive) -> None:
    """Wait until a client closes its connection, and end its job with ClientGone.

    `receive` must have returned the whole body before.
    """
    while (await receive())["type"] != "http.disconnect":
        pass
    if not job.finished.done():
        job.finished.set_exception(ClientGone())


def match_language(code: str, known: Sequence[str]) -> str:
    """Return `code` or, if it is unknown, its language's only known code, such as en-GB for en."""
    same = {one for one in known if to_detected_code(one) == to_detected_code(code)}
    return code if code in known or len(same) != 1 else same.pop()


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

    def format(self, others: Iterable[str]) -> str:
        """Return all counters in Prometheus' text format, followed by the lines of `others`."""
        requests = [
            ({"path": path, "status": status}, count)
            for (path, status), count in sorted(self.requests.items())
        ]
        times = zip([*SECONDS, "+Inf"], accumulate(self.buckets), strict=True)
        lines = [
            *format_metric("requests_total", "requests answered", *requests),
            "# HELP transduce_seconds from a request for translations to its answer",
            "# TYPE transduce_seconds histogram",
            *(format_sample("seconds_bucket", {"le": most}, count) for most, count in times),
            format_sample("seconds_sum", {}, round(self.seconds, 6)),
            format_sample("seconds_count", {}, sum(self.buckets)),
            *format_metric("sentences_total", "sentences translated", ({}, self.sentences)),
            *format_metric("characters_total", "characters of source text", ({}, self.characters)),
            *format_metric("cancelled_total", "requests whose client left", ({}, self.cancelled)),
            *others,
        ]
        return "\n".join(lines) + "\n"


def format_metric(name: str, about: str, *samples: Sample) -> list[str]:
    """Return the lines of a metric, a counter if its name ends in _total, else a gauge."""
    kind = "counter" if name.endswith("_total") else "gauge"
    head = [f"# HELP transduce_{name} {about}", f"# TYPE transduce_{name} {kind}"]
    return head + [format_sample(name, *one) for one in samples]


def format_sample(name: str, labels: Mapping[str, object], value: int | float) -> str:
    """Return the line of one sample: transduce_NAME, labels in braces if any, value."""
    escape = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    inner = ",".join(f'{key}="{str(one).translate(escape)}"' for key, one in labels.items())
    return f"transduce_{name}{{{inner}}} {value}" if inner else f"transduce_{name} {value}"
