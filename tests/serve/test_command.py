"""`transduce serve` as users start and stop it: processes, signals, what is missing."""

import importlib.util
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from tests.serve.running import Client
from tests.serve.test_replacement import LINE, save_random

from transduce.cli.serve import command
from transduce.errors import InputError
from transduce.inference.load import load


@contextmanager
def served(model, *options):
    """Run the command during a with block; yield a client, and the process."""
    words = [sys.executable, "-m", "transduce", "serve", str(model), "--port", "0", *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Client(urlsplit(process.stdout.readline().strip()).port or 0), process
        finally:
            process.terminate()


def children(process):
    """Return the processes that a process has started and that live."""
    tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
    listed = [pid for one in tasks for pid in one.read_text("utf-8").split()]
    names = {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes() for pid in listed}
    return [pid for pid, name in names.items() if b"spawn_main" in name]


@pytest.mark.slow
@pytest.mark.workers
def test_it_survives_the_end_of_a_search_and_stops_with_its_work_done(tmp_path):
    save_random(tmp_path / "model", 1)
    expected = {"translatedText": load(tmp_path / "model")(LINE)}
    with served(tmp_path / "model") as (client, process), ThreadPoolExecutor(8) as pool:
        assert client.translate(LINE).json == expected
        (search,) = children(process)
        os.kill(search, signal.SIGKILL)
        while client.get("/ready").status != 200 or search in children(process):
            threading.Event().wait(0.1)
        asked = [pool.submit(client.translate, LINE) for _ in range(8)]
        assert [one.result().json for one in asked] == [expected] * 8
        (search,) = children(process)
        process.terminate()
        assert process.wait(60) == 0
        assert not Path(f"/proc/{search}").exists()


def test_without_its_packages_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"needs the package starlette\nhint: pip install"):
        CliRunner().invoke(command, ["model"], catch_exceptions=False)
