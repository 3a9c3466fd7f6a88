"""The public library: what each command does is one call, without click, printing or exits."""

import os
import pickle
import signal
import threading
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from tests.inference.random_models import random_translator

import transduce
from transduce.errors import FolderError, InputError, InUseError
from transduce.recipes.choice import find_recipe
from transduce.runs import train as train_module
from transduce.runs import training_run
from transduce.training.progress import TrainingCallbacks

PAIRS = [
    (f"{first} {second} runs", f"{second} {first} rennt")
    for first in ("a", "the", "one", "this", "that")
    for second in ("dog", "cat", "man", "child", "horse", "bird")
]
SETTINGS = {"training.steps": 6, "training.threads": 1, "data.vocabulary_size": 270}


def train(folder, **more):
    return transduce.train(folder, PAIRS, recipe="tiny", settings=SETTINGS, **more)


def test_five_lines_train_a_model_from_pairs_in_memory(tmp_path, capsys):
    run = transduce.train(tmp_path / "run", PAIRS, recipe="tiny", settings=SETTINGS)
    model = transduce.average(run)
    (curve,) = transduce.curves(run)
    assert isinstance(transduce.load(model.folder)("a dog runs"), str)
    assert (run.progress.step, run.is_finished, run.folder) == (6, True, tmp_path / "run")
    assert model.steps == (5, 6)
    assert curve.points[-1].step == 6
    assert run.parameters > 10_000
    assert capsys.readouterr() == ("", "")


def test_pairs_may_come_from_an_iterator_that_is_read_once(tmp_path):
    settings = SETTINGS | {"data.vocabulary_size": 260}
    for name, recipe in (("chosen", None), ("named", "tiny")):
        texts = zip(*zip(*PAIRS, strict=True), strict=True)
        dev = iter(PAIRS[:4])
        corpus = transduce.prepare(tmp_path / name, texts, dev, recipe=recipe, settings=settings)
        assert len(corpus.train) > 1
    run = transduce.train(tmp_path / "run", iter(PAIRS), settings=settings)
    assert run.is_finished


def test_the_model_of_another_run_beside_it_is_not_taken_for_a_run_s_own(tmp_path):
    first, second = train(tmp_path / "en-de"), train(tmp_path / "de-en")
    model = transduce.average(first)
    assert transduce.average(first) == model
    with pytest.raises(FolderError, match=r"model: is not of the run .*de-en\nhint: name another"):
        transduce.average(second)
    assert transduce.average(second, tmp_path / "second").steps == model.steps


def test_the_same_call_resumes_and_other_pairs_are_refused(tmp_path):
    run = train(tmp_path / "run")
    assert train(tmp_path / "run").progress == run.progress
    longer = SETTINGS | {"training.steps": 8}
    more = transduce.train(tmp_path / "run", PAIRS, recipe="tiny", settings=longer)
    assert more.progress.step == 8
    with pytest.raises(InputError, match="was prepared from another text than 29 pairs in memory"):
        transduce.train(tmp_path / "run", PAIRS[1:], recipe="tiny", settings=longer)


def test_other_pairs_are_refused_before_anything_is_written_into_a_run(tmp_path):
    transduce.prepare(tmp_path / "store", PAIRS, False, recipe="tiny", settings=SETTINGS)
    settings = SETTINGS | {"training.steps": 2}
    run = transduce.train(
        tmp_path / "run", recipe="tiny", store=tmp_path / "store", settings=settings
    )
    with pytest.raises(InputError, match="this run was begun on another text"):
        transduce.train(run.folder, PAIRS[1:], recipe="tiny", settings=settings)
    assert not (run.folder / "store").exists()


def test_public_functions_can_be_sent_to_other_processes():
    for function in (transduce.load, transduce.score, transduce.clean):
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize(
    ("precision", "is_fast", "count"),
    [("bfloat16", False, 1), ("bfloat16", True, 0), ("float32", False, 0)],
)
def test_bfloat16_that_is_slower_than_float32_is_warned_about(
    tmp_path, monkeypatch, precision, is_fast, count
):
    monkeypatch.setattr(training_run, "has_fast_bfloat16", lambda _device: is_fast)

    def refuse(*_given):  # an update in slow bfloat16 takes seconds
        raise InputError("training would begin now", "nothing")

    monkeypatch.setattr(training_run, "train_run", refuse)
    messages: list[str] = []
    callbacks = TrainingCallbacks(on_message=messages.append)
    settings = SETTINGS | {"training.precision": precision}
    with pytest.raises(InputError, match="training would begin now"):
        transduce.train(tmp_path, PAIRS, recipe="tiny", settings=settings, callbacks=callbacks)
    assert sum("slower in it than in float32" in message for message in messages) == count


def interrupt_by_exception(update, _progress):
    if update.step == 3:
        raise KeyboardInterrupt


def interrupt_by_signal(update, _progress):
    if update.step == 3:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("interrupt", [interrupt_by_exception, interrupt_by_signal])
def test_an_interrupt_saves_the_last_update_and_is_raised_again(tmp_path, interrupt):
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "run", callbacks=TrainingCallbacks(on_update=interrupt))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    steps = []
    seen = TrainingCallbacks(on_update=lambda update, _progress: steps.append(update.step))
    run = train(tmp_path / "run", callbacks=seen)
    assert (steps, run.is_finished) == ([4, 5, 6], True)


def test_a_callback_may_change_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    leave = TrainingCallbacks(on_update=lambda *_: os.chdir(tmp_path / "elsewhere"))
    assert train("run", dev=PAIRS[:5], callbacks=leave, copy_to="copy").is_finished
    assert transduce.average(tmp_path / "run").steps == (5, 6)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["copy", "elsewhere", "model", "run"]


def test_callbacks_hear_of_updates_validations_and_messages(tmp_path):
    events: dict[str, list[Any]] = {"updates": [], "validations": [], "messages": []}
    callbacks = TrainingCallbacks(
        on_update=lambda update, _progress: events["updates"].append(update.step),
        on_validation=lambda result, _progress: events["validations"].append(result.score),
        on_message=events["messages"].append,
    )
    train(tmp_path / "run", dev=PAIRS[:5], callbacks=callbacks)
    assert events["updates"] == [1, 2, 3, 4, 5, 6]
    assert [score.name for score in events["validations"]] == ["BLEU"]
    assert events["messages"][-1].startswith("trained 6 steps")


def test_the_callers_number_of_threads_is_never_changed(tmp_path):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    during = []

    def fail(update, _progress):
        during.append(torch.get_num_threads())
        if update.step == 2:
            raise RuntimeError("a fault of the caller's")

    try:
        with pytest.raises(RuntimeError, match="a fault of the caller's"):
            train(tmp_path / "run", callbacks=TrainingCallbacks(on_update=fail))
        assert during == [1, 1]
        assert torch.get_num_threads() == 2
        train(tmp_path / "run")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("allowed", [True, False])
def test_switches_of_the_process_are_set_unless_they_are_refused(tmp_path, monkeypatch, allowed):
    calls = []
    for name in ("keep_freed_memory", "set_environment_of_torch"):
        monkeypatch.setattr(train_module, name, lambda name=name, **_: calls.append(name))
    train(tmp_path / "run", process_settings=allowed)
    assert calls == (["set_environment_of_torch", "keep_freed_memory"] if allowed else [])


def test_it_trains_in_another_thread_than_the_main_one(tmp_path):
    runs = []
    worker = threading.Thread(target=lambda: runs.append(train(tmp_path / "run")))
    worker.start()
    worker.join()
    assert runs[0].is_finished


def test_a_process_trains_one_run_at_a_time_since_noise_is_torch_s_own(tmp_path):
    begin_another = TrainingCallbacks(on_update=lambda *_: train(tmp_path / "second"))
    with pytest.raises(InUseError, match="another training is running in this process"):
        train(tmp_path / "run", callbacks=begin_another)
    assert not (tmp_path / "second").exists()
    assert train(tmp_path / "run").is_finished


def test_a_corpus_is_prepared_once_and_named_as_store(tmp_path):
    activities = []
    corpus = transduce.prepare(
        tmp_path / "store",
        PAIRS,
        recipe="tiny",
        settings=SETTINGS,
        on_progress=lambda activity, _pairs: activities.append(activity),
    )
    assert len(corpus.train) == len(PAIRS)
    run = transduce.train(
        tmp_path / "run", recipe="tiny", settings=SETTINGS, store=tmp_path / "store"
    )
    assert run.is_finished
    assert "encoding train" in activities
    whole = transduce.train(
        tmp_path / "whole", recipe="tiny", settings=SETTINGS, store=tmp_path / "store", dev=False
    )
    assert whole.progress.step == run.progress.step


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ({"train": 3}, "train: a pair of files, a TSV file, pairs of texts or a corpus name"),
        ({"train": PAIRS, "scale": "laptop"}, "scale makes a recipe smaller"),
        ({"train": PAIRS, "settings": {"training.step": 3}}, "unknown setting 'training.step'"),
        ({"train": PAIRS, "settings": []}, "settings must be a table of new values by path, not"),
        (
            {"train": PAIRS, "settings": [("training.steps", 2)]},
            "settings must be a table of new values by path, not",
        ),
        ({}, "neither a recipe nor a text was named"),
        (
            {"train": PAIRS, "recipe": "tiny", "callbacks": print},
            "callbacks must be a TrainingCallbacks, not <built-in function print>",
        ),
        (
            {"train": PAIRS, "recipe": "tiny", "callbacks": TrainingCallbacks},
            "callbacks must be a TrainingCallbacks, not <class",
        ),
    ],
)
def test_an_error_names_the_argument_and_leaves_no_folder(tmp_path, arguments, fact):
    with pytest.raises(InputError) as refusal:
        transduce.train(tmp_path / "run", **arguments)
    assert fact in refusal.value.fact
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize("name", ["on_update", "on_validation", "on_message", "on_warning"])
def test_a_callback_that_is_no_function_is_refused_at_once(name):
    given: dict[str, Any] = {name: 3}
    with pytest.raises(InputError, match=f"{name} must be a function, not 3"):
        transduce.TrainingCallbacks(**given)


@pytest.mark.parametrize(
    ("setting", "fact"),
    [
        (torch.no_grad, "it records no gradients"),
        (torch.inference_mode, "it records no gradients"),
        (lambda: torch.autocast("cpu", torch.bfloat16), "autocast is on"),
        (lambda: torch.device("meta"), "its default device is meta"),
    ],
)
def test_a_setting_of_torch_that_changes_numbers_is_refused(tmp_path, setting, fact):
    with setting(), pytest.raises(InputError, match=fact):
        train(tmp_path / "run")


def test_another_default_type_of_numbers_is_refused(tmp_path):
    torch.set_default_dtype(torch.float64)
    try:
        with pytest.raises(InputError, match=r"its default dtype is torch\.float64"):
            train(tmp_path / "run")
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_callback_that_leaves_torch_without_gradients_is_refused(tmp_path):
    def stop_recording(*_: object) -> None:
        torch.set_grad_enabled(False)

    callbacks = TrainingCallbacks(on_update=stop_recording)
    try:
        with pytest.raises(InputError, match="it records no gradients"):
            train(tmp_path / "run", callbacks=callbacks)
    finally:
        torch.set_grad_enabled(True)


def test_what_a_finished_corpus_cannot_follow_any_more_is_refused(tmp_path):
    def prepare(*codes):
        return transduce.prepare(tmp_path / "s", PAIRS, PAIRS[:9], recipe="tiny", languages=codes)

    assert prepare("en", "de").data.languages == prepare("en", "de").data.languages
    with pytest.raises(InputError, match="s was prepared as en to de"):
        prepare("fr", "it")
    with pytest.raises(InputError, match=r"a development set, and none is wanted(.|\n)*dev=False"):
        transduce.train(tmp_path / "run", store=tmp_path / "s", recipe="tiny", dev=False)


@pytest.mark.parametrize(
    ("known", "new", "said"), [(8, 0, "8 of 8 pairs"), (2, 6, "2 of 8 pairs"), (0, 8, "")]
)
def test_a_development_set_with_pairs_of_the_training_text_is_told_of(tmp_path, known, new, said):
    told: list[str] = []
    # the target alone is another one
    dev = PAIRS[:known] + [(source, PAIRS[0][1]) for source, _ in PAIRS[10 : 10 + new]]
    train(tmp_path / "run", dev=dev, callbacks=TrainingCallbacks(on_warning=told.append))
    found = [one for one in told if "are in the training text, too" in one]
    assert len(found) == bool(said)
    assert said in "".join(found)


@pytest.mark.parametrize("function", [transduce.load, transduce.average])
def test_a_short_default_type_of_numbers_is_refused_when_a_model_is_loaded(tmp_path, function):
    torch.set_default_dtype(torch.float16)
    try:
        with pytest.raises(InputError, match=r"its default dtype is torch\.float16"):
            function(tmp_path)
    finally:
        torch.set_default_dtype(torch.float32)


def export(folder):
    return transduce.export(folder, to="ctranslate2", output=folder / "export")


@pytest.mark.parametrize("function", [transduce.load, transduce.average, export])
def test_a_device_that_computes_nothing_translates_nothing(tmp_path, function):
    refused = pytest.raises(InputError, match="its default device is meta")
    with torch.device("meta"), refused:
        function(tmp_path)


def test_a_callers_autocast_changes_no_output():
    translate, lines = random_translator(), ["a b c", "d e"]
    pairs = [("a b", "c d")]
    plain = [translate(lines), [*translate.likelihood(pairs)]]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert [translate(lines), [*translate.likelihood(pairs)]] == plain


def test_any_function_that_opens_callbacks_displays_a_run(tmp_path):
    told: list[str] = []
    callbacks = TrainingCallbacks(on_message=told.append)
    train(tmp_path / "run", callbacks=lambda _recipe: nullcontext(callbacks))
    assert told[-1].startswith("trained 6 steps")


@pytest.mark.parametrize("opened", [None, nullcontext()])
def test_a_function_that_opens_no_callbacks_is_refused(tmp_path, opened):
    with pytest.raises(InputError, match="callbacks must be a TrainingCallbacks, not <function"):
        train(tmp_path / "run", callbacks=lambda _recipe: opened)


def test_old_text_without_a_model_is_refused_with_both_arguments(tmp_path):
    with pytest.raises(InputError, match=r"the new text: parent=MODEL, train=FILE\Z"):
        train(tmp_path / "run", old=PAIRS)


@pytest.mark.usefixtures("unchecked_types")
def test_a_sweep_refuses_what_a_training_refuses(tmp_path):
    vary: dict[str, Any] = {"recipe": "tiny", "vary": {"training.seed": [1]}}
    wrong: Any
    for wrong, fact in (
        ({"callbacks": print}, "callbacks must be a TrainingCallbacks, not <built-in"),
        ({"settings": []}, "settings must be a table of new values by path"),
    ):
        with pytest.raises(InputError, match=fact):
            transduce.sweep(tmp_path / "s", PAIRS, **vary, **wrong)
    assert not (tmp_path / "s").exists()


def test_an_empty_name_is_no_recipe():
    with pytest.raises(InputError, match="unknown recipe ''"):
        find_recipe("")


def test_a_recipe_is_a_name_a_file_or_a_value():
    assert find_recipe("tiny") is find_recipe(find_recipe("tiny"))
    with pytest.raises(
        InputError, match=r"recipe: a name, a \.toml or \.json file, or a Recipe, not"
    ):
        find_recipe(3)
    with pytest.raises(InputError, match="unknown recipe 'aaa"):
        find_recipe("a" * 5_000)


def test_without_a_recipe_one_is_recommended_with_its_reasons(tmp_path):
    reasons: list[str] = []
    settings = {"training.steps": 1, "training.threads": 1}
    callbacks = TrainingCallbacks(on_message=reasons.append)
    run = transduce.train(tmp_path / "run", PAIRS, settings=settings, callbacks=callbacks)
    assert run.recipe.architecture.d_model == 128
    assert reasons[0].startswith("30 pairs after cleaning")
    assert 'others: settings={"architecture.layers": 6} and so on' in reasons[0]
    assert not any("--" in reason for reason in reasons)
