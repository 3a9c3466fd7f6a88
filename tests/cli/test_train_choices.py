"""transduce train: which recipes and corpora go together."""

import pytest
from tests.cli.language import write
from tests.cli.treebank import write_treebank

from transduce.checkpoint.run_file import read_run


def test_neither_recipe_nor_text(call, tmp_path):
    ended = call("train", "-o", tmp_path / "run")
    assert ended.code == 2
    assert ended.stderr == (
        "error: neither a recipe nor a text was named\n"
        "hint: name a recipe, or --source FILE --target FILE; `transduce recipes` lists recipes\n"
    )
    assert not (tmp_path / "run").exists()


def test_a_corpus_without_a_recipe_is_trained_by_one_that_fits_it(call, corpus):
    text = ("--source", corpus / "a.en", "--target", corpus / "a.de")
    setting = ("--set", "data.vocabulary_size=270")
    prepared = call("prepare", *text, "-o", corpus / "p", *setting)
    assert prepared.code == 0
    assert prepared.stderr.startswith("199 pairs after cleaning and no GPU decide the sizes")
    assert prepared.stderr.endswith(f"\nhint: transduce train --store {corpus / 'p'} -o RUN\n")
    settings = ("--set", "training.steps=1", "--set", "architecture.layers=1")
    ended = call("train", "--store", corpus / "p", "-o", corpus / "run", *settings)
    assert ended.code == 0
    assert "\n  1 + 1 layers, d_model 128" in ended.stderr
    recipe = read_run(corpus / "run").recipe
    assert (recipe.data.vocabulary_size, recipe.training.steps) == (270, 1)
    assert recipe.name == "en-de, 1+1 layers, 1 update"
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
        "error: a scale makes a recipe smaller, and none was named\n"
        "hint: name a recipe, such as table3/base: `transduce recipes` lists them\n"
    )


def test_a_scale_makes_the_recipe_smaller_before_settings_are_changed(call, tmp_path, monkeypatch):
    monkeypatch.setattr("transduce.runs.choice.HELD_OUT_PAIRS", 20)
    run = tmp_path / "run"
    small = ("--scale=toy", "--set=training.steps=2", "--set=data.max_pairs=200")
    assert call("train", "table3/C-N2", *small, "--set=training.threads=1", "-o", run).code == 0
    recipe = read_run(run).recipe
    assert (recipe.architecture.d_model, recipe.training.steps) == (32, 2)


@pytest.mark.parametrize(
    ("option", "name", "task", "scheme"),
    [
        ("--trees", "train.trees", "parsing", "raw"),
        ("--tags", "train.pos", "tagging", "raw"),
        ("--tags", "train.np", "tagging", "bio"),
    ],
)
def test_trees_and_tags_without_a_recipe_are_trained_by_one_that_fits_them(
    call, tmp_path, option, name, task, scheme
):
    write_treebank(tmp_path)
    shape = ("architecture.layers=1", "training.steps=1", "training.threads=1")
    settings = [word for one in shape for word in ("--set", one)]
    ended = call("train", option, tmp_path / name, *settings, "-o", tmp_path / "run")
    assert ended.code == 0
    data = read_run(tmp_path / "run").recipe.data
    assert (data.task, data.label_scheme, data.vocabulary) == (task, scheme, "word")
    told = f"data.label_scheme={scheme}, as the training text shows\n"
    assert (told in ended.stderr) == (task == "tagging")
    store = call("train", "--store", tmp_path / "run/store", *settings, "-o", tmp_path / "other")
    assert store.code == 0
    assert read_run(tmp_path / "other").recipe.data == data


def test_no_development_set_and_one_are_refused_together(call, corpus):
    dev = ("--dev-source", corpus / "d.en", "--dev-target", corpus / "d.de")
    text = ("--source", corpus / "a.en", "--target", corpus / "a.de")
    ended = call("train", *text, *dev, "--no-dev", "-o", corpus / "run")
    assert ended.code == 2
    assert ended.stderr.startswith("error: --no-dev and a development set exclude each other\n")


def test_without_a_development_set_held_out_pairs_give_a_score(call, tmp_path):
    text = [(f"line {n}", f"enil {n}") for n in range(2_000)]
    write(tmp_path / "a.tsv", ["\t".join(pair) for pair in text])
    shape = ("training.steps=1", "architecture.layers=1", "training.validate_every=1")
    settings = [word for one in shape for word in ("--set", one)]
    settings += ["--set", "training.validate_lines=2", "--set", "search.extra_length=2"]
    ended = call("train", "--pairs", tmp_path / "a.tsv", *settings, "-o", tmp_path / "run")
    assert (
        "no development set was named, so 200 pairs are held out; --no-dev trains " in ended.stderr
    )
    assert "dev at 1: perplexity " in ended.stderr
    assert " BLEU " in ended.stderr


def test_a_recipe_on_ones_own_text_names_this_text_and_its_languages(call, corpus, tmp_path):
    for old, new in (("a.en", "law.is"), ("a.de", "law.fo")):
        (corpus / old).rename(corpus / new)
    text = ("--source", corpus / "law.is", "--target", corpus / "law.fo")
    small = ("--scale=toy", "--set=training.steps=1", "--set=training.threads=1")
    size = ("--set=data.vocabulary_size=280",)
    ended = call("train", "table3/C-N2", *text, *small, *size, "-o", tmp_path / "run")
    assert ended.code == 0
    assert ended.stderr.startswith("languages: is to fo\n")
    assert call("average", tmp_path / "run", "-o", tmp_path / "m").code == 0
    card = (tmp_path / "m" / "README.md").read_text("utf-8")
    assert '\nlanguage:\n- "is"\n- "fo"\n' in card
    assert "# is-fo, 2+2 layers, 1 update\n" in card
    assert "\nCorpus: your own: law.is, sha256 " in card
    assert "newstest" not in card


def test_a_store_tells_what_its_text_is_called(call, corpus):
    text = ("--source", corpus / "a.en", "--target", corpus / "a.de")
    assert call("prepare", "tiny", *text, "-o", corpus / "p").code == 0
    ended = call("train", "tiny", "--store", corpus / "p", "-o", corpus / "run", "--quiet")
    assert (ended.code, ended.stderr) == (0, "")
    assert read_run(corpus / "run").recipe.data.corpus.startswith("your own: a.en, sha256 ")


def test_a_run_is_named_and_renamed_and_goes_on_under_its_name(call, corpus):
    run = ("-o", corpus / "run", "--quiet")
    text = ("--source", corpus / "a.en", "--target", corpus / "a.de", "--set=training.threads=1")
    assert call("train", "tiny", *text, *run, "--name", "First").code == 0
    assert read_run(corpus / "run").recipe.name == "First"
    assert call("train", *run, "--set", "training.steps=21").code == 0
    assert read_run(corpus / "run").recipe.name == "First"
    assert call("train", *run, "--name", "Second", "--languages", "is-fo").code == 0
    recipe = read_run(corpus / "run").recipe
    assert (recipe.name, recipe.data.languages) == ("Second", ("is", "fo"))
    ended = call("train", *run, "--name", "demo")
    assert ended.code == 2
    assert ended.stderr.startswith("error: the name 'demo' belongs to a recipe\n")


def test_settings_of_validations_without_a_development_set_are_warned_of(call, corpus):
    text = ("--source", corpus / "a.en", "--target", corpus / "a.de", "--set=training.steps=1")
    dev = ("--dev-source", corpus / "d.en", "--dev-target", corpus / "d.de")
    for given, told in (((), True), (dev, False)):
        words = ("train", "tiny", *text, *given, "--set=training.patience=2", "--quiet")
        ended = call(*words, "-o", corpus / f"run{told}")
        warning = "warning: without a development set training.patience changes nothing"
        assert (ended.code, warning in ended.stderr) == (0, told), ended.stderr
