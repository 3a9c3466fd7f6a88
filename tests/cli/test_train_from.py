"""transduce train --from: a trained model goes on with new text."""

import shutil

import pytest

from transduce.checkpoint.run_file import read_run

SHORT = ("--set=training.steps=2", "--set=training.threads=1")


@pytest.fixture
def adapt(call, corpus, made):
    """Go on from the model of the session with these arguments, in the folder `new`."""
    text = (f"--source={corpus}/d.en", f"--target={corpus}/d.de")
    return lambda *more: call("train", "--from", made / "model", *text, "-o", corpus / "new", *more)


def test_a_model_goes_on_with_new_text_and_a_third_of_old_text(adapt, corpus):
    old = (f"--old-source={corpus}/a.en", f"--old-target={corpus}/a.de", "--old-share=0.25")
    ended = adapt(*old, *SHORT)
    assert (ended.code, ended.stdout) == (0, "")
    lines = ended.stderr.splitlines()
    assert lines[0].startswith("architecture and vocabulary of ")
    assert lines[1].startswith("the learning rate rises to 4.0e-02 in 1 of 2 updates")
    assert "  goes on from the weights of the model with sha256 " in ended.stderr
    assert " mixed 1:0.333" in (corpus / "new/data.json").read_text()
    assert read_run(corpus / "new").recipe.architecture.d_model == 32
    assert "going on from step 2 of" in adapt(*old, *SHORT).stderr


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("--set=architecture.heads=4",), "architecture.heads is 2 in "),
        (("demo",), "architecture.d_model is 32 in "),
        (("--old-share=0.5",), "a share of old text was named, but no old text\nhint: --old-pairs"),
        (("--old-source=x",), "--old-target is missing\nhint: a parallel text has two sides"),
        (("--store=x",), "--source and --store exclude each other"),
        (("--from=none",), "--from is given 2 times"),
    ],
)
def test_what_does_not_fit_is_refused(adapt, corpus, arguments, answer):
    ended = adapt(*arguments, *SHORT)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"error: {answer}")
    assert not (corpus / "new").exists()


def test_a_model_alone_and_old_text_without_a_model_are_refused(call, corpus, made):
    ended = call("train", "--from", made / "model", "-o", corpus / "new")
    assert ended.stderr.startswith("error: a model goes on with new text, and none was named\nhint")
    text = (f"--source={corpus}/d.en", f"--target={corpus}/d.de")
    ended = call("train", *text, "--old-pairs", corpus / "a.en", "-o", corpus / "new")
    assert ended.stderr.startswith("error: old text is mixed into new text when a trained model ")


def test_a_corpus_is_prepared_for_the_adaptations_of_a_model(call, corpus, made):
    text = (f"--source={corpus}/d.en", f"--target={corpus}/d.de")
    parent = ("--from", made / "model")
    ended = call("prepare", *parent, *text, "-o", corpus / "p")
    assert (ended.code, ended.stdout) == (0, "")
    assert "\ntrain: 20 pairs read, 20 kept\n" in ended.stderr
    ended = call("train", *parent, "--store", corpus / "p", "-o", corpus / "new", *SHORT)
    assert (ended.code, "  goes on from the weights of the model" in ended.stderr) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (
            ("--scale=toy",),
            "a scale makes a recipe smaller, and none was named\nhint: name a recipe",
        ),
        (("tiny", "--old-pairs=x"), "old text is mixed into new text when a trained model goes on"),
        (("--from=none",), "none: no such folder\nhint: name a model folder or a run"),
    ],
)
def test_what_cannot_be_prepared_is_refused(call, corpus, arguments, answer):
    text = (f"--source={corpus}/d.en", f"--target={corpus}/d.de")
    ended = call("prepare", *text, "-o", corpus / "p", *arguments)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"error: {answer}")
    assert not (corpus / "p").exists()


def test_new_text_in_another_language_than_the_model_s_is_remarked(call, corpus, made):
    for side, other in (("en", "en"), ("de", "fr")):
        shutil.copy(corpus / f"d.{side}", corpus / f"new.{other}")
    text = (f"--source={corpus}/new.en", f"--target={corpus}/new.fr")
    ended = call("train", "--from", made / "model", *text, "-o", corpus / "new", *SHORT)
    assert (
        f"warning: {made}/model translates en to de, and the new text is en to fr" in ended.stderr
    )
