"""Row E14: label smoothing and the learning rate in the page are those of training."""

import functools
import math
from dataclasses import replace

import pytest
import torch
from tests.view.explainer.opened import READY, change, number_of
from tests.view.explainer.samples import ODD, TEXT, make_translator

from transduce.fast.loss import cross_entropy_inplace
from transduce.paper.operations import smoothing_mass
from transduce.paper.training import scaled_learning_rate
from transduce.view.explainer.explain import explain

pytestmark = pytest.mark.browser
TOLERANCE = 1e-6
FORMS = ("szegedy", "t2t")
RATE = {"learning_rate_factor": 1.7, "warmup": 400, "steps": 2_000}
LOSSES = """
const [smoothings, form] = arguments, { smoothingMass, smoothedLoss, page } = transduce;
const { trace, output } = page.result;
return output.map((id, t) => smoothings.map(smoothing => {
  const mass = smoothingMass(smoothing, form, trace.logits[t].length);
  return smoothedLoss(trace.logits[t], id, mass);
}));
"""
LOGITS = "const { trace } = transduce.page.result; return trace.logits.map(row => Array.from(row));"
RATES = """
const [steps, warmups] = arguments, { learningRate } = transduce;
return warmups.map(warmup => steps.map(step => learningRate(step, warmup)));
"""
CELLS = """
const rows = [...document.querySelectorAll(arguments[0] + " tbody tr")];
return rows.map(row => [...row.cells].map(cell => cell.textContent));
"""


@functools.cache
def make_trained(**training):
    """Return a translator whose recipe has other settings of training."""
    translator = make_translator(ODD)
    recipe = translator.recipe
    return replace(
        translator, recipe=replace(recipe, training=replace(recipe.training, **training))
    )


@functools.cache
def build_explainer_page(translator):
    return explain(translator, TEXT).page


def open_trained(browser, **training):
    """Open the page of a model whose recipe has these settings; return its translator."""
    translator = make_trained(**training)
    browser.open_text(build_explainer_page(translator))
    browser.wait(READY)
    return translator


@pytest.mark.parametrize("form", FORMS)
def test_loss_and_gradient_of_every_step_are_those_of_training(browser, form):
    open_trained(browser, smoothing_form=form, label_smoothing=0.1)
    logits = torch.tensor(browser.run(LOGITS), dtype=torch.float64)
    targets = torch.tensor(browser.run("return transduce.page.result.output"))
    smoothings = [0.0, 0.05, 0.1, 0.37, 1.0]
    found = browser.run(LOSSES, smoothings, form)
    for t, target in enumerate(targets):
        for smoothing, one in zip(smoothings, found[t], strict=True):
            mass = smoothing_mass(smoothing, form, logits.shape[1])
            gradient = logits[t : t + 1].clone()
            loss, nats = cross_entropy_inplace(gradient, target[None], mass)
            assert one["loss"] == pytest.approx(float(loss), rel=0, abs=TOLERANCE)
            assert one["nats"] == pytest.approx(float(nats), rel=0, abs=TOLERANCE)
            target_row = logits[t].softmax(dim=0) - gradient[0]
            assert one["right"] == pytest.approx(float(target_row[target]), rel=0, abs=TOLERANCE)
            wrong = target_row[torch.arange(len(target_row)) != target]
            assert float((wrong - one["wrong"]).abs().max()) <= TOLERANCE
            least = float(torch.special.entr(target_row.clamp(min=0)).sum())
            assert one["least"] == pytest.approx(least, rel=0, abs=TOLERANCE)
            assert one["least"] <= one["loss"] + TOLERANCE


@pytest.mark.slow
def test_the_learning_rate_is_that_of_training(browser):
    translator = open_trained(browser, **RATE)
    steps, warmups = [1, 2, 299, 300, 301, 1999, 100_000], [1, 300, 4_000]
    found = browser.run(RATES, steps, warmups)
    for warmup, rates in zip(warmups, found, strict=True):
        training = replace(translator.recipe.training, warmup=warmup)
        expected = [scaled_learning_rate(step, ODD, training) for step in steps]
        assert rates == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "named"), [("szegedy", "all V pieces"), ("t2t", "V − 1 wrong")])
def test_the_smoothing_slider_starts_from_the_recipe_and_moves_by_key(browser, form, named):
    open_trained(browser, smoothing_form=form, label_smoothing=0.5)
    change(browser, panel="smoothing", target=1)
    assert named in browser.run("return document.getElementById('exact').textContent")
    assert browser.run("return document.getElementById('slider').value") == "0.5"
    browser.type_into("#slider", "ArrowRight", "ArrowRight")
    browser.wait(f"{READY} && transduce.state().smoothing === 0.52")
    assert browser.run("return document.activeElement.id") == "slider"
    one = browser.run(LOSSES, [0.52], form)[1][0]
    pieces, sums = browser.run(CELLS, "#boxes section"), browser.run(CELLS, "#boxes .chart ~ .rows")
    (right,) = [row for row in pieces if row[0].endswith("✓")]
    assert number_of(right[1]) == pytest.approx(one["right"], rel=1e-4)
    assert number_of(right[4]) == pytest.approx(number_of(right[2]) - number_of(right[1]), abs=1e-4)
    losses = ["loss without smoothing", "mean of", "smoothed loss", "its floor"]
    assert all(row[0].startswith(name) for row, name in zip(sums, losses, strict=True))
    columns = [[number_of(row[c]) for row in pieces if len(row) > 2] for c in (1, 2)]
    assert [sum(column) for column in columns] == pytest.approx([1, 1], abs=1e-3)
    expected = [one[name] for name in ("nats", "other", "loss", "least")]
    assert [number_of(row[1]) for row in sums] == pytest.approx(expected, rel=1e-4)
    browser.click("#as-recipe")
    browser.wait(f"{READY} && transduce.state().smoothing === 0.5")
    assert browser.console() == []


# The points of the chart's lines and its dots, as P and loss, read from the numbers at its axes.
CURVES = """
const svg = document.querySelector(".chart"), [top, zero] = svg.querySelectorAll("text");
const at = name => Number(svg.querySelector("path.line").getAttribute("d").match(name)[1]);
const left = at(/M(\\d+)/), up = at(/ (\\d+)V/), low = at(/V(\\d+)/), right = at(/H(\\d+)/);
const most = Number(top.textContent);
const read = (x, y) => [(x - left) / (right - left), most * (low - y) / (low - up)];
const points = path => path.getAttribute("d").match(/[^LM]+/g).map(x => read(...x.split(" ")));
const dots = [...svg.querySelectorAll("circle")];
return [[...svg.querySelectorAll("path")].slice(1).map(points),
  dots.map(one => read(one.getAttribute("cx"), one.getAttribute("cy")))];
"""


def test_the_loss_of_a_very_unlikely_piece_lies_inside_its_chart(browser):
    open_trained(browser, label_smoothing=0.1)
    change(browser, panel="smoothing", target=0, edits=["logits:0:40=200"])
    sums, (_, (_, (_, loss))) = browser.run(CELLS, "#boxes .chart ~ .rows"), browser.run(CURVES)
    assert loss == pytest.approx(number_of(sums[2][1]), rel=0.01)
    height = "return Number(document.querySelector('.chart').getAttribute('height'))"
    dots = "return [...document.querySelectorAll('.chart circle')].map(one => one.cy.baseVal.value)"
    assert all(0 < y < browser.run(height) for y in browser.run(dots))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("smoothing", [0.1, 0.5])
def test_the_smoothed_loss_is_drawn_against_the_probability_of_the_right_piece(
    browser, form, smoothing
):
    open_trained(browser, smoothing_form=form, label_smoothing=smoothing)
    change(browser, panel="smoothing", target=1)
    (smoothed, plain), (ring, dot) = browser.run(CURVES)
    one, size = browser.run(LOSSES, [smoothing], form)[1][0], len(browser.run(LOGITS)[1])
    assert len(smoothed) == len(plain) > 100
    for (p, loss), (same, nats) in zip(smoothed, plain, strict=True):
        rest = (1 - p) / (size - 1)  # of each other piece
        expected = -one["right"] * math.log(p) - (size - 1) * one["wrong"] * math.log(rest)
        assert loss == pytest.approx(expected, abs=0.15 if p < 0.05 else 0.04)
        assert nats == pytest.approx(-math.log(same), abs=0.15 if p < 0.05 else 0.04)
    least = 1 - smoothing + (smoothing / size if form == "szegedy" else 0)
    lowest = min(loss for _, loss in smoothed)
    flat = [p for p, loss in smoothed if loss < lowest + 0.005]
    assert min(flat) - 0.01 < least < max(flat) + 0.01 < 1
    assert min(plain, key=lambda point: point[1])[0] > 0.99
    assert ring == pytest.approx([least, one["least"]], abs=0.03)
    assert dot == pytest.approx([math.exp(-one["nats"]), one["loss"]], abs=0.03)
    assert dot[1] > ring[1]


def test_the_warmup_slider_starts_from_the_recipe_and_moves_by_mouse(browser):
    translator = open_trained(browser, **RATE)
    change(browser, panel="rate")
    slider = "const { min, max, step, value } = document.getElementById('slider');"
    assert browser.run(f"{slider} return [min, max, step, value]") == ["10", "1600", "10", "400"]
    browser.click("#slider")
    browser.wait(f"{READY} && transduce.state().warmup !== 400")
    warmup = browser.run("return transduce.state().warmup")
    assert warmup == pytest.approx(800, abs=30)
    training = replace(translator.recipe.training, warmup=warmup)
    for step, now, recipes in browser.run(CELLS, "#boxes"):
        number = int(step.replace(",", ""))
        for shown, one in ((now, training), (recipes, translator.recipe.training)):
            assert number_of(shown) == pytest.approx(
                scaled_learning_rate(number, ODD, one), rel=1e-4
            )
    assert browser.run("return transduce.writeHash(transduce.state())") == f"#p=rate&w={warmup}"
    assert browser.console() == []


@pytest.mark.slow
def test_a_warmup_longer_than_the_training_has_its_peak_at_the_end(browser):
    open_trained(browser, warmup=4_000, steps=100)
    change(browser, panel="rate")
    label = browser.run("return document.querySelector('.chart').getAttribute('aria-label')")
    assert "at update 100:" in label
    assert "NaN" not in browser.run("return document.getElementById('boxes').innerHTML")
