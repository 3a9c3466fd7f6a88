"""`transduce.fetch`: download public corpora into the cache."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import final

from transduce.datasets.cache import cache_folder
from transduce.datasets.catalogue import find_corpora, list_split_corpora
from transduce.datasets.downloads import DownloadSettings
from transduce.datasets.fetch import fetch_corpus, read_splits
from transduce.datasets.transfer import NetworkSettings
from transduce.datasets.values import Corpus
from transduce.durable.folder import require_harmless_output
from transduce.durable.lock import lock_folder
from transduce.errors import InputError, short_repr
from transduce.settings.fields import require
from transduce.text.arguments import ignore_event, read_path

# called with a file name, the bytes so far, and the bytes in all (0 if unknown)
OnDownload = Callable[[str, int, int], None]


@final
@dataclass(frozen=True, kw_only=True)
class FetchedCorpus:
    """A public corpus that has been fetched to this machine: its folder, line counts, warnings."""

    corpus: Corpus  # the corpus' name, languages, licence and description
    folder: Path
    lines: Mapping[str, int]  # the number of lines of each split
    warnings: tuple[str, ...]  # differences from the expected sizes or counts


def fetch(  # noqa: PLR0913 - one parameter for each choice of the caller
    *names: str,
    cache: str | PathLike[str] | None = None,
    copies: str | PathLike[str] | None = None,
    offline: bool = False,
    timeout: float = NetworkSettings.seconds,
    limit: float = NetworkSettings.largest / 1e9,
    on_progress: OnDownload | None = None,
    on_corpus: Callable[[FetchedCorpus], None] | None = None,
) -> tuple[FetchedCorpus, ...]:
    """Fetch public corpora into the cache that `train`, `prepare` and `evaluate` read; return them.

    `names` are names that `transduce fetch --list` shows. `cache` is $TRANSDUCE_CACHE or this
    platform's cache folder by default. A corpus that the cache holds is not fetched again. `copies`
    is a folder of files downloaded before, and `offline` takes only these. `timeout` is how many
    seconds without data break a connection. `limit` is the most GB of a file whose size is not
    known in advance. `on_corpus` is called with each corpus once it is fetched.

        (corpus,) = transduce.fetch("newstest2014", offline=True, copies="downloads")
    """
    require(bool(names), "no corpus was named", "`transduce fetch --list` shows the names")
    here = cache_folder() if cache is None else read_path("cache", cache)
    fact = f"the limit must be a number of GB up to 1,000,000, not {short_repr(limit)}"
    require(type(limit) in (int, float) and 0 < limit <= 1e6, fact, "20 is the default")
    settings = replace(NetworkSettings(), seconds=timeout, largest=int(limit * 1e9))
    own = None if copies is None else read_path("copies", copies)
    if own is not None and not own.is_dir():
        raise InputError("is no folder", "name the folder that holds the files", file=own)
    network = None if offline else settings
    places = DownloadSettings(here / "downloads", own, network)
    corpora = [
        part for name in names for one in find_corpora(name) for part in list_split_corpora(one)
    ]
    fetched = []
    require_harmless_output(here / "lock")
    with lock_folder(here):
        for corpus in dict.fromkeys(corpora):
            folder = fetch_corpus(corpus, here, places, on_progress or ignore_event)
            found = FetchedCorpus(
                corpus=corpus,
                folder=folder.folder,
                lines={name: split["lines"] for name, split in read_splits(folder).items()},
                warnings=tuple(map(str, folder.about.get("unlike", ()))),
            )
            fetched.append(found)
            (on_corpus or ignore_event)(found)
    return tuple(fetched)
