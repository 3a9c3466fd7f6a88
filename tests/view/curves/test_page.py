"""The page of training curves in a browser: what is drawn is what the log says."""

import csv
import io
import math
import re

import pytest
from tests.view.curves.drawing import (
    BLUE,
    BROWN,
    CELLS,
    SVG,
    drawing,
    lines,
    scales,
    values,
)
from tests.view.curves.logs import loss, read_updates, update, write_log

import transduce
from transduce.view.curves import page as cells
from transduce.view.curves.read_log import read_run_log

pytestmark = pytest.mark.browser


def test_each_update_of_each_run_is_drawn_where_the_log_has_it(opened):
    panel = drawing(opened())[0]
    to_x, to_y = scales(panel)
    pixel_x, pixel_y = to_x(1) - to_x(0), abs(to_y(1) - to_y(0))
    for color, expected in (
        (BLUE, {s: loss(s) for s in range(1, 301) if s not in (150, 151)}),
        (BROWN, {s: loss(s) + 2 for s in range(1, 201)}),
    ):
        (points,) = lines(panel, color, "1")
        assert len(points) == len(expected)
        for (x, y), (step, value) in zip(points, expected.items(), strict=True):
            assert abs(to_x(x) - step) < pixel_x
            assert abs(to_y(y) - value) < pixel_y


def test_validations_are_drawn_where_the_log_has_them(opened):
    for index, expected in ((0, [loss(200) + 0.5, loss(300) + 0.5]), (2, [20, 30])):
        panel = drawing(opened())[index]
        to_x, to_y = scales(panel)
        (points,) = lines(panel, BLUE, "2")
        assert [to_x(x) for x, _ in points] == pytest.approx([200, 300], abs=to_x(1) - to_x(0))
        assert [to_y(y) for _, y in points] == pytest.approx(expected, abs=abs(to_y(1) - to_y(0)))


def test_equation_3_lies_on_the_learning_rate(opened):
    panel = drawing(opened("off=2"))[3]
    (rates,), (dashed,) = lines(panel, BLUE, "1"), lines(panel, "#1f2328", "1.2")
    assert len(rates) == 300
    drawn = {round(x): y for x, y in rates}
    shared = [(y, drawn[round(x)]) for x, y in dashed if round(x) in drawn]
    assert len(shared) > 50
    assert all(abs(ours - theirs) < 1.5 for ours, theirs in shared)


def spike_run(folder, steps):
    values = [update(step, nats=12.0 if step == 3333 else 1.0) for step in range(1, steps + 1)]
    return write_log(folder, values)


@pytest.mark.parametrize("single", [200_000, 1000], ids=["single", "blocks"])
def test_a_spike_of_one_update_stays_visible(opened, tmp_path, monkeypatch, single):
    monkeypatch.setattr(cells, "MAX_SINGLE", single)
    monkeypatch.setattr(cells, "LAST_SINGLE", 100)
    transduce.curves(spike_run(tmp_path / "run", 6000), output=tmp_path / "a.html")
    browser = opened(file=tmp_path / "a.html")
    panel = drawing(browser)[0]
    to_x, to_y = scales(panel)
    bars = next(p for p in panel.find(f"{SVG}g") if p.get("fill") == BLUE)
    corners = re.findall(r"M(\S+) (\S+)h(\S+)v", bars.get("d"))
    x, y, width = min((tuple(map(float, one)) for one in corners), key=lambda one: one[1])
    assert to_y(y) == pytest.approx(12, rel=0.01)
    assert to_x(x) - 64 <= 3333 <= to_x(x + width) + 64
    pixel = """
    const { canvas, scales } = window.transduce.app.panels.get("loss");
    const x = Math.floor(scales.xScale.pixel(3333)), y = Math.round(scales.yScale.pixel(8));
    const data = canvas.getContext("2d").getImageData(x - 2, y, 5, 1).data;
    return Math.min(...Array.from({ length: 5 }, (_, i) => data[4 * i]));
    """
    assert browser.run(pixel) < 230, "there is blue on the canvas, between mean and spike"


def test_the_point_reads_the_values_of_the_log(opened):
    first, other = values(opened("at=77"))
    assert first[:2] == ["first", "77"]
    assert other[:2] == ["other", "77"]
    assert float(first[4]) == pytest.approx(loss(77), rel=1e-3)
    assert float(other[4]) == pytest.approx(loss(77) + 2, rel=1e-3)
    assert float(first[5]) == pytest.approx(math.exp(loss(77)), rel=1e-3)
    assert first[9] == first[10] != "–", "the learning rate is that of equation 3"
    assert other[10] == "–", "its recipe is not known"


def test_a_skipped_update_is_said_to_be_one(opened):
    assert values(opened("at=150"))[0][4] == "skipped"


def test_smoothing_is_off_at_first_and_keeps_what_was_measured(opened):
    plain = lines(drawing(opened("off=2"))[0], BLUE, "1")
    browser = opened("off=2&smooth=3")
    assert lines(drawing(browser)[0], BLUE, "1") == plain
    smooth, _ = lines(drawing(browser)[0], BLUE, "2")
    assert len(smooth) == 300


def test_the_figures_are_those_of_the_log(opened, runs):
    text = opened().run("return window.transduce.writeCsv()")
    rows = list(csv.DictReader(io.StringIO(text)))
    first = [row for row in rows if row["run"] == "first" and row["kind"] == "update"]
    known = {event["step"]: event for event in read_updates(runs[0])}
    assert [int(row["step"]) for row in first] == [*range(1, 301)]
    for row in first:
        event = known[int(row["step"])]
        assert (
            row["loss"] == ""
            if event["nats"] is None
            else float(row["loss"]) == pytest.approx(event["nats"])
        )
        assert float(row["gradient_norm"]) == pytest.approx(event["gradient_norm"])
        assert float(row["learning_rate"]) == pytest.approx(event["learning_rate"])
        assert float(row["seconds"]) == event["seconds"]
        assert int(row["skipped"]) == (not event["applied"])
    assert int(first[-1]["target_tokens"]) == sum(
        event["target_tokens"] for event in known.values()
    )
    looks = [
        (row["step"], row["score"], row["score_name"])
        for row in rows
        if row["kind"] == "validation"
    ]
    assert looks == [("200", "20", "BLEU"), ("300", "30", "BLEU")]


def test_a_report_has_its_tables_around_curves_in_english(opened, runs, tmp_path):
    report = cells.Report("Rows & sums", "<h2>Before</h2>", "<h2>After</h2>")
    logs = {"student": (runs[0], read_run_log(runs[0]))}
    file = tmp_path / "report.html"
    file.write_bytes(cells.build_curves_page(logs, report=report))
    browser = opened("at=77", file=file)
    order = "main > h2, #panels, h1"
    texts = browser.run(f"return [...document.querySelectorAll('{order}')].map(e => e.textContent)")
    assert [texts[0], texts[1], texts[-1]] == ["Rows & sums", "Before", "After"]
    assert browser.run("return [document.title, document.documentElement.lang]") == [texts[0], "en"]
    assert float(values(browser)[0][4]) == pytest.approx(loss(77), rel=1e-3)


def test_the_table_says_how_each_run_ended(opened):
    rows = opened().run(f"return {CELLS}('#values tr')")
    first, other = ({head: texts[column] for head, *texts in rows} for column in (0, 1))
    assert first["updates in all"] == "300, finished"
    assert (first["skipped updates"], first["restarts (updates lost)"]) == ("2", "1 (20)")
    best = min((loss(step) + 0.5, step) for step in (200, 300))
    assert first["best dev loss"] == f"{best[0]:.3f} at {best[1]}"
    assert first["best score"] == "30 at 300"
    mean = sum(loss(step) for step in range(201, 301)) / 100
    assert float(first["loss, mean of last 100"]) == pytest.approx(mean, rel=1e-3)
    assert other["updates in all"] == "200, not finished"


@pytest.mark.parametrize(("last", "is_log"), [(1.0, True), (3.0, False)])
def test_a_loss_that_falls_by_a_factor_is_drawn_on_a_logarithmic_axis(
    opened, tmp_path, last, is_log
):
    falling = [update(step, nats=last + (8 - last) * 0.9**step) for step in range(1, 201)]
    transduce.curves(write_log(tmp_path / "run", falling), output=tmp_path / "a.html")
    browser = opened(file=tmp_path / "a.html")
    assert browser.run("return transduce.app.panels.get('loss').scales.yScale.log") == is_log
    assert link_of_state(browser) == ""


def link_of_state(browser):
    browser.run("window.transduce.app.change({})")
    return browser.run("return location.hash")


def test_the_point_is_a_whole_update(opened):
    browser = opened("at=77.94612795")
    assert values(browser)[0][1] == "78"
    caption = browser.run("return document.getElementById('values-caption').textContent")
    assert caption.startswith("At update 78;")
