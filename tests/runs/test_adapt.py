"""Training that goes on from a trained model: weights, vocabulary, a schedule of its own."""

import hashlib
import shutil

import pytest
import torch
from tests.runs.corpora import TOY as SMALL
from tests.runs.corpora import prepared_toy
from tests.training.stopping import single_process_until

import transduce
from transduce.checkpoint.checkpoints import load_checkpoint
from transduce.checkpoint.run_file import read_run
from transduce.checkpoint.stored_model import load_model, read_stored_model, save_model
from transduce.errors import FolderError, InputError
from transduce.paper.model import build_transformer
from transduce.paper.training import scaled_learning_rate
from transduce.runs.adapt import build_schedule, choose_adaptation
from transduce.runs.prepared_corpus import open_prepared
from transduce.runs.texts import InMemoryPairs
from transduce.runs.training_run import begin_or_resume_run, train_run
from transduce.settings.recipe import with_changes
from transduce.training.progress import TrainingCallbacks

NEW = [(f"{number} ä b", f"b ä {number}") for number in range(40)]
OLD = [(f"{number} c", f"c {number}") for number in range(7)]
TOY = with_changes(SMALL, {"data.vocabulary_size": 262, "training.validate_every": 100})
STEPS = 3
SHORT = {"training.steps": STEPS, "training.threads": 1}


@pytest.fixture(scope="module")
def parent(tmp_path_factory):
    """A model folder with random weights, and the prepared corpus that its vocabulary is of."""
    folder = tmp_path_factory.mktemp("parent")
    torch.set_num_threads(1)
    prepared = prepared_toy(folder / "store", TOY)
    source, target = map(len, prepared.vocabularies)
    model = build_transformer(TOY.architecture, source, target, seed=5)
    about = {"run": "0123456789abcdef", "averaged": [300, 400]}
    weights, words = model.named_weights(), prepared.vocabularies
    save_model(folder / "model", weights, TOY, words, "# Toy\n", about=about)
    return folder / "model"


def adapt(parent, folder, train=NEW, **more):
    return transduce.train(folder, train, parent=parent, **({"settings": SHORT} | more))


def weights_of(run, step):
    return load_checkpoint(run, step).weights


@pytest.fixture(scope="module")
def adapted(parent):
    """A run of three updates that goes on from the parent, and what was said of it."""
    messages: list[str] = []
    callbacks = TrainingCallbacks(on_message=messages.append)
    return adapt(parent, parent.parent / "run", callbacks=callbacks), messages


def test_the_first_update_starts_from_the_weights_of_the_parent(parent, tmp_path):
    adapt(parent, tmp_path / "run", settings=SHORT | {"training.steps": 1})
    before = load_model(parent).weights
    first, after = (weights_of(tmp_path / "run", step) for step in (0, 1))
    assert all(torch.equal(first[name], weight) for name, weight in before.items())
    recipe = read_run(tmp_path / "run").recipe
    rate = scaled_learning_rate(1, TOY.architecture, recipe.training)
    moved = max(float((after[name] - weight).abs().max()) for name, weight in before.items())
    assert 0.9 * rate < moved < 1.01 * rate  # Adam's first step is the learning rate


def test_the_parents_vocabulary_encodes_the_new_text(parent, adapted):
    run, _ = adapted
    words = open_prepared(run.folder / "store").vocabularies
    assert words.hashes() == read_stored_model(parent).vocabularies.hashes()
    assert run.recipe.architecture == TOY.architecture
    assert isinstance(transduce.load(run)("3 ä b"), str)


def test_run_card_and_manifest_name_the_parent_by_its_sha256(parent, adapted, tmp_path):
    run, messages = adapted
    sha256 = hashlib.sha256((parent / "manifest.json").read_bytes()).hexdigest()
    assert any(sha256 in message for message in messages)
    assert read_run(run.folder).fingerprints["parent"] == sha256
    model = transduce.average(run, tmp_path / "model")
    card = (model.folder / "README.md").read_text(encoding="utf-8")
    assert f"the weights of the model with sha256 `{sha256}`" in card
    assert load_model(model.folder).about["parent"] == sha256


def train_until(folder, parent, corpus, asks=None):
    """Train an adapted run, until the loop has asked so often whether it should stop."""
    count = [0]

    def stopped():
        count[0] += 1
        return asks is not None and count[0] > asks

    recipe = with_changes(TOY, {"training.steps": STEPS, "data.corpus": "your own"})
    recipe = begin_or_resume_run(folder, recipe, corpus, parent=parent)
    group = single_process_until(stopped)
    return train_run(folder, recipe, corpus, TrainingCallbacks(), lambda _: None, group)


def hash_weights(run):
    weights = weights_of(run, STEPS)
    return [weights[name].numpy().tobytes() for name in sorted(weights)]


def test_a_killed_run_that_is_resumed_ends_with_the_same_bits(parent, tmp_path):
    stored = read_stored_model(parent)
    corpus = open_prepared(parent.parent / "store")
    train_until(tmp_path / "straight", stored, corpus)
    assert train_until(tmp_path / "stopped", stored, corpus, asks=3).step in (1, 2)
    train_until(tmp_path / "stopped", stored, corpus)
    straight = hash_weights(tmp_path / "straight")
    assert hash_weights(tmp_path / "stopped") == straight
    shutil.rmtree(tmp_path / "stopped" / "checkpoints")  # killed before the first was written
    with pytest.raises(FolderError, match="has no checkpoint, and goes on from a model with sha"):
        train_until(tmp_path / "stopped", None, corpus)
    train_until(tmp_path / "stopped", stored, corpus)
    assert hash_weights(tmp_path / "stopped") == straight


def test_the_same_call_resumes_and_so_does_the_folder_alone(parent, tmp_path):
    run = adapt(parent, tmp_path / "run", settings=SHORT | {"training.steps": 1})
    more = adapt(parent, run.folder, settings=SHORT | {"training.steps": 2})
    assert (run.progress.step, more.progress.step) == (1, 2)
    longer = transduce.train(run.folder, settings={"training.steps": 3})
    assert longer.progress.step == 3
    recipe, settings = longer.recipe, {"training.steps": 4}
    without_text = adapt(parent, run.folder, train=None, recipe=recipe, settings=settings)
    assert without_text.progress.step == 4


def test_another_parent_and_the_same_folder_are_refused(parent, adapted, tmp_path):
    run, _ = adapted
    stored = read_stored_model(parent)
    weights = {name: weight + 1 for name, weight in stored.weights.items()}
    save_model(tmp_path / "other", weights, stored.recipe, stored.vocabularies, "# Other\n")
    with pytest.raises(InputError, match=r"goes on from a model with sha256 .*, not "):
        adapt(tmp_path / "other", run.folder)
    with pytest.raises(InputError, match="cannot be both the model to go on from and the new run"):
        adapt(run, run.folder)
    with pytest.raises(InputError, match="no such folder"):
        adapt(tmp_path / "none", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_that_began_with_random_weights_is_refused(parent, tmp_path):
    begin_or_resume_run(tmp_path / "run", TOY, open_prepared(parent.parent / "store"))
    with pytest.raises(InputError, match="this run was begun with random weights"):
        adapt(parent, tmp_path / "run")


def test_a_parent_that_is_not_as_it_was_written_is_refused(parent, tmp_path):
    damaged = shutil.copytree(parent, tmp_path / "damaged")
    file = damaged / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(content)
    with pytest.raises(FolderError, match=r"model\.safetensors"):
        adapt(damaged, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("settings", "fact"),
    [
        ({"architecture.layers": 3}, "architecture.layers is 2 in "),
        ({"architecture.norm": "pre"}, "architecture.norm is post in "),
        ({"data.vocabulary_size": 300}, "data.vocabulary_size is 262 in "),
        ({"data.task": "copy"}, "data.task is reverse in "),
    ],
)
def test_what_contradicts_the_parent_is_refused(parent, tmp_path, settings, fact):
    with pytest.raises(InputError, match=fact) as refused:
        adapt(parent, tmp_path / "run", settings=SHORT | settings)
    assert "come from the model to go on from" in refused.value.hint
    recipe = with_changes(TOY, SHORT | settings)
    with pytest.raises(InputError, match=fact):
        adapt(parent, tmp_path / "run", recipe=recipe, settings=None)
    assert not (tmp_path / "run").exists()


def test_dropout_and_training_are_the_users(parent):
    settings = SHORT | {"architecture.dropout": 0.3, "training.seed": 7}
    stored, text = read_stored_model(parent), InMemoryPairs(tuple(NEW))
    recipe, _ = choose_adaptation(stored, None, text, settings, lambda _what, _pairs: None)
    assert (recipe.architecture.dropout, recipe.training.seed) == (0.3, 7)


def test_the_highest_learning_rate_is_the_last_one_of_the_parent(parent):
    stored = read_stored_model(parent)
    recipe = with_changes(TOY, build_schedule(stored, 50))
    rates = [scaled_learning_rate(step, TOY.architecture, recipe.training) for step in range(1, 51)]
    assert max(rates) == pytest.approx(scaled_learning_rate(400, TOY.architecture, TOY.training))
    assert rates.index(max(rates)) + 1 == 5


def test_a_corpus_for_an_adaptation_says_what_is_held_out_of_it(parent, tmp_path):
    said = list[str]()
    pairs = [(f"{number} ä b", f"b ä {number}") for number in range(2_000)]
    transduce.prepare(tmp_path / "s", pairs, parent=parent, on_message=said.append)
    assert any("held out" in one for one in said), said
    assert not any("learning rate" in one for one in said), said


def test_other_languages_than_the_parents_are_warned_of_also_in_a_prepared_corpus(parent, tmp_path):
    said = list[str]()
    callbacks = TrainingCallbacks(on_message=said.append)
    transduce.prepare(tmp_path / "s", NEW, parent=parent, languages=("de", "en"))
    adapt(parent, tmp_path / "run", train=None, store=tmp_path / "s", callbacks=callbacks)
    warning = "translates en to de, and the new text is de to en: it will forget its own languages"
    assert [one for one in said if one.endswith(warning)]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.75])
def test_old_text_has_its_share_of_the_pairs_read(parent, tmp_path, share):
    store = transduce.prepare(tmp_path / "s", NEW, parent=parent, old=OLD, old_share=share).train
    new, old = store.mixture
    assert (new.pairs, old.pairs) == (len(NEW), len(OLD)), "each pair stands there once"
    assert old.weight / (new.weight + old.weight) == pytest.approx(share)


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ({"parent": None, "old": OLD}, "old text is mixed into new text when a trained model"),
        ({"old_share": 0.5}, "a share of old text was named, but no old text"),
        (
            {"old": OLD, "old_share": 1.0},
            "the share of old pairs lies between 0.001 and 0.999, not at 1.0",
        ),
        ({"train": None}, "a model goes on with new text, and none was named"),
        ({"old": []}, "old: there are no pairs"),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(parent, tmp_path, arguments, fact):
    with pytest.raises(InputError, match=fact):
        adapt(**({"parent": parent, "folder": tmp_path / "run"} | arguments))
    assert not (tmp_path / "run").exists()


def test_new_and_old_text_are_prepared_once_for_many_adaptations(parent, tmp_path):
    corpus = transduce.prepare(tmp_path / "store", NEW, parent=parent, old=OLD, old_share=0.5)
    assert corpus.vocabularies.hashes() == read_stored_model(parent).vocabularies.hashes()
    settings = SHORT | {"training.steps": 1}
    by_store, by_texts = (
        adapt(parent, tmp_path / name, settings=settings, **texts)
        for name, texts in (
            ("a", {"train": None, "store": corpus.folder}),
            ("b", {"old": OLD}),
        )
    )
    assert by_store.recipe.data == by_texts.recipe.data
    first, second = (weights_of(run.folder, 1) for run in (by_store, by_texts))
    assert all(torch.equal(first[name], weight) for name, weight in second.items())


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ({"parent": None, "old": OLD}, "old text is mixed into new text when a trained model"),
        ({"old_share": 0.5}, "a share of old text was named, but no old text"),
        ({"train": None}, "a model goes on with new text, and none was named"),
        ({"settings": {"data.vocabulary_size": 300}}, "data.vocabulary_size is 262 in "),
    ],
)
def test_what_cannot_be_prepared_for_a_model_is_refused(parent, tmp_path, arguments, fact):
    with pytest.raises(InputError, match=fact):
        transduce.prepare(
            **({"folder": tmp_path / "p", "train": NEW, "parent": parent} | arguments)
        )
    assert not (tmp_path / "p").exists()


def test_a_prepared_corpus_must_have_the_parents_vocabulary(parent, tmp_path):
    store = parent.parent / "store"
    settings = SHORT | {"training.steps": 1}
    assert adapt(parent, tmp_path / "run", train=None, store=store, settings=settings).is_finished
    transduce.prepare(tmp_path / "other", NEW, recipe=TOY)
    with pytest.raises(InputError, match="was prepared with another vocabulary than that of"):
        adapt(parent, tmp_path / "second", train=None, store=tmp_path / "other")
    assert not (tmp_path / "second").exists()


def test_a_prepared_corpus_is_read_five_times_unless_a_number_of_updates_is_named(parent):
    corpus, stored = open_prepared(parent.parent / "store"), read_stored_model(parent)
    pieces = sum(max(map(len, corpus.train.pair(number))) for number in range(len(corpus.train)))
    few = {f"data.{name}": 20 for name in ("max_length", "source_tokens", "target_tokens")}
    recipe, reasons = choose_adaptation(stored, None, corpus, few, lambda _what, _pairs: None)
    assert recipe.training.steps == 5 * pieces // 20 // 100 * 100 > 200
    assert f" of {recipe.training.steps:,} updates; others: " in reasons[1]
    named, _ = choose_adaptation(stored, None, corpus, few | SHORT, lambda _what, _pairs: None)
    assert named.training.steps == STEPS
