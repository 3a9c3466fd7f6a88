"""transduce train: which recipes and corpora go together."""

from transduce.checkpoint import read_run


def test_neither_recipe_nor_text(call, tmp_path):
    ended = call("train", "-o", tmp_path / "run")
    assert ended.code == 2
    assert ended.stderr.startswith("error: neither a recipe nor a text was named\nhint: transduce")
    assert not (tmp_path / "run").exists()


def test_a_corpus_without_a_recipe_is_trained_by_one_that_fits_it(call, corpus):
    text = ("--source", corpus / "a.en", "--target", corpus / "a.de")
    setting = ("--set", "data.vocabulary_size=270")
    prepared = call("prepare", *text, "-o", corpus / "p", *setting)
    assert prepared.code == 0
    assert prepared.stderr.startswith("199 pairs after cleaning and no GPU: 4 + 4 layers, d_model ")
    assert prepared.stderr.endswith(f"\nhint: transduce train --store {corpus / 'p'} -o RUN\n")
    settings = ("--set", "training.steps=1", "--set", "architecture.layers=1")
    ended = call("train", "--store", corpus / "p", "-o", corpus / "run", *settings)
    assert ended.code == 0
    assert ended.stderr.startswith("199 pairs after cleaning and no GPU: 1 + 1 layers, d_model 128")
    recipe = read_run(corpus / "run").recipe
    assert (recipe.data.vocabulary_size, recipe.training.steps) == (270, 1)
    assert recipe.name == "fitted with training.steps=1, architecture.layers=1"
    assert call("train", "--store", corpus / "p", "-o", corpus / "run").code == 0  # finished


def test_a_corpus_of_another_task_needs_a_recipe(call, tmp_path):
    setting = ("--set", "data.max_pairs=20")
    assert call("prepare", "toy-copy", *setting, "-o", tmp_path / "p").code == 0
    ended = call("train", "--store", tmp_path / "p", "-o", tmp_path / "run")
    assert ended.code == 2
    assert ended.stderr == (
        "error: a corpus for copy does not say how to train\n"
        "hint: name a recipe beside the corpus: the one that it was prepared with\n"
    )
    assert not (tmp_path / "run" / "run.json").exists()


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
