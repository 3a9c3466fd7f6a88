"""transduce curves: runs as a picture."""

import csv
import io
import json
import math
from dataclasses import astuple

import pytest

from transduce.runs.curves import compute_points, name_runs, read_events
from transduce.runs.curves_picture import dev_perplexities, read_scores, smooth_training

pytest.importorskip("matplotlib")


def test_a_run_becomes_a_picture_of_the_kind_that_its_name_says(call, trained, tmp_path):
    for name, begins in (("a.svg", b"<?xml"), ("a.png", b"\x89PNG")):
        ended = call("curves", trained, "-o", tmp_path / name)
        assert (ended.code, ended.stderr) == (0, f"the picture: {tmp_path / name}\n")
        assert (tmp_path / name).read_bytes().startswith(begins)


def test_what_is_drawn_is_what_the_journal_says(trained):
    lines = [json.loads(line) for line in (trained / "log.jsonl").read_text().splitlines()]
    looks = [line for line in lines if line["event"] == "validation"]
    assert dev_perplexities(read_events(trained)) == [math.exp(look["nats"]) for look in looks]
    assert read_scores(read_events(trained))[1] == [look["score"]["value"] for look in looks]


def test_figures_are_those_of_the_journal_with_all_digits(call, trained, tmp_path):
    ended = call("curves", trained, "-o", tmp_path / "a.csv")
    assert (ended.code, ended.stderr) == (0, f"the figures: {tmp_path / 'a.csv'}\n")
    lines = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text())))
    events = read_events(trained)
    updates = [event for event in events if event["event"] == "update"]
    assert [float(line["perplexity"]) for line in lines if line["perplexity"]] == dev_perplexities(
        events
    )
    assert (int(lines[-1]["step"]), float(lines[-1]["seconds"])) == (
        updates[-1]["step"],
        updates[-1]["seconds"],
    )
    assert int(lines[-1]["target_tokens"]) == sum(update["target_tokens"] for update in updates)
    assert {line["run"] for line in lines} == {trained.name}


def test_a_line_of_figures_speaks_of_the_updates_since_the_line_before():
    def update(step, nats):
        return {"event": "update", "step": step, "seconds": step, "target_tokens": 10, "nats": nats}

    look = {"event": "validation", "step": 2, "nats": None, "score": None}
    events = [update(1, 0.0), update(2, 2.0), look, update(3, None), update(4, 5.0)]
    assert [astuple(point) for point in compute_points(events)] == [
        (2, 2, 20, math.exp(1.0), None, None, None),
        (4, 4, 40, math.exp(5.0), None, None, None),
    ]
    assert astuple(list(compute_points(events[:4]))[-1]) == (3, 3, 30, None, None, None, None), (
        "none was finite"
    )
    assert next(compute_points([update(1, 1e4)])).training_perplexity == math.exp(700), (
        "as a picture can show it"
    )


def test_training_is_drawn_in_stretches_without_what_was_skipped():
    updates = [
        {"step": step, "nats": None if step == 5 else math.log(step)} for step in range(1, 202)
    ]
    steps, perplexities = smooth_training(updates)
    assert steps[:3] == [1, 2, 3]
    many = [{"step": step, "nats": 1.0} for step in range(1, 1_001)]
    assert smooth_training(many)[0][:2] == [3, 8], "five updates a point"
    assert perplexities[3:5] == pytest.approx([4, 6])


def test_runs_are_named_by_the_ends_of_their_paths(tmp_path):
    assert name_runs([tmp_path / "a/run", tmp_path / "b/run"]) == ["a/run", "b/run"]
    assert name_runs([tmp_path / "a/one", tmp_path / "b/two"]) == ["one", "two"]


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("{run}", "{run}", "-o", "x.svg"), "the same run is named twice"),
        (("{run}", "-o", "x.pdf"), "x.pdf: a picture is one of .svg, .png, and figures are .csv"),
        (("{run}", "-o", "no/x.svg"), "no: no such folder"),
        (("nowhere", "-o", "x.svg"), "nowhere: no log.jsonl lies there"),
    ],
)
def test_runs_and_files_that_cannot_be_drawn_are_refused(call, trained, arguments, answer):
    ended = call("curves", *(str(word).format(run=trained) for word in arguments))
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {answer}")


def test_a_run_before_its_first_update_is_no_curve(call, tmp_path):
    (tmp_path / "log.jsonl").write_text("")
    ended = call("curves", tmp_path, "-o", tmp_path / "x.png")
    assert ended.code == 2
    assert "it has not taken an update yet" in ended.stderr
    assert not (tmp_path / "x.png").exists()
