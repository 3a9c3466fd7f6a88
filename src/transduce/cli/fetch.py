"""`transduce fetch`: download public corpora into the cache that all commands read."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from transduce.cli import display, options
from transduce.datasets.cache import cache_folder
from transduce.datasets.catalogue import list_public
from transduce.datasets.fetch import corpus_folder
from transduce.datasets.transfer import NetworkSettings
from transduce.datasets.treebanks import Treebank
from transduce.datasets.values import Corpus
from transduce.runs.fetch import FetchedCorpus, OnDownload, fetch

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
    default=NetworkSettings.seconds,
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
        for line in list_corpora(cache, as_json=as_json):
            display.result(line)
        return
    with progress_bar(shown=not quiet) as on_progress:
        fetch(
            *names,
            cache=cache,
            copies=folders["copies"],
            offline=offline,
            timeout=timeout,
            on_progress=on_progress,
            on_corpus=partial(print_corpus, as_json=as_json, quiet=quiet),
        )


def print_corpus(found: FetchedCorpus, *, as_json: bool, quiet: bool) -> None:
    """Print the folder of a fetched corpus, its numbers of lines, its warnings and licence."""
    corpus = found.corpus
    if as_json:
        facts = corpus_facts(corpus) | {"folder": str(found.folder), "splits": dict(found.lines)}
        display.result(json.dumps(facts | {"unlike": found.warnings}, ensure_ascii=False))
    else:
        display.result(str(found.folder))
    for warning in found.warnings:
        display.tell(f"warning: {warning}")
    if not quiet:
        counts = ", ".join(f"{name} {lines:,}" for name, lines in found.lines.items())
        display.tell(f"{corpus.name} {'-'.join(corpus.languages)}: {counts} lines")
        display.tell(f"  licence: {corpus.licence}")


def list_corpora(cache: Path, *, as_json: bool) -> Iterator[str]:
    """Yield lines on every corpus: name, languages, size, whether it is cached, and licence."""
    if as_json:
        for corpus in list_public():
            facts = corpus_facts(corpus) | {"here": corpus_folder(corpus, cache).is_dir()}
            yield json.dumps(facts, ensure_ascii=False)
        return
    rows = []
    for corpus in list_public():
        here = "here" if corpus_folder(corpus, cache).is_dir() else ""
        rows.append((corpus.name, "-".join(corpus.languages), format_bytes(corpus.size), here))
    for corpus, row in zip(list_public(), display.columns(rows), strict=True):
        yield row
        yield f"    {corpus.about}"
        yield f"    licence: {corpus.licence}"


def corpus_facts(corpus: Corpus | Treebank) -> dict[str, object]:
    """Return the facts known about a corpus before it is fetched, as JSON values."""
    return {
        "name": corpus.name,
        "languages": list(corpus.languages),
        "about": corpus.about,
        "bytes": corpus.size or None,
        "licence": corpus.licence,
    }


def format_bytes(count: int) -> str:
    """Format a number of bytes in MB or GB."""
    if not count:
        return "size not known"
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


@contextmanager
def progress_bar(*, shown: bool) -> Iterator[OnDownload]:
    """Show a terminal's progress bar for each downloaded file; yield the function to update it."""
    console = display.console()
    if not shown or not console.is_terminal:
        yield lambda _what, _here, _total: None
        return
    from rich import progress as bars

    with bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.DownloadColumn(),
        bars.TransferSpeedColumn(),
        bars.TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task("")
        yield lambda what, here, total: bar.update(
            task, description=what, completed=here, total=total or None
        )
