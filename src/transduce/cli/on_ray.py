"""`translate --on ray`: translate all shards of a text, each as a task of a Ray cluster.

A task gets the words of a command line, runs that command in a process of its own, and returns its
exit code and the end of its messages. Nothing else passes between processes. A shard's folder
is complete or absent, so that a task may run again, here or elsewhere.
"""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from transduce.cli import display
from transduce.errors import InputError, short_repr
from transduce.inference.shards import MOST
from transduce.settings.fields import require

RETRIES = 4  # of a task whose process or machine is lost
SAID = 2_000  # characters of a command's messages that come back
LEFT_OUT = ("on", "shard")


def run_shards(context: click.Context, where: str, shards: str) -> None:
    """Run this command on Ray, once for each of N shards (`shards`, "all/N"); exit if one fails.

    `where` is `ray` for this machine, or `ray=HOST:PORT` for a cluster.
    """
    found = re.fullmatch(r"all/([0-9]{1,6})", shards)
    count = int(found[1]) if found else 0
    fact = f"--on ray translates all shards, and --shard is {short_repr(shards)}"
    require(0 < count <= MOST, fact, f"--shard all/8; at most {MOST:,}")
    name, _, address = where.partition("=")
    require(name == "ray", f"--on {short_repr(where)} is not known", "--on ray, or ray=HOST:PORT")
    ray = start_ray(address)
    try:
        words, folder = list_words(context), str(Path.cwd())
        task = ray.remote(max_retries=RETRIES)(run_command)
        numbers = {
            task.remote([words[0], f"--shard={number}/{count}", *words[1:]], folder): number
            for number in range(1, count + 1)
        }
        failed = wait_for_all(ray, numbers, count)
    finally:
        ray.shutdown()
    if failed:
        raise click.exceptions.Exit(failed)


def start_ray(address: str) -> Any:  # noqa: ANN401 - Ray is not among our packages
    """Start Ray here (address ""), or join the cluster at `address`; return the module `ray`.

    Raises InputError if Ray is not installed or does not start.
    """
    if address:
        require_reachable(address)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if not address:  # Ray then listens on 127.0.0.1 alone, as it does on macOS and Windows
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # read when ray is imported
    try:
        import ray  # type: ignore[import-not-found]
    except ImportError:
        raise InputError("Ray is not installed, and --on needs it", "pip install ray") from None
    alone = {} if address else {"include_dashboard": False}
    try:
        ray.init(address or "local", log_to_driver=False, logging_level="ERROR", **alone)
    except (ConnectionError, RuntimeError) as error:
        fact = f"Ray does not start: {error}"
        raise InputError(fact, "ray start --head starts a cluster; ray status shows it") from error
    return ray


def require_reachable(address: str) -> None:
    """Refuse an address where nothing answers; Ray itself would go on trying for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, ValueError, OverflowError):
        fact = f"no Ray cluster answers at {short_repr(address)}"
        raise InputError(fact, "HOST:PORT of its head; without =ADDRESS Ray runs here") from None


def list_words(context: click.Context) -> list[str]:
    """Return the words of the command line without --on and --shard, for a task of one core.

    --workers=1 is added unless --workers or --threads is given.
    """
    words = [context.command.name or ""]
    arguments = list[str]()
    for one in context.command.params:
        given = context.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE
        if not given or one.name in LEFT_OUT:
            continue
        value = context.params.get(one.name or "")  # --quiet and --no-progress store no value here
        values = value if isinstance(value, tuple) else (value,)
        if isinstance(one, click.Argument):
            arguments += map(str, values)
        elif isinstance(one, click.Option) and one.is_flag:
            words.append(one.opts[-1])
        else:
            words += [f"{one.opts[-1]}={value}" for value in values]
    if not {"--workers", "--threads"} & {word.partition("=")[0] for word in words}:
        words.append("--workers=1")  # Ray gives a task one core
    return [*words, "--", *arguments]


def run_command(words: Sequence[str], folder: str) -> tuple[int, str]:
    """Run a command of this package in a folder; return its exit code and the end of its messages.

    A failed command runs once more, since a lost task's process may have written the same shard.
    """
    command = [sys.executable, "-m", "transduce", *words]
    ended = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if ended.returncode:
        ended = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return ended.returncode, ended.stderr.decode(errors="replace")[-SAID:]


def wait_for_all(ray: Any, shard_numbers: dict[Any, int], count: int) -> int:  # noqa: ANN401
    """Wait for all tasks, and print how each ended; return the first failure's exit code, or 0."""
    failed, left = 0, list(shard_numbers)
    while left:
        (done,), left = ray.wait(left)
        try:
            code, said = ray.get(done)
        except ray.exceptions.RayError as error:
            code, said = 7, str(error)[-SAID:]
        if code:
            fact, _, hint = (said.partition("error: ")[2] or said).strip().partition("\nhint: ")
            shard = f"shard {shard_numbers[done]} of {count}"
            display.print_error(f"{shard} ended with {code}: {fact}", hint)
        else:
            display.print_note(f"{count - len(left):,} of {count:,} shards ended")
        failed = failed or code
    return failed
