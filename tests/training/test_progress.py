import json

from transduce.training.progress import Progress, ValidationResult
from transduce.training.update import Update


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


def test_a_validation_improves_when_its_loss_is_below_all_before():
    progress = Progress()
    found = []
    for nats in (3.0, 2.0, 2.0, 2.5, 1.9):
        progress = progress.after_validation(ValidationResult(nats=nats))
        found.append((progress.best_nats, progress.validations_without_improvement))
    assert found == [(3.0, 0), (2.0, 0), (2.0, 1), (2.0, 2), (1.9, 0)]


def test_progress_survives_its_file_with_every_digit():
    progress = Progress(step=3, seconds=0.1 + 0.2, best_nats=1 / 3)
    assert Progress.from_json(json.loads(json.dumps(progress.as_json()))) == progress
