"""A translator goes to other processes by pickling, and by forking."""

import copy
import os
import pickle
import shutil
import signal

import pytest
import torch
from tests.inference.random_models import LINES, WORDS, random_translator

import transduce
from transduce.checkpoint.stored_model import save_model
from transduce.errors import InputError
from transduce.vocabulary.vocabulary import Vocabularies


def save(folder, seed=1):
    found = random_translator(seed)
    weights = found.models[0].named_weights()
    save_model(folder, weights, found.recipe, Vocabularies(WORDS, WORDS), "")


@pytest.fixture(name="translator")
def loaded(tmp_path):
    save(tmp_path / "m")
    return transduce.load(tmp_path / "m")


def test_a_pickled_translator_is_the_same_after_any_number_of_searches(translator):
    asked = translator.searching(beam=3).sampling(seed=5)
    before = asked(LINES)
    for _ in range(40):  # the layers become a graph, which torch cannot pickle
        asked(LINES)
    again = pickle.loads(pickle.dumps(asked))
    assert again(LINES) == before
    assert again.recipe == asked.recipe
    assert copy.deepcopy(asked) is asked


def test_other_models_in_the_folder_do_not_become_a_pickled_translator(translator, tmp_path):
    pickled = pickle.dumps(translator)
    shutil.rmtree(tmp_path / "m")
    save(tmp_path / "m", seed=2)
    with pytest.raises(InputError, match="a model was replaced, or its run went on"):
        pickle.loads(pickled)


def test_other_models_in_the_folder_do_not_serve_the_rest_of_a_text(
    translator, tmp_path, monkeypatch
):
    monkeypatch.setattr("transduce.inference.translator.use_threads", lambda _: None)
    load_in_worker = translator.worker_loader()
    assert load_in_worker().hashes == translator.hashes
    shutil.rmtree(tmp_path / "m")
    save(tmp_path / "m", seed=2)
    with pytest.raises(InputError, match="a model was replaced"):
        load_in_worker()


def test_models_without_a_folder_cannot_be_pickled():
    with pytest.raises(InputError, match="cannot be pickled if its models were not read from a"):
        pickle.dumps(random_translator())


def test_a_forked_process_translates(translator):
    """OpenMP's threads do not survive a fork: without care it waits for them for ever."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.ones(1_000, 1_000) @ torch.ones(1_000, 1_000)  # the threads are there now
    child = os.fork()
    if not child:
        signal.alarm(60)
        os._exit(0 if torch.get_num_threads() == 1 and translator(LINES[0]) is not None else 1)
    torch.set_num_threads(before)
    assert os.waitpid(child, 0)[1] == 0
