"""transduce demo, with a model of no size that learns nothing."""

import json
from pathlib import Path

import pytest

from transduce.checkpoint.run_file import create_run
from transduce.cli import signals
from transduce.cli.demo import choose_recipe, describe_schedule, suggest_next_steps
from transduce.runs.training_run import require_same_recipe

NO_RUN = Path("none")
SMALL = {
    "architecture.layers": 1,
    "architecture.d_model": 16,
    "architecture.d_ff": 16,
    "data.max_pairs": 200,
    "data.vocabulary_size": 300,
    "training.steps": 2,
    "training.threads": 1,
    "training.validate_lines": 2,
    "search.beam": 1,
    "search.extra_length": 1,
}


@pytest.fixture
def demo(call, tmp_path, monkeypatch):
    """The demo in `demo`, with few sentences to translate."""
    monkeypatch.setattr("transduce.cli.demo.LINES_TO_EVALUATE", 10)
    monkeypatch.setattr("transduce.runs.choice.HELD_OUT_PAIRS", 20)
    changes = [f"--set={path}={value}" for path, value in SMALL.items()]
    return lambda *options: call("demo", tmp_path / "demo", *changes, *options)


@pytest.mark.slow
def test_it_prepares_trains_averages_and_shows(demo, tmp_path):
    ended = demo()
    assert ended.code == 0
    said = ended.stderr.splitlines()
    assert said[0].startswith("so that a short training learns, training.warmup is 1 (not 400)")
    assert said[1] == "preparing a corpus of generated sentences …"
    assert "trained 2 steps in " in ended.stderr
    assert "transduce average" not in ended.stderr  # it does that by itself, of one snapshot alone
    assert "sentences held out:\n  BLEU " in ended.stdout
    assert (tmp_path / "demo" / "model" / "README.md").is_file()
    page = tmp_path / "demo" / "explainer.html"
    assert said[-1] == f"follow it step by step, in a browser: {page}"
    assert '"name":"untrained"' in page.read_text(encoding="utf-8")
    again = demo()
    assert again.stdout == ended.stdout
    assert again.stderr.splitlines()[1].startswith("going on from step 2 of ")
    splits = [json.loads(line) for line in demo("--json").stdout.splitlines()]
    assert [
        f"BLEU {split['scores'][0]['value']:.1f}, untrained {split['untrained']['value']:.1f}"
        for split in splits
    ] == [line.strip() for line in ended.stdout.splitlines() if line.startswith("  BLEU ")]
    assert all(split["models"] and split["date"] for split in splits)


@pytest.mark.slow
def test_a_model_of_other_steps_is_not_shown_as_this_run(demo):
    demo()
    ended = demo("--set=training.steps=4")
    assert ended.code == 3
    assert "is the mean of other steps than 4 to 4\nhint: delete the folder" in ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize(
    ("on_the_path", "called"), [(True, "transduce"), (False, ".venv/bin/transduce")]
)
def test_what_to_try_can_be_pasted(monkeypatch, tmp_path, on_the_path, called):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(tmp_path / ".venv/bin/transduce")])
    monkeypatch.setattr("shutil.which", lambda _: "transduce" if on_the_path else None)
    assert any(line.endswith(f"| {called} translate m") for line in suggest_next_steps(Path("m")))


def test_a_shorter_demo_warms_up_for_as_much_less():
    for changes, warmup in (({}, 400), ({"training.steps": "300"}, 60)):
        assert choose_recipe(changes, NO_RUN).training.warmup == warmup
    changes = {"training.steps": "300", "training.warmup": "9"}
    assert choose_recipe(changes, NO_RUN).training.warmup == 9
    changes = {"training.steps": "300", "training.learning_rate_factor": "0.5"}
    training = choose_recipe(changes, NO_RUN).training
    assert (training.warmup, training.learning_rate_factor) == (400, 0.5)
    short = choose_recipe({"training.steps": "300"}, NO_RUN)
    assert short.name == (
        "demo with training.steps=300, training.warmup=60, training.learning_rate_factor=0.3873"
    )


def test_a_shorter_demo_has_the_same_highest_learning_rate():
    for steps in ("2", "150", "300", "1999", "2000"):
        training = choose_recipe({"training.steps": steps}, NO_RUN).training
        peak = training.learning_rate_factor * training.warmup**-0.5
        assert peak == pytest.approx(400**-0.5, rel=1e-3)
    changes = {"training.steps": "300", "training.learning_rate_factor": "3"}
    assert choose_recipe(changes, NO_RUN).training.learning_rate_factor == 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"training.steps": "4000", "training.learning_rate_factor": "3"}, []),
        ({"training.steps": "300", "training.warmup": "60"}, []),
        ({"training.steps": "300"}, ["warmup is 60 (not 400)", "rate_factor is 0.3873 (not 1)"]),
        ({"training.steps": "300", "training.learning_rate_factor": "3"}, []),
    ],
)
def test_a_shorter_demo_says_what_it_changes_by_itself(changes, said):
    line = "".join(describe_schedule(choose_recipe(changes, NO_RUN), changes))
    assert (line.count(" (not "), bool(line)) == (len(said), bool(said))
    assert all(part in line for part in said)


def test_a_demo_that_is_begun_keeps_its_warm_up(tmp_path):
    for begun in ("300", "2000", "4000"):
        run = tmp_path / begun
        run.mkdir()
        recipe = choose_recipe({"training.steps": begun}, run)
        create_run(run, recipe, {})
        for steps in ("300", "2000", "4000"):
            now = choose_recipe({"training.steps": steps}, run)
            require_same_recipe(run, now, recipe)


def test_the_demo_may_not_lie_in_a_model_folder(call, model):
    ended = call("demo", model)
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {model}: is a model, ")


def test_a_demo_in_place_of_a_file_is_refused_before_torch_is_loaded(call, tmp_path, monkeypatch):
    monkeypatch.setattr(signals, "ignore_checkpoint_signal", None)  # what stands before torch
    (tmp_path / "file").touch()
    assert "file: is a file, not a folder" in call("demo", tmp_path / "file").stderr


@pytest.mark.parametrize(
    "change",
    ["data.task=tagging", "data.task=copy", "data.corpus=toy-copy", "data.target_language=fr"],
)
def test_another_text_than_the_demos_is_refused_before_torch_is_loaded(
    call, tmp_path, monkeypatch, change
):
    monkeypatch.setattr(signals, "ignore_checkpoint_signal", None)  # what stands before torch
    path, _, value = change.partition("=")
    ended = call("demo", tmp_path / "demo", "--set", change)
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {path} is ")
    assert f", and not {value}\nhint: `transduce train`" in ended.stderr
    assert not (tmp_path / "demo").exists()


def test_the_folder_of_the_demo_is_named_once(call, tmp_path):
    ended = call("demo", tmp_path / "a", "-o", tmp_path / "b")
    assert (ended.code, list(tmp_path.iterdir())) == (2, [])
