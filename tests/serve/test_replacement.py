"""A model folder that is replaced while the server runs is verified, and only then used."""

import asyncio
import errno
import hashlib
import os
import shutil
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http import HTTPStatus
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest
from tests.inference.random_models import random_translator
from tests.serve.fake_search import FACTS, FakeSearch, start_or_fail
from tests.serve.models import load_nothing
from tests.serve.running import running_server, start_in_thread

from transduce.checkpoint.stored_model import save_model
from transduce.inference.load import load
from transduce.serve.dispatcher import Dispatcher
from transduce.serve.interface import Limits, Refusal, TranslateRequest
from transduce.serve.messages import TranslationOrder
from transduce.serve.search_process import ModelChoice
from transduce.serve.server import hash_manifest
from transduce.serve.service import Service
from transduce.serve.translate import FEW, translate_texts
from transduce.vocabulary.vocabulary import Vocabularies

LINE = "the dog sees a cat."
OFTEN = Limits(poll_seconds=0.02, reload_seconds=0.05)


def save_random(folder, seed):
    """Write a model folder with weights drawn by a seed."""
    found = random_translator(seed)
    weights = found.models[0].named_weights()
    vocabularies = Vocabularies(found.task.source, found.task.target)
    save_model(folder, weights, found.recipe, vocabularies, "a card")


@pytest.fixture
def models(tmp_path):
    """Two folders with other models."""
    for number in (1, 2):
        save_random(tmp_path / str(number), number)
    return tmp_path / "1", tmp_path / "2"


def hash_of(folder):
    return hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()


def wait_until(is_done):
    for _ in range(500):
        if is_done():
            return
        threading.Event().wait(0.02)
    raise AssertionError


def test_another_model_in_the_folder_is_used_without_a_gap(models):
    used, other = models
    before, after, name = load(used)(LINE), load(other)(LINE), hash_of(other)
    assert before != after
    with running_server(ModelChoice(used), limits=OFTEN) as client:
        assert client.translate(LINE).json == {"translatedText": before}
        used.rename(used.with_name("old"))
        assert client.translate(LINE).json == {"translatedText": before}
        other.rename(used)
        wait_until(lambda: f'sha256="{name}"' in client.get("/metrics").body.decode())
        assert client.translate(LINE).json == {"translatedText": after}
        assert client.measure("replaced_total") == 1


def test_the_page_names_the_model_that_is_used_now(models):
    used, other = models
    search = FakeSearch()
    search.facts = replace(FACTS, name="old", hash=hash_of(used))
    with running_server(ModelChoice(used), start=search, limits=OFTEN) as client:
        assert b'"models":["old"]' in client.get("/").body
        search.facts = replace(FACTS, name="new", hash=hash_of(other))
        used.rename(used.with_name("old"))
        other.rename(used)
        wait_until(lambda: client.measure("replaced_total") == 1)
        assert b'"models":["new"]' in client.get("/").body


def test_a_server_that_is_stopped_while_a_model_is_loaded_leaves_no_search(models):
    used, other = models
    search = FakeSearch()
    search.facts = replace(FACTS, hash=hash_of(used))
    with running_server(ModelChoice(used), start=search, limits=OFTEN):
        search.facts = None
        used.rename(used.with_name("old"))
        other.rename(used)
        wait_until(lambda: search.begun == 2)
    wait_until(lambda: search.ended == 2)


def test_a_process_that_restarts_with_the_new_model_does_not_keep_the_old_one_beside_it(models):
    used, other = models
    search = FakeSearch()
    search.facts = replace(FACTS, hash=hash_of(used))
    limits = Limits(poll_seconds=0.5)
    with running_server(ModelChoice(used), start=search, workers=2, limits=limits) as client:
        search.facts = replace(FACTS, hash=hash_of(other))
        used.rename(used.with_name("old"))
        other.rename(used)
        search.die()
        wait_until(lambda: client.measure("replaced_total") == 1)


@pytest.mark.parametrize("is_new_first", [True, False])
def test_an_old_model_that_started_beside_the_new_one_is_replaced_too(models, is_new_first):
    new, old = (replace(FACTS, hash=one) for one in (hash_of(models[0]), hash_of(models[1])))
    starts = [new, old] if is_new_first else [old, new]

    def start(_load):
        ours, theirs = Pipe()
        theirs.send(starts.pop(0) if starts else new)
        ends.append(theirs)
        return ours, None

    ends = list[object]()
    running = running_server(ModelChoice(models[0]), start=start, workers=2, limits=OFTEN)
    with running as client:
        wait_until(lambda: client.measure("replaced_total") == 1)
        name = f'sha256="{new.hash}"'
        assert name in client.get("/metrics").body.decode()


PAIR = "en", "de"


async def stay() -> Mapping[str, Any]:
    """A client that waits for its answer."""
    return await asyncio.get_running_loop().create_future()


class ActingExecutor(ThreadPoolExecutor):
    """Threads that call `act` when they get their task of this number, from 1."""

    def __init__(self, number, act):
        super().__init__()
        self.left, self.act = number, act

    def submit(self, *given, **named):
        self.left -= 1
        if self.left == 0:
            self.act()
        return super().submit(*given, **named)


@pytest.mark.parametrize("number", range(1, 5))
def test_a_long_text_whose_model_is_replaced_meanwhile_has_the_new_one(number):
    old, new = FakeSearch(), FakeSearch()
    sentence = "The dog sees the cat" + " and the dog" * 200
    assert len(sentence) > FEW

    async def translate():
        first, second = (Dispatcher(load_nothing, one, Limits()) for one in (old, new))
        for one in (first, second):
            await one.start()
        service, swaps = Service({PAIR: first}, Limits()), list[object]()

        def swap():
            swaps.append(asyncio.ensure_future(service.swap(PAIR, second)))

        asyncio.get_running_loop().set_default_executor(ActingExecutor(number, swap))
        try:
            return await translate_texts(service, TranslateRequest(sentence, "auto", "de"), stay)
        finally:
            assert len(swaps) == 1
            await service.close()

    assert asyncio.run(translate())["translatedText"] == f"[{sentence}]"
    assert (old.seen, new.seen) == ([], [sentence])


def test_a_request_for_a_model_that_was_closed_is_refused_at_once():
    async def ask():
        model = Dispatcher(load_nothing, FakeSearch(), Limits())
        await model.start()
        service = Service({PAIR: model}, Limits(request_seconds=0.5))
        await model.close()
        await service.run(model, [TranslationOrder(0, "a")], stay)

    with pytest.raises(Refusal) as refused:
        asyncio.run(ask())
    assert refused.value.status == HTTPStatus.SERVICE_UNAVAILABLE


@pytest.fixture
def without_permission():
    """A function after which this process may search a folder no more."""
    user = os.geteuid()
    folders = list[Path]()

    def forbid(folder):
        folder.chmod(0)
        folders.append(folder)
        if user == 0:
            os.seteuid(65_534)  # nobody

    yield forbid
    os.seteuid(user)
    for folder in folders:
        folder.chmod(0o700)


def test_a_folder_that_may_not_be_read_is_no_run(models, without_permission):
    folder = models[0]
    assert hash_manifest(folder) == hash_of(folder)
    without_permission(folder.parent)
    assert hash_manifest(folder).startswith("unreadable: ")


def test_a_model_that_could_not_be_loaded_for_want_of_memory_is_tried_again(models, caplog):
    used, other = models
    name, failures = hash_of(other), list[Exception]()
    start = start_or_fail(start_in_thread, failures)
    with running_server(ModelChoice(used), start=start, limits=OFTEN) as client:
        failures.append(OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)))
        used.rename(used.with_name("old"))
        other.rename(used)
        wait_until(lambda: f'sha256="{name}"' in client.get("/metrics").body.decode())
    assert "stays as it was: there is not enough memory; the next try is in 0 s" in caplog.text


def test_a_damaged_model_is_never_used(models, caplog):
    used, other = models
    before = load(used)(LINE)
    weights = other / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    with running_server(ModelChoice(used), limits=OFTEN) as client:
        shutil.rmtree(used)
        other.rename(used)
        wait_until(lambda: "stays as it was" in caplog.text)
        assert "model.safetensors" in caplog.text
        assert client.translate(LINE).json == {"translatedText": before}
        assert client.measure("replaced_total") == 0


def test_a_file_in_place_of_a_model_is_told_of_once_and_the_model_stays(models, caplog):
    used, other = models
    before = load(used)(LINE)
    with running_server(ModelChoice(used), limits=OFTEN) as client:
        shutil.rmtree(used)
        used.write_text("a file")
        wait_until(lambda: "stays as it was" in caplog.text)
        assert client.translate(LINE).json == {"translatedText": before}
        used.unlink()
        other.rename(used)
        wait_until(lambda: client.measure("replaced_total") == 1)
    assert caplog.text.count("stays as it was") == 1
