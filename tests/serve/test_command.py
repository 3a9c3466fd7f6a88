"""`transduce serve` as users start and stop it: processes, signals, what is missing."""

import asyncio
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.serve.command import list_searches, served
from tests.serve.test_replacement import LINE, save_random

from transduce.cli.main import transduce
from transduce.cli.serve import print_ready, require_packages
from transduce.errors import InputError
from transduce.inference.load import load
from transduce.serve.guard import ServerSettings
from transduce.serve.messages import Ready
from transduce.serve.search_process import ModelChoice, describe_model
from transduce.serve.server import handle_signals


@pytest.mark.slow
@pytest.mark.workers
def test_it_survives_the_end_of_a_search_and_stops_with_its_work_done(tmp_path):
    save_random(tmp_path / "model", 1)
    expected = {"translatedText": load(tmp_path / "model")(LINE)}
    with served(tmp_path / "model") as (client, process), ThreadPoolExecutor(8) as pool:
        assert client.translate(LINE).json == expected
        assert b"libtorch" not in Path(f"/proc/{process.pid}/maps").read_bytes()
        (search,) = list_searches(process)
        os.kill(search, signal.SIGKILL)
        while list_searches(process) in ([], [search]) or client.get("/ready").status != 200:
            threading.Event().wait(0.1)
        asked = [pool.submit(client.translate, LINE) for _ in range(8)]
        assert [one.result().json for one in asked] == [expected] * 8
        (search,) = list_searches(process)
        process.terminate()
        assert process.wait(60) == 0
        assert not Path(f"/proc/{search}").exists()


@pytest.mark.workers
def test_a_signal_that_asks_a_training_for_a_checkpoint_does_not_end_it(tmp_path):
    save_random(tmp_path / "model", 1)
    with served(tmp_path / "model") as (client, process):
        process.send_signal(signal.SIGUSR1)
        assert client.translate(LINE).status == 200
        process.terminate()
        assert process.wait(60) == 0


@pytest.mark.slow
@pytest.mark.workers
def test_the_end_of_all_its_children_is_told_in_its_own_words_only(tmp_path, capfd):
    save_random(tmp_path / "model", 1)
    with served(tmp_path / "model") as (client, process):
        first = list_searches(process)
        children = Path(f"/proc/{process.pid}/task").glob("*/children")
        for child in [int(pid) for one in children for pid in one.read_text().split()]:
            os.kill(child, signal.SIGKILL)
        while list_searches(process) in ([], first) or client.get("/ready").status != 200:
            threading.Event().wait(0.1)
        assert client.translate(LINE).status == 200
    said = capfd.readouterr().err
    assert "a search process was started again" in said
    assert "resource_tracker" not in said


@pytest.mark.parametrize("is_ignored", [True, False])
def test_only_a_hang_up_that_nohup_ignores_does_not_stop_a_server(is_ignored):
    asked = list[int]()

    async def live() -> None:
        with handle_signals(asyncio.get_running_loop(), lambda: asked.append(1)):
            signal.raise_signal(signal.SIGHUP)
            await asyncio.sleep(0.01)

    handler = signal.SIG_IGN if is_ignored else signal.SIG_DFL
    before = signal.signal(signal.SIGHUP, handler)
    try:
        asyncio.run(live())
        assert signal.getsignal(signal.SIGHUP) == handler
    finally:
        signal.signal(signal.SIGHUP, before)
    assert asked == ([] if is_ignored else [1])


def test_without_its_packages_a_sentence_says_what_to_install():
    with pytest.raises(InputError, match=r"needs the package starlette\nhint: pip install"):
        require_packages(lambda _: None)


def test_a_server_names_the_languages_of_a_model_that_names_others(tmp_path):
    save_random(tmp_path / "model", 1)
    found = describe_model(ModelChoice(tmp_path / "model", languages=("is", "fo"))())
    assert (found.source, found.target) == ("is", "fo")


def test_languages_are_named_once_for_each_model():
    words = ["a", "b", "--languages", "en-fr"]
    with pytest.raises(InputError, match="1 pairs of languages are named for 2 models"):
        CliRunner().invoke(transduce, ["serve", *words], catch_exceptions=False)


def test_a_server_warns_of_a_model_whose_languages_nobody_named(capsys):
    print_ready("http://127.0.0.1:5000/", [Ready("Law", "en", "target", "0" * 64, 4, 64)])
    assert (
        "warning: the languages of Law are not named; start again with " in capsys.readouterr().err
    )


@pytest.mark.parametrize("options", [["--api-key", ""], ["--host", ""], []])
def test_an_empty_key_or_host_ends_the_command(options):
    empty = {} if options else {"TRANSDUCE_API_KEY": ""}
    with pytest.raises(InputError, match="is empty"):
        CliRunner(env=empty).invoke(transduce, ["serve", "model", *options], catch_exceptions=False)


@pytest.mark.parametrize(
    ("allowed", "fact"),
    [
        ({"allowed_hosts": ("https://server.example",)}, "is not the name of a host"),
        ({"allowed_hosts": ("server.example:443",)}, "is not the name of a host"),
        ({"allowed_origins": ("server.example",)}, "is not an origin as browsers send it"),
        ({"allowed_origins": ("https://server.example/",)}, "is not an origin"),
        ({"allowed_origins": ("https://Server.example",)}, "is not an origin"),
        ({"allowed_origins": ("https://server.example:443",)}, "is not an origin"),
        ({"allowed_origins": ("https://bücher.example",)}, "is not an origin"),
        ({"allowed_origins": ("*",)}, "is not an origin"),
        ({"allowed_hosts": ("bücher.example",)}, "is not the name of a host"),
        ({"host": ""}, "the address to listen at is empty"),
        ({"host": " "}, "the address to listen at is empty"),
        ({"api_key": ""}, "the API key is empty"),
        ({"api_key": "sesame\n"}, "no request can carry this API key"),
        ({"api_key": " sesame"}, "no request can carry this API key"),
        ({"api_key": "\udcff"}, "no request can carry this API key"),
    ],
)
def test_doors_that_would_be_open_or_that_no_request_can_pass_are_refused(allowed, fact):
    with pytest.raises(InputError, match=fact):
        ServerSettings(**allowed)
