"""transduce curves: runs as a page, a picture or figures."""

import csv
import io
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from dataclasses import astuple, replace
from pathlib import Path

import pytest
from tests.view.curves.logs import update, validation, write_log

import transduce
from transduce.errors import InputError
from transduce.view.curves.curves import (
    average_evenly,
    compute_points,
    dev_perplexities,
    draw_curves,
    name_runs,
)
from transduce.view.curves.read_log import read_run_log

pytest.importorskip("matplotlib")


def test_a_run_becomes_a_picture_of_the_kind_that_its_name_says(call, trained, tmp_path):
    for name, begins in (("a.svg", b"<?xml"), ("a.png", b"\x89PNG")):
        ended = call("curves", trained, "-o", tmp_path / name)
        assert (ended.code, ended.stderr) == (0, f"the picture: {tmp_path / name}\n")
        assert (tmp_path / name).read_bytes().startswith(begins)


@pytest.mark.filterwarnings("error")
def test_a_loss_that_no_axis_can_hold_is_drawn_at_the_edge(tmp_path):
    for name in ("a", "b"):
        events = [update(1, nats=5.0, seconds=1.0, target_tokens=10), validation(1, 5_000.0)]
        write_log(tmp_path / name, events)
    logs = {name: read_run_log(tmp_path / name) for name in ("a", "b")}
    assert draw_curves(logs, "svg").startswith(b"<?xml")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("nats", "score"), [(2.0, 1e308), (-1_000.0, 1.0)])
def test_a_validation_that_no_axis_can_hold_is_no_hindrance(tmp_path, nats, score):
    run = write_log(tmp_path, [update(1, nats=5.0), validation(1, nats, score)])
    assert draw_curves({"run": read_run_log(run)}, "svg").startswith(b"<?xml")


@pytest.mark.filterwarnings("error")
def test_a_name_is_no_formula_and_may_have_letters_that_the_font_lacks(trained):
    log = read_run_log(trained)
    log = replace(
        log, validations=tuple(replace(one, score_name="$x^{$") for one in log.validations)
    )
    logs = dict.fromkeys(("run-$x^$", "run-狗", "run-\udcff", "_run"), log)
    svg = draw_curves(logs, "svg").decode()
    assert svg.startswith("<?xml")
    assert "<!--  _run -->" in svg


def test_a_run_whose_name_is_no_text_has_figures(trained, tmp_path):
    odd = shutil.copytree(trained, tmp_path / os.fsdecode(b"run-\xff"))
    transduce.curves(odd, output=tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().count("\nrun-\\udcff,") > 1


def test_what_is_drawn_is_what_the_journal_says(trained):
    lines = [json.loads(line) for line in (trained / "log.jsonl").read_text().splitlines()]
    looks = [line for line in lines if line["event"] == "validation"]
    log = read_run_log(trained)
    assert dev_perplexities(log) == [math.exp(look["nats"]) for look in looks]
    assert [one.score for one in log.validations] == [look["score"]["value"] for look in looks]


def test_figures_are_those_of_the_journal_with_all_digits(call, trained, tmp_path):
    ended = call("curves", trained, "-o", tmp_path / "a.csv")
    assert (ended.code, ended.stderr) == (0, f"the figures: {tmp_path / 'a.csv'}\n")
    lines = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text())))
    journal = [json.loads(line) for line in (trained / "log.jsonl").read_text().splitlines()]
    updates = [event for event in journal if event["event"] == "update"]
    assert [float(line["perplexity"]) for line in lines if line["perplexity"]] == dev_perplexities(
        read_run_log(trained)
    )
    assert (int(lines[-1]["step"]), float(lines[-1]["seconds"])) == (
        updates[-1]["step"],
        updates[-1]["seconds"],
    )
    assert int(lines[-1]["target_tokens"]) == sum(update["target_tokens"] for update in updates)
    assert {line["run"] for line in lines} == {trained.name}


def test_a_line_of_figures_speaks_of_the_updates_since_the_line_before(tmp_path):
    def points(*events):
        run = write_log(tmp_path / str(len(list(tmp_path.iterdir()))), events)
        return [astuple(point) for point in compute_points(read_run_log(run))]

    def at(step, nats):
        return update(step, nats=nats, seconds=float(step), target_tokens=10)

    looked = (at(1, 0.0), at(2, 2.0), validation(2, math.nan))
    assert points(*looked, at(3, math.nan), at(4, 5.0)) == [
        (2, 2.0, 20, math.exp(1.0), None, None, None),
        (4, 4.0, 40, math.exp(5.0), None, None, None),
    ]
    assert points(*looked, at(3, math.nan))[-1] == (3, 3.0, 30, None, None, None, None), (
        "none was finite"
    )
    assert points(at(1, 1e4))[0][3] == math.exp(600), "as a picture can show it"


def test_training_is_drawn_in_stretches_without_what_was_skipped(tmp_path):
    events = [
        update(step, nats=math.nan if step == 5 else math.log(step)) for step in range(1, 202)
    ]
    points = average_evenly(read_run_log(write_log(tmp_path / "a", events)).updates, 200)
    assert [step for step, _ in points[:3]] == [1, 2, 3]
    assert [math.exp(nats) for _, nats in points[3:5]] == pytest.approx([4, 6])
    many = write_log(tmp_path / "b", [update(step) for step in range(1, 1_001)])
    found = average_evenly(read_run_log(many).updates, 200)
    assert [step for step, _ in found[:2]] == [3, 8], "five updates a point"


def test_a_run_becomes_a_page(call, trained, tmp_path):
    ended = call("curves", trained, "-o", tmp_path / "a.html")
    assert (ended.code, ended.stderr) == (0, f"the page: {tmp_path / 'a.html'}\n")
    assert (tmp_path / "a.html").read_bytes().startswith(b"<!doctype html>")


def test_a_page_needs_no_matplotlib(trained, tmp_path):
    probe = "import sys; sys.modules['matplotlib'] = None; import transduce; "
    probe += f"transduce.curves({str(trained)!r}, output={str(tmp_path / 'a.html')!r})"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


@pytest.mark.parametrize(
    ("number", "options"), [(signal.SIGINT, ["--quiet"]), (signal.SIGTERM, [])]
)
def test_a_page_is_served_until_a_signal_ends_it(trained, number, options):
    command = [sys.executable, "-m", "transduce", "curves", str(trained), "--serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        address = process.stdout.readline().decode().strip()
        process.send_signal(signal.SIGUSR1)  # is for a training
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert answer.read().startswith(b"<!doctype html>")
        process.send_signal(number)
        assert process.wait(20) == 0
        said = process.stderr.read()
        assert (b"error" in said, b"stays up to date" in said) == (False, not options)


def test_warnings_of_matplotlib_about_its_configuration_are_a_line_each(trained, tmp_path):
    (tmp_path / "matplotlibrc").write_text("no.such.key: 1\nlines.linewidth: wide\n")
    command = [sys.executable, "-m", "transduce", "curves", str(trained), "-o", tmp_path / "a.svg"]
    environment = os.environ | {"MPLCONFIGDIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    starts = [line.partition(" in file ")[0] for line in done.stderr.splitlines()]
    warning = "warning: matplotlib: Bad"
    assert starts == [
        *(f"{warning} key no.such.key", f"{warning} value"),
        f"the picture: {tmp_path / 'a.svg'}",
    ]


def test_runs_are_named_by_the_ends_of_their_paths(tmp_path):
    assert name_runs([tmp_path / "a/run", tmp_path / "b/run"]) == ["a/run", "b/run"]
    assert name_runs([tmp_path / "a/one", tmp_path / "b/two"]) == ["one", "two"]
    assert name_runs([Path("/run"), Path("/a/run")]) == ["/run", "a/run"]
    with pytest.raises(InputError, match="the same run is named twice"):
        name_runs([tmp_path / "run", tmp_path / "other/../run"])


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("{run}", "{run}", "-o", "x.svg"), "the same run is named twice"),
        (
            ("{run}", "-o", "x.pdf"),
            "x.pdf: a page is .html, a picture .svg or .png, figures are .csv",
        ),
        (("{run}",), "nothing says where the curves go"),
        (("{run}", "-o", "x.html", "--serve"), "either -o or --serve"),
        (("{run}", "-o", "x.html", "--port", "1"), "--port needs --serve"),
        (("{run}", "-o", "x.svg", "--full"), "--full is for pages"),
        (("nowhere", "--serve"), "nowhere: no such folder"),
        (("{run}", "-o", "no/x.svg"), "no: no such folder"),
        (("nowhere", "-o", "x.svg"), "nowhere: no such folder"),
    ],
)
def test_runs_and_files_that_cannot_be_drawn_are_refused(call, trained, arguments, answer):
    ended = call("curves", *(str(word).format(run=trained) for word in arguments))
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {answer}")


@pytest.mark.parametrize(
    ("log", "fact"),
    [
        ("", "it has not taken an update yet\nhint: wait until it has"),
        (
            "\0\1\2",
            "none of its log's lines is an update that can be read\nhint: look at log.jsonl",
        ),
    ],
)
def test_a_run_without_an_update_is_no_curve(call, tmp_path, log, fact):
    (tmp_path / "log.jsonl").write_text(log)
    ended = call("curves", tmp_path, "-o", tmp_path / "x.png")
    assert (ended.code, ended.stderr) == (2, f"error: {tmp_path}: {fact}\n")
    assert not (tmp_path / "x.png").exists()
