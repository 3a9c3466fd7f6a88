"""Fetch public corpora by one call: what `transduce.fetch` is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import final

from transduce.datasets.cache import cache_folder
from transduce.datasets.catalogue import find_corpora, list_split_corpora
from transduce.datasets.downloads import DownloadSettings
from transduce.datasets.fetch import fetch_corpus
from transduce.datasets.transfer import NetworkSettings
from transduce.datasets.values import Corpus
from transduce.durable import VerifiedFolder, lock_folder
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


def fetch(
    *names: str,
    cache: str | PathLike[str] | None = None,
    copies: str | PathLike[str] | None = None,
    offline: bool = False,
    timeout: float = NetworkSettings.seconds,
    on_progress: OnDownload | None = None,
    on_corpus: Callable[[FetchedCorpus], None] | None = None,
) -> tuple[FetchedCorpus, ...]:
    """Fetch public corpora into a cache, each once, for `train`, `prepare` and `evaluate` to use.

    `names` are those that `transduce fetch --list` shows. `cache` is $TRANSDUCE_CACHE or this
    platform's cache folder by default. `copies` is a folder of files downloaded before. `timeout`
    is the seconds of silence after which a connection counts as broken. `on_corpus` is called with
    each corpus as soon as it is here.

        (corpus,) = transduce.fetch("newstest2014", offline=True, copies="downloads")
    """
    require(bool(names), "no corpus was named", "transduce fetch NAME; --list shows the names")
    here = cache_folder() if cache is None else Path(cache)
    network = None if offline else replace(NetworkSettings(), seconds=timeout)
    places = DownloadSettings(here / "downloads", None if copies is None else Path(copies), network)
    corpora = [
        part for name in names for one in find_corpora(name) for part in list_split_corpora(one)
    ]
    fetched = []
    with lock_folder(here):
        for corpus in dict.fromkeys(corpora):
            folder = fetch_corpus(corpus, here, places, on_progress or ignore_event)
            found = describe_folder(corpus, folder)
            fetched.append(found)
            (on_corpus or ignore_event)(found)
    return tuple(fetched)


def describe_folder(corpus: Corpus, folder: VerifiedFolder) -> FetchedCorpus:
    """Return what the folder of a fetched corpus holds."""
    return FetchedCorpus(
        corpus=corpus,
        folder=folder.folder,
        lines={name: split["lines"] for name, split in folder.about["splits"].items()},
        warnings=tuple(folder.about["unlike"]),
    )


def ignore_event(*_: object) -> None:
    """Do nothing: the default of every callback."""
