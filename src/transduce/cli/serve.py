"""`transduce serve`: translate over HTTP, with the interface of LibreTranslate."""

import asyncio
import importlib.util
import ipaddress
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transduce.cli import display, options, signals
from transduce.cli.options import argument, group, option
from transduce.cli.searching import BeamOptions, ModelOptions, no_keep, warn_if_unfinished
from transduce.errors import InputError
from transduce.machine.limits import raise_open_file_limit
from transduce.settings.data import UNNAMED
from transduce.settings.fields import require
from transduce.text.languages import parse_languages

if TYPE_CHECKING:
    from transduce.serve.messages import Ready


@options.make_command("serve")
def command(
    *,
    models: tuple[Path, ...] = argument(nargs=-1, required=True),
    host: str = option(
        "The address to listen on (default: 127.0.0.1, which only this machine reaches).",
        default="127.0.0.1",
    ),
    port: int = option(
        "The port to listen on (default: 5000); 0 chooses a free one.",
        type=click.IntRange(0, 65535),
        default=5000,
    ),
    api_key: str | None = option(
        "The key that requests must carry. The environment variable TRANSDUCE_API_KEY sets it "
        "without showing it to other users of this machine.",
        # click's envvar takes an empty value as none
        default=lambda: os.environ.get("TRANSDUCE_API_KEY"),
    ),
    allowed_hosts: tuple[str, ...] = option(
        "Also accept requests addressed to this host name, such as that of a reverse proxy; may be "
        "repeated.",
        "--allow-host",
        multiple=True,
        metavar="NAME",
    ),
    allowed_origins: tuple[str, ...] = option(
        "Let the pages of this web site, such as https://example.org, use the server; may be "
        "repeated.",
        "--allow-origin",
        multiple=True,
        metavar="ORIGIN",
    ),
    languages: tuple[tuple[str, ...], ...] = option(
        "Codes of a model's languages, such as en-fr, that replace its own; once for each model.",
        type=parse_languages,
        metavar="SOURCE-TARGET",
        multiple=True,
    ),
    beam: BeamOptions = group(),
    no_keep: bool = no_keep,
    loading: ModelOptions = group(
        "precision",
        "workers",
        "threads",
        workers="Number of search processes of one thread for each model (default: 1).",
        threads="Run one search process per model, with this many threads (default: 1).",
    ),
) -> None:
    """Translate over HTTP with MODELS, one for each pair of languages, until Ctrl-C.

    Answers like LibreTranslate (POST /translate) and like OpenNMT's server (POST
    /translator/translate); /openapi.json describes all paths. New requests join a running search.
    If a model folder is replaced, the server verifies the new one and then uses it. Ctrl-C and
    SIGTERM end it once it has answered, with exit code 0.

    \b
    transduce serve model
    curl -d q="Guten Tag." -d source=de -d target=en http://127.0.0.1:5000/translate
    """
    signals.ignore_checkpoint_signal()
    require_packages()
    if any((folder / "run.json").exists() for folder in models):  # the check imports torch, 200 MB
        warn_if_unfinished(models)
    from transduce.serve.guard import ServerSettings
    from transduce.serve.search_process import ModelChoice
    from transduce.serve.server import serve

    require(
        len(languages) in (0, len(models)),
        f"{len(languages)} pairs of languages are named for {len(models)} models",
        "--languages once for each model, in their order",
    )
    choices = [
        ModelChoice(
            folder, beam.given(), loading.precision, loading.threads or 1, codes, keep=not no_keep
        )
        for folder, codes in zip(models, languages or [None] * len(models), strict=True)
    ]
    settings = ServerSettings(
        host=host,
        port=port,
        api_key=api_key,
        allowed_hosts=allowed_hosts,
        allowed_origins=allowed_origins,
        workers=loading.workers or 1,
    )
    if api_key is None and not is_loopback(host):
        display.print_message(
            f"warning: everyone who reaches {host} can use this server; --api-key asks for a key"
        )
    # multiprocessing warns if its tracker of shared resources is killed; none are shared here
    warnings.filterwarnings("ignore", "resource_tracker: process died", UserWarning)
    raise_open_file_limit(2 * settings.limits.connections + 1_000)  # a burst may add as many
    asyncio.run(serve(choices, settings, print_ready, on_message=display.print_unless_unread))


def require_packages(find: Callable[[str], object] = importlib.util.find_spec) -> None:
    """Raise InputError if `find` returns None for a package that the server needs."""
    for name in ("starlette", "uvicorn"):
        if find(name) is None:
            raise InputError(
                f"a server needs the package {name}",
                "pip install starlette uvicorn, or the extra serve",
            )


def is_loopback(host: str) -> bool:
    """Return whether a host name or address can be reached from this machine only."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def print_ready(address: str, models: "Sequence[Ready]") -> None:
    """Print each model's languages, name and hash, then the server's address."""
    for one in models:
        if {one.source, one.target} & {*UNNAMED}:
            display.print_message(
                f"warning: the languages of {one.name} are not named; "
                "start again with --languages en-fr"
            )
        display.print_message(f"{one.source} to {one.target}: {one.name}, sha256 {one.hash[:12]}")
    display.print_result(address)
    display.flush_output()
