"""transduce train: which recipes and corpora go together."""

from transduce.checkpoint import read_run


def test_neither_recipe_nor_text(call, tmp_path):
    ended = call("train", "-o", tmp_path / "run")
    assert ended.code == 2
    assert ended.stderr.startswith("error: neither a recipe nor a text was named\nhint: transduce")
    assert not (tmp_path / "run").exists()


def test_a_corpus_without_a_recipe(call, tmp_path):
    ended = call("train", "--store", tmp_path / "p", "-o", tmp_path / "run")
    assert ended.code == 2
    assert ended.stderr.startswith("error: a corpus alone does not say how to train\nhint: name a ")
    assert not (tmp_path / "run").exists()


def test_a_scale_without_a_recipe_is_refused(call, tmp_path):
    done = call("train", "--scale", "toy", "-o", tmp_path / "run")
    assert done.code == 2
    assert done.stderr == (
        "error: --scale needs a recipe, which it makes smaller\n"
        "hint: transduce train table3/base --scale laptop\n"
    )


def test_a_scale_makes_the_recipe_smaller_before_settings_are_changed(call, tmp_path, monkeypatch):
    monkeypatch.setattr("transduce.runs.choice.HELD_OUT_PAIRS", 20)
    run = tmp_path / "run"
    small = ("--scale=toy", "--set=training.steps=2", "--set=data.max_pairs=200")
    assert call("train", "table3/C-N2", *small, "--set=training.threads=1", "-o", run).code == 0
    recipe = read_run(run).recipe
    assert (recipe.architecture.d_model, recipe.training.steps) == (32, 2)
