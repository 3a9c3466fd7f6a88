"""transduce fetch: public corpora, once, into a cache from which all commands read."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transduce.cli import display, options
from transduce.datasets.cache import cache_folder
from transduce.datasets.catalogue import CORPORA, named, with_elsewhere
from transduce.datasets.downloads import Places
from transduce.datasets.fetch import fetch, place_of
from transduce.datasets.transfer import Network, Told
from transduce.datasets.values import Corpus
from transduce.durable import lock_folder
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.durable import VerifiedFolder

FOLDER = click.Path(path_type=Path)


@click.command("fetch")
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--list", "listing", is_flag=True, help="List all corpora, their sizes and licences.")
@click.option(
    "--from", "copies", type=FOLDER, help="Take files that lie in this folder, where they lie."
)
@click.option("--offline", is_flag=True, help="Use no network; say what is missing.")
@click.option(
    "--cache",
    type=FOLDER,
    help="Where corpora are kept. Other commands look there if TRANSDUCE_CACHE says so.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=Network.seconds,
    help="Seconds of silence before a connection counts as broken.",
)
@options.as_json
@options.quiet
def command(
    *,
    names: Sequence[str],
    listing: bool,
    offline: bool,
    timeout: float,
    as_json: bool,
    quiet: bool,
    **folders: Path | None,
) -> None:
    """Fetch public corpora and test sets, each once, for the other commands to use.

    Every file is held against its known size and hash; what breaks off goes on where it was, and
    dead addresses have others behind them. Each corpus has its own licence: --list shows it.
    Prints the folder of each corpus. mtdata/NAME is one of the index that mtdata has written here;
    of those neither hashes nor sizes nor licences are known.

    \b
    transduce fetch wmt14-en-de
    transduce fetch --list
    transduce fetch mtdata/Statmt-news_commentary-18-deu-eng
    """
    cache = folders["cache"] or cache_folder()
    if listing:
        for line in listed(cache, as_json=as_json):
            display.result(line)
        return
    require(bool(names), "no corpus was named", "transduce fetch NAME; --list shows the names")
    network = None if offline else replace(Network(), seconds=timeout)
    places = Places(cache / "downloads", folders["copies"], network)
    corpora = [part for name in names for one in named(name) for part in with_elsewhere(one)]
    with lock_folder(cache), progress(shown=not quiet) as told:
        for corpus in dict.fromkeys(corpora):
            found = fetch(corpus, cache, places, told)
            say(corpus, found, as_json=as_json, quiet=quiet)


def say(corpus: Corpus, found: "VerifiedFolder", *, as_json: bool, quiet: bool) -> None:
    """Where it lies, how many lines it has, and what is not as it was expected."""
    splits = {name: split["lines"] for name, split in found.about["splits"].items()}
    if as_json:
        said = described(corpus) | {"folder": str(found.folder), "splits": splits}
        display.result(json.dumps(said | {"unlike": found.about["unlike"]}, ensure_ascii=False))
    else:
        display.result(str(found.folder))
    for note in found.about["unlike"]:
        display.tell(f"warning: {note}")
    if not quiet:
        counts = ", ".join(f"{name} {lines:,}" for name, lines in splits.items())
        display.tell(f"{corpus.name} {'-'.join(corpus.languages)}: {counts} lines")
        display.tell(f"  licence: {corpus.licence}")


def listed(cache: Path, *, as_json: bool) -> Iterator[str]:
    """Every corpus: its name, languages, size, whether it is here, and its licence."""
    if as_json:
        for corpus in CORPORA:
            said = described(corpus) | {"here": place_of(corpus, cache).is_dir()}
            yield json.dumps(said, ensure_ascii=False)
        return
    rows = []
    for corpus in CORPORA:
        here = "here" if place_of(corpus, cache).is_dir() else ""
        rows.append((corpus.name, "-".join(corpus.languages), sized(corpus.size), here))
    for corpus, row in zip(CORPORA, display.columns(rows), strict=True):
        yield row
        yield f"    {corpus.about}"
        yield f"    licence: {corpus.licence}"


def described(corpus: Corpus) -> dict[str, object]:
    """For programs."""
    return {
        "name": corpus.name,
        "languages": list(corpus.languages),
        "about": corpus.about,
        "bytes": corpus.size or None,
        "licence": corpus.licence,
    }


def sized(count: int) -> str:
    """Bytes for people."""
    if not count:
        return "size not known"
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


@contextmanager
def progress(*, shown: bool) -> Iterator[Told]:
    """A bar for the file that comes, on a terminal."""
    where = display.console()
    if not shown or not where.is_terminal:
        yield lambda _what, _here, _total: None
        return
    from rich import progress as bars

    with bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.DownloadColumn(),
        bars.TransferSpeedColumn(),
        bars.TimeRemainingColumn(),
        console=where,
        transient=True,
    ) as bar:
        task = bar.add_task("")
        yield lambda what, here, total: bar.update(
            task, description=what, completed=here, total=total or None
        )
