import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from transduce.durable.json import parse_record
from transduce.errors import FolderError
from transduce.paper.training import Update
from transduce.scores.score import Score
from transduce.training.progress import MachineRecord, Progress, ValidationResult, read_progress


def update(step, *, applied=True):
    return Update(
        step=step,
        loss=2.0,
        nats=1.5,
        source_tokens=10,
        target_tokens=20,
        learning_rate=0.1,
        gradient_norm=1.0,
        applied=applied,
    )


def test_tokens_seconds_and_skipped_updates_add_up():
    progress = Progress().after_update(update(1), 0.5).after_update(update(2, applied=False), 0.25)
    assert (progress.step, progress.source_tokens, progress.target_tokens) == (2, 20, 40)
    assert (progress.seconds, progress.skipped, progress.nonfinite_in_a_row) == (0.75, 1, 1)
    good_again = progress.after_update(update(3), 0.0)
    assert (good_again.skipped, good_again.nonfinite_in_a_row) == (1, 0)


def test_a_validation_at_the_end_of_a_run_changes_no_early_stopping():
    progress = Progress().after_validation(ValidationResult(nats=2.0))
    for nats in (1.0, 3.0):
        ended = progress.after_validation(ValidationResult(nats=nats), counts=False)
        assert (ended.best_nats, ended.validations_without_improvement) == (2.0, 0)
        assert ended.last_validation is not None
        assert ended.last_validation.nats == nats


def test_a_validation_improves_when_its_loss_is_below_all_before():
    progress = Progress()
    found = []
    for nats in (3.0, 2.0, 2.0, 2.5, 1.9):
        progress = progress.after_validation(ValidationResult(nats=nats))
        found.append((progress.best_nats, progress.validations_without_improvement))
    assert found == [(3.0, 0), (2.0, 0), (2.0, 1), (2.0, 2), (1.9, 0)]


def test_the_last_and_the_best_validation_are_kept_without_the_score_s_details():
    progress = Progress()
    for step, (nats, value) in enumerate([(3.0, 10.0), (2.0, 30.0), (1.9, 30.0), (1.0, 20.0)], 1):
        score = Score("BLEU", value, "tok:13a", 5, "dev", {"counts": [1, 2]})
        result = ValidationResult(nats=nats, score=score)
        progress = replace(progress, step=step).after_validation(result)
    best, last = progress.best_validation, progress.last_validation
    assert best is not None
    assert last is not None
    assert (best.step, best.nats, last.step, last.nats) == (3, 1.9, 4, 1.0)
    assert last.score == Score("BLEU", 20.0, "tok:13a", 5, "dev")


def test_without_a_score_or_with_an_error_rate_the_lower_figure_is_best():
    def best_of(*results):
        progress = Progress()
        for step, result in enumerate(results, start=1):
            progress = replace(progress, step=step).after_validation(result)
        assert progress.best_validation is not None
        return progress.best_validation.step

    def of_ter(value):
        score = Score("TER", value, "", 5, "dev", higher_is_better=False)
        return ValidationResult(nats=1.0, score=score)

    assert best_of(*(ValidationResult(nats=nats) for nats in (2.0, 1.0, 1.5))) == 2
    assert best_of(of_ter(60.0), of_ter(50.0), of_ter(55.0)) == 2


def test_a_loss_that_is_not_finite_is_no_improvement_and_is_not_stored():
    progress = Progress(step=3).after_validation(ValidationResult(nats=math.inf))
    assert progress == Progress(step=3, validated_step=3, validations_without_improvement=1)


def test_progress_survives_its_file_with_every_digit():
    progress = Progress(step=3, seconds=0.1 + 0.2).after_validation(
        ValidationResult(nats=1 / 3, score=Score("BLEU", 100 / 3, "tok:13a", 5, "dev"))
    )
    progress = progress.after_update(update(4), 0.1, MachineRecord("a thing", 2, 1 / 3, 1e9))
    assert parse_record(Progress, json.loads(json.dumps(progress.as_json()))) == progress


@pytest.mark.parametrize(
    ("state", "fact"),
    [
        ({}, "holds no progress of a run: None is no JSON object"),
        ({"progress": {"step": "7"}}, "holds no progress of a run: step is '7'"),
        ({"progress": {"step": 7, "steps": 7}}, "'steps' is unknown"),
        ({"progress": {"step": 7, "seconds": -1.0}}, "seconds is -1.0"),
        ({"progress": {"step": 8}}, "says step 8, and its folder is of step 7"),
        ({"progress": {"step": 6}}, "says step 6, and its folder is of step 7"),
        ({"progress": {"step": 7, "validated_step": 9}}, "says step 9, and its folder is of step"),
        (
            {"progress": {"step": 7, "last_validation": {"step": 8, "nats": 1}}},
            "says step 8, and its folder is of step 7",
        ),
    ],
)
def test_a_state_that_is_not_that_of_its_folder_is_refused(state, fact):
    with pytest.raises(FolderError, match=fact):
        read_progress(state, 7, Path("state.json"))


def test_a_state_of_an_earlier_version_lacks_what_was_added():
    assert read_progress({"progress": {"step": 7}}, 7, Path("state.json")) == Progress(step=7)
