"""A model folder that is replaced while the server runs is verified, and only then used."""

import errno
import hashlib
import os
import shutil
import threading
from dataclasses import replace

import pytest
from tests.inference.random_models import random_translator
from tests.serve.fake_search import FACTS, FakeSearch, start_or_fail
from tests.serve.running import running_server, start_in_thread

from transduce.checkpoint.stored_model import save_model
from transduce.inference.load import load
from transduce.serve.interface import Limits
from transduce.serve.search_process import ModelChoice
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
