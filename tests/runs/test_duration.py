"""How long a training takes here: told before a new run begins, and fitted to given minutes."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.language import sentences

import transduce
from transduce.checkpoint.run_file import read_run
from transduce.errors import InputError
from transduce.recipes.fitted import TRANSLATION
from transduce.runs import duration, training_inputs, training_run
from transduce.runs.duration import (
    Pace,
    fit_to_minutes,
    format_duration,
    resize_recipe,
    shorten_to_seconds,
)
from transduce.runs.machine_settings import resolve_machine_settings
from transduce.runs.recommend import build_schedule, count_store_pieces
from transduce.runs.training_run import describe_end
from transduce.scores.score import Score
from transduce.settings import Recipe, Training
from transduce.settings.recipe import with_changes
from transduce.training.distributed.rank import ProcessRank
from transduce.training.progress import Progress, TrainingCallbacks, Validation, ValidationResult

PAIRS = sentences(250, seed=1)
SMALL: dict[str, Any] = {"architecture.layers": 1, "training.threads": 1}


def test_an_estimate_counts_updates_and_validations():
    recipe = Recipe(name="r", training=Training(steps=100, validate_every=30))
    assert Pace(2.0, 5.0).estimate_seconds(recipe) == 100 * 2 + 4 * 5


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 second"), (90.0, "90 seconds"), (1_500.0, "25 minutes"), (3e5, "3 days")],
)
def test_a_duration_is_told_in_one_unit(seconds, text):
    assert format_duration(seconds) == text


@pytest.mark.parametrize("pace", [Pace(0.4, 0.0), Pace(0.4, 20.0), Pace(30.0, 600.0)])
def test_updates_and_validations_fill_the_minutes_and_no_more(pace):
    found = shorten_to_seconds(Recipe(name="r"), pace, 1_800.0, {})
    smaller = 25_000 // found.data.source_tokens
    took = Pace(pace.update_seconds / smaller, pace.validation_seconds).estimate_seconds(found)
    assert 0.7 * 1_800 < took <= 1_800
    assert found.training.warmup < found.training.steps


def test_a_warm_up_fits_into_few_updates_and_peaks_no_higher():
    long, short = (
        with_changes(Recipe(name="r"), build_schedule(steps, {})).training for steps in (400, 10)
    )
    assert (long.warmup, short.warmup) == (200, 5)
    peaks = [one.learning_rate_factor * one.warmup**-0.5 for one in (long, short)]
    assert peaks[0] == pytest.approx(peaks[1], rel=1e-3)
    assert "training.learning_rate_factor" not in build_schedule(10, {"training.warmup": 7})


def test_what_is_set_is_not_chosen_by_the_minutes():
    found = shorten_to_seconds(Recipe(name="r"), Pace(0.4, 20.0), 600.0, {"training.warmup": 7})
    assert found.training.warmup == 7


def test_the_pace_of_a_parser_is_measured_with_room_for_a_tree(tmp_path):
    (tmp_path / "a.trees").write_text("(S (NP (PRP he)) (VP (VBD ran)))\n" * 20, "utf-8")
    text = (tmp_path / "a.trees",) * 2
    told: list[str] = []
    callbacks = TrainingCallbacks(on_message=told.append)
    settings = SMALL | {"training.steps": 1, "data.drop_duplicates": False}
    run = transduce.train(
        tmp_path / "run", *text, recipe="craft", settings=settings, callbacks=callbacks
    )
    assert (run.progress.step, "by a measurement" in "".join(told)) == (1, True)


def test_the_minutes_are_written_into_the_recipe_and_a_resume_never_measures(tmp_path, monkeypatch):
    told: list[str] = []
    callbacks = TrainingCallbacks(on_message=told.append)
    run = transduce.train(
        tmp_path / "run", PAIRS, settings=SMALL, minutes=0.01, callbacks=callbacks
    )
    stored = read_run(tmp_path / "run").recipe
    assert (stored.training.steps, stored.data.source_tokens) == (10, 1_024)
    assert run.progress.step == 10
    minutes = "sizes and updates are for about 0.01 minutes on this machine, as busy as now"
    few = ": too few to learn to translate well, which takes about "
    assert any(line.startswith(minutes + few) and "; more minutes" in line for line in told)
    assert "  1 + 1 layers, d_model 128, d_ff 256, dropout 0.1" in told  # of the smallest size
    assert "by a measurement" not in "".join(told)  # the minutes say how long it takes
    for module, name in ((training_inputs, "fit_to_minutes"), (training_run, "measure_pace")):
        monkeypatch.delattr(module, name)
    again = transduce.train(tmp_path / "run", PAIRS, minutes=5.0, callbacks=callbacks)
    assert again.progress == run.progress
    assert "the run keeps its sizes and updates: minutes shape a new run, in another folder" in told


def test_a_new_run_says_before_its_first_update_how_long_it_takes(tmp_path):
    told: list[str] = []
    callbacks = TrainingCallbacks(
        on_message=told.append, on_update=lambda update, _: told.append(f"update {update.step}")
    )
    settings = {"training.steps": 1, "training.threads": 1}
    transduce.train(tmp_path / "run", PAIRS, recipe="tiny", settings=settings, callbacks=callbacks)
    before = told[: told.index("update 1")]
    assert sum(" on this machine, by a measurement: " in line for line in before) == 1


def test_a_measurement_changes_no_bit_of_a_run(tmp_path):
    settings = {"training.steps": 2, "training.threads": 1}
    weights = []
    for name, callbacks in (("told", TrainingCallbacks()), ("quiet", None)):
        transduce.train(
            tmp_path / name, PAIRS, recipe="tiny", settings=settings, callbacks=callbacks
        )
        file = tmp_path / name / "checkpoints/step-00000002/model.safetensors"
        weights.append(file.read_bytes())
    assert weights[0] == weights[1]


def test_nothing_is_measured_for_callbacks_that_hear_no_messages(tmp_path, monkeypatch):
    monkeypatch.delattr(training_run, "measure_pace")
    callbacks = TrainingCallbacks(on_update=lambda _update, _progress: None)
    settings = {"training.steps": 1, "training.threads": 1}
    run = transduce.train(
        tmp_path / "run", PAIRS, recipe="tiny", settings=settings, callbacks=callbacks
    )
    assert run.is_finished


def test_the_updates_of_another_size_are_counted_with_its_own_tokens(tmp_path):
    settings = {"data.source_tokens": 512, "data.target_tokens": 512}
    corpus = transduce.prepare(tmp_path, PAIRS, recipe="tiny", settings=settings)
    size = replace(TRANSLATION.sizes[0], tokens=256)
    found, passes = resize_recipe(Recipe(name="r"), size, corpus, {})
    assert (found.data.source_tokens, found.data.target_tokens) == (256, 256)
    assert passes == found.training.steps * 256 / count_store_pieces(corpus.train)


def test_minutes_are_measured_with_the_threads_and_micro_batches_of_the_run(tmp_path, monkeypatch):
    corpus = transduce.prepare(tmp_path, PAIRS, recipe="tiny")
    measured = []

    def measure(recipe, _corpus, processes):
        measured.append((recipe.training.threads, recipe.training.micro_batch_tokens, processes))
        return Pace(1.0, 0.0)

    monkeypatch.setattr(duration, "measure_pace", measure)
    rank = ProcessRank(world_size=4, local_size=2)
    recipe, _ = fit_to_minutes(Recipe(name="r"), corpus, 60.0, {}, rank)
    resolved = resolve_machine_settings(recipe, corpus, 2).training
    assert measured == [(resolved.threads, resolved.micro_batch_tokens, 4)]
    assert recipe.training.threads == 0  # the run chooses it when it begins


@pytest.mark.parametrize(("minutes", "layers"), [(1.0, 2), (60.0, 4)])
def test_few_minutes_get_fewer_layers(tmp_path, monkeypatch, minutes, layers):
    corpus = transduce.prepare(tmp_path, PAIRS, recipe="tiny")
    monkeypatch.setattr(duration, "measure_pace", lambda *_: Pace(1.0, 0.0))
    recipe, said = fit_to_minutes(Recipe(name="r"), corpus, minutes, {}, ProcessRank())
    assert recipe.architecture.layers == layers
    assert ("too few to learn" in said) == (layers == 2)


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize(
    ("more", "fact"),
    [
        (
            {"recipe": "tiny"},
            "the minutes decide sizes and updates, and so does a recipe or a model",
        ),
        (
            {"settings": {"training.steps": 5}},
            "the minutes decide training.steps, which is",
        ),
        ({"minutes": 0.0}, "minutes must be a number above 0, at most 1,000,000, not 0.0"),
        ({"minutes": math.inf}, "minutes must be a number above 0, at most 1,000,000, not inf"),
        ({"minutes": "30"}, "minutes must be a number above 0, at most 1,000,000, not '30'"),
    ],
)
def test_minutes_and_another_choice_of_the_updates_are_refused(tmp_path, more, fact):
    arguments: dict[str, Any] = {"minutes": 1.0, **more}
    with pytest.raises(InputError) as refusal:
        transduce.train(tmp_path / "run", PAIRS, **arguments)
    assert refusal.value.fact.startswith(fact)


def test_show_progress_prints_what_the_command_prints_and_nothing_does_by_itself(tmp_path, capsys):
    settings = {"training.steps": 2, "training.threads": 1}
    more: dict[str, Any] = {"recipe": "tiny", "settings": settings}
    transduce.train(tmp_path / "quiet", PAIRS, **more)
    assert capsys.readouterr() == ("", "")
    transduce.train(tmp_path / "run", PAIRS, **more, callbacks=transduce.show_progress)
    told = capsys.readouterr()
    assert told.out == ""
    assert "step       2 of 2  loss " in told.err
    assert "trained 2 steps in " in told.err


@pytest.mark.parametrize("minutes", [4, 7.3, 11, 26])
def test_the_last_validation_is_the_one_at_the_end(minutes):
    """The last one but one is not a few updates before it."""
    short = shorten_to_seconds(Recipe(name="r"), Pace(1.0, 20.0), 60.0 * minutes, {}).training
    fitted = with_changes(Recipe(name="r"), build_schedule(round(77 * minutes), {})).training
    for training in (short, fitted):
        last = training.steps % training.validate_every or training.validate_every
        assert last > training.validate_every / 2


@pytest.mark.parametrize(("value", "is_told"), [(0.32, True), (12.0, False)])
def test_a_model_that_hardly_reads_its_source_is_told_at_the_end(value, is_told):
    score = Score("BLEU", value, signature="", lines=500, test_set="")
    progress = Progress(step=3_000, last_validation=Validation(step=3_000, nats=3.6, score=score))
    ended = describe_end(Path("run"), Training(steps=3_000), progress, finished=True)
    assert [("BLEU of 0.32" in line and "=6000" in line) for line in ended[1:]] == [True] * is_told


@pytest.mark.parametrize(
    ("nats", "every", "is_told"),
    [((3.6, 3.5), 1_500, True), ((3.4, 3.5), 1_500, False), ((3.5,), 3_000, False)],
)
def test_a_development_loss_that_fell_to_the_end_is_told(nats, every, is_told):
    progress = Progress()
    for step, value in enumerate(nats, start=1):
        progress = replace(progress, step=step * every).after_validation(
            ValidationResult(nats=value)
        )
    training = Training(steps=3_000, validate_every=every)
    (line,) = describe_end(Path("run"), training, progress, finished=True)
    assert ("still falling" in line) == is_told
