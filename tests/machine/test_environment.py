import json

import torch

from transduce.machine.environment import LABELS, describe_environment, list_environment_changes


def test_an_environment_names_versions_threads_and_processor():
    now = describe_environment(torch.device("cpu"))
    assert set(now) == {*LABELS, "processes"} - {"forms"}, "a training adds its forms"
    assert now["torch"] == torch.__version__
    assert now["threads"] == str(torch.get_num_threads())
    assert now["device"] == "cpu"
    assert now["processor"]
    assert json.loads(json.dumps(now)) == now


def test_nothing_changed_is_no_reason():
    now = {**describe_environment(torch.device("cpu")), "forms": "fast"}
    assert list_environment_changes(now, now) == []


def test_every_change_is_a_sentence_with_both_values():
    now = {
        "transduce": "1.0",
        "torch": "2.13",
        "numpy": "2.4",
        "threads": "2",
        "processor": "B",
        "instructions": "AVX2",
        "device": "cpu",
        "reduction": "by 2 processes at once",
        "forms": "plain",
    }
    saved = {**now, "torch": "2.12", "threads": "4"}
    del saved["instructions"], saved["reduction"], saved["forms"]
    assert list_environment_changes(saved, now) == [
        "torch 2.12 → 2.13",
        "threads 4 → 2",
        "vector instructions unknown → AVX2",
        "gradients added in order → by 2 processes at once",
        "forms of the paper's parts fast → plain",
    ]
