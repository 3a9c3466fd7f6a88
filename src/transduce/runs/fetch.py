"""Fetch public corpora by one call: what `transduce.fetch` is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import final

from transduce.datasets.cache import cache_folder
from transduce.datasets.catalogue import named, with_elsewhere
from transduce.datasets.downloads import Places
from transduce.datasets.fetch import fetch as fetch_corpus
from transduce.datasets.transfer import Network
from transduce.datasets.values import Corpus
from transduce.durable import hold
from transduce.settings.fields import require

OnDownload = Callable[[str, int, int], None]  # the file, its bytes so far, all its bytes or 0


@final
@dataclass(frozen=True, kw_only=True)
class FetchedCorpus:
    """A public corpus on this machine."""

    corpus: Corpus  # its name, languages, licence and what it is
    folder: Path
    lines: Mapping[str, int]  # of each split
    warnings: tuple[str, ...]  # what is not as it was expected


def fetch(  # noqa: PLR0913 - one for each choice that a caller may make
    *names: str,
    cache: str | PathLike[str] | None = None,
    copies: str | PathLike[str] | None = None,
    offline: bool = False,
    timeout: float = Network.seconds,
    on_progress: OnDownload | None = None,
) -> tuple[FetchedCorpus, ...]:
    """Fetch public corpora into a cache, each once, for `train`, `prepare` and `evaluate` to use.

    `names` are those that `transduce fetch --list` shows. `cache` is $TRANSDUCE_CACHE or this
    platform's cache folder by default. `copies` is a folder of files downloaded before. `timeout`
    is the seconds of silence after which a connection counts as broken.

        (corpus,) = transduce.fetch("multi30k-en-de")
    """
    here = cache_folder() if cache is None else Path(cache)
    network = None if offline else replace(Network(), seconds=timeout)
    places = Places(here / "downloads", None if copies is None else Path(copies), network)
    return tuple(fetch_each(names, here, places, on_progress or ignore_download))


def fetch_each(
    names: tuple[str, ...], cache: Path, places: Places, on_progress: OnDownload
) -> Iterator[FetchedCorpus]:
    """Yield every corpus of the names as soon as it is here, with those that hold its splits."""
    require(bool(names), "no corpus was named", "transduce fetch NAME; --list shows the names")
    corpora = [part for name in names for one in named(name) for part in with_elsewhere(one)]
    with hold(cache):
        for corpus in dict.fromkeys(corpora):
            found = fetch_corpus(corpus, cache, places, on_progress)
            splits = found.about["splits"]
            yield FetchedCorpus(
                corpus=corpus,
                folder=found.folder,
                lines={name: split["lines"] for name, split in splits.items()},
                warnings=tuple(found.about["unlike"]),
            )


def ignore_download(_file: str, _bytes: int, _total: int) -> None:
    """Do nothing: the default for `on_progress`."""
