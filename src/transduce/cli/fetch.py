"""`transduce fetch`: download public corpora into the cache that all commands read."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from transduce.cli import display, options
from transduce.cli.options import FiniteRange, argument, flag, option
from transduce.datasets.cache import cache_folder
from transduce.datasets.catalogue import list_public
from transduce.datasets.fetch import corpus_folder
from transduce.datasets.transfer import NetworkSettings
from transduce.datasets.values import Corpus
from transduce.runs.fetch import FetchedCorpus, OnDownload, fetch
from transduce.settings.fields import require


@options.make_command("fetch", options.quiet)
def command(
    *,
    names: Sequence[str] = argument(nargs=-1, metavar="NAME..."),
    listing: bool = flag("List all corpora, their sizes and licences.", "--list"),
    copies: Path | None = option(
        "Use files that are already in this folder; they are not copied.", "--from"
    ),
    offline: bool = flag("Download nothing; list what is missing."),
    cache: Path | None = option(
        "The folder of the corpora. Other commands read it if TRANSDUCE_CACHE names it."
    ),
    timeout: float = option(
        "Seconds without data before a connection counts as broken.",
        type=FiniteRange(min=0, min_open=True),
        default=NetworkSettings.seconds,
    ),
    limit: float = option(
        "Largest size, in GB, of a file whose size is not known in advance.",
        type=FiniteRange(min=0, min_open=True),
        default=NetworkSettings.largest / 1e9,
        show_default=True,
    ),
    as_json: bool = options.as_json,
) -> None:
    """Download public corpora and test sets into a cache for the other commands.

    The size and hash of every file are checked; a broken download is resumed, and most files have
    several addresses. Each corpus has its own licence, which --list shows. Prints the folder of
    each corpus. mtdata/NAME is a corpus of the mtdata index on this machine; hashes, sizes and
    licences are not known for these.

    \b
    transduce fetch wmt14-en-de
    transduce fetch --list
    transduce fetch mtdata/Statmt-news_commentary-18-deu-eng
    """
    cache = cache or cache_folder()
    if listing:
        require(not names, "--list lists all corpora, and takes no names", "leave --list out")
        unused = {"copies", "offline", "timeout", "limit"}
        options.refuse_given(unused, "is for a fetched corpus, and --list fetches none")
        display.print_result(*list_corpora(cache, as_json=as_json))
        return
    with show_progress_bar() as on_progress:
        fetch(
            *names,
            cache=cache,
            copies=copies,
            offline=offline,
            timeout=timeout,
            limit=limit,
            on_progress=on_progress,
            on_corpus=partial(print_corpus, as_json=as_json),
        )


def print_corpus(found: FetchedCorpus, *, as_json: bool) -> None:
    """Print a fetched corpus's folder, number of lines in each split, warnings and licence."""
    corpus = found.corpus
    facts = corpus_as_json(corpus) | {"folder": str(found.folder), "splits": dict(found.lines)}
    values = facts | {"unlike": found.warnings}
    display.print_found(values, [str(found.folder)], as_json=as_json)
    for warning in found.warnings:
        display.print_message(f"warning: {warning}")
    counts = ", ".join(f"{name} {lines:,}" for name, lines in found.lines.items())
    display.print_note(f"{corpus.name} {'-'.join(corpus.languages)}: {counts} lines")
    display.print_note(f"  licence: {corpus.licence}")


def list_corpora(cache: Path, *, as_json: bool) -> Iterator[str]:
    """Yield text or JSON lines on each corpus: name, languages, size, licence, whether cached."""
    corpora = [(one, corpus_folder(one, cache).is_dir()) for one in list_public()]
    if as_json:
        for corpus, is_here in corpora:
            yield json.dumps(corpus_as_json(corpus) | {"here": is_here}, ensure_ascii=False)
        return
    rows = [
        (one.name, "-".join(one.languages), format_bytes(one.size), "here" if is_here else "")
        for one, is_here in corpora
    ]
    for (corpus, _), row in zip(corpora, display.align_columns(rows), strict=True):
        yield row
        yield f"    {corpus.about}"
        yield f"    licence: {corpus.licence}"


def corpus_as_json(corpus: Corpus) -> dict[str, object]:
    """Return a corpus's name, languages, description, size and licence as JSON values."""
    return {
        "name": corpus.name,
        "languages": list(corpus.languages),
        "about": corpus.about,
        "bytes": corpus.size or None,
        "licence": corpus.licence,
    }


def format_bytes(count: int) -> str:
    """Format a number of bytes in MB or GB; return "size not known" for 0."""
    if not count:
        return "size not known"
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


@contextmanager
def show_progress_bar() -> Iterator[OnDownload]:
    """In a with block, show a progress bar for downloads; yield the function that updates it."""
    console = display.build_console()
    if display.is_quiet() or not console.is_terminal:
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
