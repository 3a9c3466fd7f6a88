"""The page of a run: untrained, earlier and trained stages on the loss curve."""

import json
import re
import shutil
from pathlib import Path

import pytest
import torch
from tests.view.curves.logs import loss, update, write_log
from tests.view.explainer.opened import text_of

import transduce
from transduce.checkpoint.checkpoints import Snapshot, list_snapshots
from transduce.inference.load import load
from transduce.view.explainer.explain import explain
from transduce.view.explainer.weights import (
    choose_milestones,
    load_trained_stage,
    read_loss_curve,
    read_run_stages,
)


@pytest.fixture
def run(tmp_path):
    return write_log(tmp_path / "run", [update(step) for step in range(1, 1001)])


def test_the_loss_curve_has_at_most_200_points_from_the_first_update_to_the_last(run):
    curve = read_loss_curve(run)
    assert len(curve) == 200
    assert (curve[0][0], curve[-1][0]) == (1, 1000)
    for step, nats in curve[1:-1]:
        assert nats == pytest.approx(loss(step), abs=0.05)


def test_a_run_without_a_log_has_no_curve(tmp_path):
    assert read_loss_curve(tmp_path) == []


def snapshots(*steps):
    return [Snapshot(step, Path()) for step in steps]


@pytest.mark.parametrize(
    ("steps", "chosen"),
    [
        ((50, 100, 200, 400, 800, 950), [("early", 100), ("half-trained", 400)]),
        ((100,), [("half-trained", 100)]),
        ((400, 800), [("half-trained", 400)]),
        ((1000,), []),
        ((), []),
    ],
)
def test_between_stand_the_milestones_at_half_the_loss_and_at_half_the_updates(steps, chosen):
    """The loss falls by half in the first hundred of a thousand updates."""
    curve = [[1, 8.0], [50, 6.0], [100, 4.4], [200, 2.5], [400, 1.5], [800, 1.1], [1000, 1.0]]
    found = choose_milestones(snapshots(*steps), curve, 1000)
    assert [(name, one.step) for name, one in found] == chosen


def test_the_trained_stage_is_the_mean_of_the_last_snapshots(trained_run):
    six, eight = [one.weights() for one in list_snapshots(trained_run)][-2:]
    translator, stage = load_trained_stage(trained_run)
    for name, weight in stage.weights.items():
        mean = ((six[name].double() + eight[name].double()) / 2).float()
        assert torch.equal(weight, mean)
        assert torch.equal(translator.models[0].named_weights()[name], mean)
    assert any(not torch.equal(stage.weights[name], eight[name]) for name in eight)


def test_a_run_without_a_snapshot_shows_its_newest_checkpoint(trained_run, tmp_path):
    shutil.copytree(trained_run, tmp_path / "run")
    shutil.rmtree(tmp_path / "run/snapshots")
    translator, stage = load_trained_stage(tmp_path / "run")
    assert (stage.name, stage.step) == ("trained", 8)
    assert translator.hashes == load(trained_run).hashes


@pytest.mark.slow
def test_the_page_of_a_run_has_its_stages_and_the_trained_weights_in_16_bits(trained_run):
    page = explain(trained_run, "the dog").page
    (text,) = re.findall(r'id="header">(.*?)</script>', page)
    header = json.loads(text)
    stages = header["stages"]
    names = ["untrained", "early", "half-trained", "trained (mean of 2 snapshots)"]
    assert [one["name"] for one in stages] == names
    assert [one["numbers"] for one in stages] == ["int8", "int8", "int8", "float16"]
    assert [one["step"] for one in stages] == [0, 2, 4, 8]
    assert [step for step, _ in header["curve"]] == list(range(1, 9))
    assert page == explain(trained_run, "the dog").page


def test_a_run_that_goes_on_from_another_model_has_no_untrained_stage(trained_run, tmp_path):
    pairs = [("the dog sleeps", "THE DOG SLEEPS"), ("we see a cat", "WE SEE A CAT")] * 20
    settings = {"training.steps": 4, "training.snapshot_every": 2, "data.drop_duplicates": False}
    run = tmp_path / "adapted"
    transduce.train(run, pairs, parent=trained_run, settings=settings, process_settings=False)
    translator, trained = load_trained_stage(run)
    stages, _ = read_run_stages(run, translator, trained)
    assert [one.name for one in stages][-1] == trained.name
    assert "untrained" not in [one.name for one in stages]


@pytest.mark.browser
@pytest.mark.slow
def test_each_stage_is_opened_by_its_button(browser, trained_run):
    browser.open_text(explain(trained_run, "the dog").page)
    browser.wait("window.transduce && transduce.page.ready")
    browser.resize(1200, 900)
    browser.run("transduce.change({ panel: 'stages' })")
    browser.run("document.getElementById('panel-title').scrollIntoView()")
    trained = browser.run("return document.getElementById('translation').textContent")
    outputs = []
    for stage in (1, 2, 3, 4):
        button = f"#stage-buttons button:nth-child({stage})"
        place = browser.run("return document.querySelector(arguments[0]).offsetTop", button)
        browser.click(button)
        browser.wait(f"transduce.page.ready && transduce.state().stage === {stage - 1}")
        assert browser.run("return document.activeElement.matches(arguments[0])", button)
        assert place == browser.run(
            "return document.querySelector(arguments[0]).offsetTop", button
        ), "the buttons stay where they are"
        assert not browser.run("return document.querySelector('.strip').checkVisibility()")
        shown = browser.run("return document.querySelector('footer').textContent")
        assert f"parameters of {8 if stage < 4 else 16} bits" in shown
        assert "with those of the trained model, its largest difference" in shown
        outputs.append(browser.run("return transduce.page.result.search.best.score"))
        dots = "return [...document.querySelectorAll('.dot')].map(x => x.classList.contains('now'))"
        assert browser.run(dots).index(True) == stage - 1
        before = browser.run("return document.getElementById('before-text').checkVisibility()")
        assert before == (stage < 4), "beside the trained model's"
        now, whole = [text_of(browser, one) for one in ("#after-text", "#translation")]
        assert now == whole or (now.endswith("…") and whole.startswith(now[:-1])), "cut if long"
        assert re.search("was .* is", text_of(browser, "#changed"))
    assert browser.run("return document.getElementById('translation').textContent") == trained
    assert len(set(outputs)) == 4
    assert browser.console() == []


@pytest.mark.browser
@pytest.mark.slow
def test_the_tour_of_a_run_shows_its_first_stage_and_then_goes_on_with_the_trained_one(
    browser, trained_run
):
    browser.open_text(explain(trained_run, "the dog").page)
    browser.wait("window.transduce && transduce.page.ready")
    script = """
        const step = transduce.TOUR.findIndex(one => one[1] === "What training changes") + 1;
        transduce.goToTour(step).then(arguments[0]);
    """
    browser.command("execute/async", {"script": script, "args": []})
    assert browser.run("return [transduce.state().panel, transduce.state().stage]") == ["stages", 0]
    browser.click("#tour-next")
    browser.wait("transduce.page.ready && transduce.state().panel === 'input'")
    assert browser.run("return transduce.state().stage") == 3


def test_the_untrained_stage_is_the_model_before_its_first_update(trained_run):
    from transduce.paper.model import build_transformer
    from transduce.view.explainer.weights import build_untrained_stage

    translator = load(trained_run)
    sizes, count = translator.recipe.architecture, len(translator.task.source)
    fresh = build_transformer(sizes, count, count, translator.recipe.training.seed).named_weights()
    found = build_untrained_stage(translator).weights
    assert all(torch.equal(found[name], tensor) for name, tensor in fresh.items())
