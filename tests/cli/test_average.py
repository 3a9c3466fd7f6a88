"""transduce average: a run to a model folder."""

import json
import os
import re
import shutil
import stat
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file
from tests.cli.conftest import TINY

import transduce
from transduce.checkpoint.checkpoints import list_snapshots, load_checkpoint, save_snapshot
from transduce.checkpoint.run_file import read_run, write_run
from transduce.checkpoint.stored_model import load_model
from transduce.errors import InputError
from transduce.inference.average import average
from transduce.inference.load import load_task_model
from transduce.recipes import by_name
from transduce.runs.average import average_weights


def test_the_last_snapshots_become_their_mean(call, trained, tmp_path):
    ended = call("average", trained, "--last", 3, "-o", tmp_path / "m")
    # the recipe keeps two
    assert ended.code == 2
    assert ended.stderr == (
        f"error: {trained}: 3 snapshots are to be averaged, and this run has 2\nhint: --last 2\n"
    )
    ended = call("average", trained, "-o", tmp_path / "m")
    assert (ended.code, ended.stdout) == (0, "")
    assert ended.stderr == f"averaged 2 snapshots (steps 15, 20) into {tmp_path / 'm'}\n"
    first, second = (snapshot.weights() for snapshot in list_snapshots(trained))
    found = load_model(tmp_path / "m")
    assert found.about["averaged"] == [15, 20]
    for name, weight in found.weights.items():
        torch.testing.assert_close(weight, (first[name] + second[name]) / 2)


def test_a_checkpoint_is_not_counted_as_a_snapshot(trained):
    shutil.rmtree(trained / "snapshots")
    with pytest.raises(InputError, match="2 snapshots are to be averaged, and this run has none"):
        average(trained, last=2)


def test_a_mean_with_early_snapshots_says_that_the_last_weights_are_better(
    call, corpus, trained, tmp_path
):
    text = [f"--source={corpus}/a.en", f"--target={corpus}/a.de"]
    dev = [f"--dev-source={corpus}/d.en", f"--dev-target={corpus}/d.de"]
    early = ("--set", "training.average_last=12", "--set", "training.steps=60")
    rarely = ("--set", "training.checkpoint_minutes=10")
    assert (
        call("train", *TINY, *early, *rarely, *text, *dev, "-o", tmp_path / "r", "--quiet").code
        == 0
    )
    said = call("average", tmp_path / "r", "-o", tmp_path / "m").stderr
    mean, last = (
        transduce.evaluate(tmp_path / name, corpus / "d.en", corpus / "d.de").perplexity.per_piece
        for name in ("m", "r")
    )
    assert mean > last
    assert f"its perplexity on the development set is {mean:.2f}, theirs {last:.2f}" in said
    assert average(tmp_path / "r").perplexities == (mean, last)
    assert "development set" not in call("average", trained, "-o", tmp_path / "n").stderr


@pytest.mark.parametrize("has_output", [True, False])
def test_all_snapshots_are_averaged_by_default_if_the_run_has_fewer(trained, tmp_path, has_output):
    output = tmp_path / "m" if has_output else None
    shutil.rmtree(max((trained / "snapshots").iterdir()))
    with pytest.raises(InputError, match="2 snapshots are to be averaged, and this run has 1"):
        average(trained, output, last=2)
    assert average(trained, output).steps == (15,)
    with pytest.raises(InputError):
        average(trained, output, last=2)


@pytest.mark.parametrize("has_output", [True, False])
def test_a_run_without_a_snapshot_gives_its_last_checkpoint(trained, tmp_path, has_output):
    shutil.rmtree(trained / "snapshots")
    model = average(trained, tmp_path / "m" if has_output else None)
    assert model.steps == (20,)
    assert load_model(model.folder).weights.keys() == load_checkpoint(trained, 20).weights.keys()
    shutil.rmtree(trained / "checkpoints")
    with pytest.raises(
        InputError, match="has neither a snapshot nor a checkpoint yet\nhint: train"
    ):
        average(trained, tmp_path / "n")


def test_of_an_unfinished_run_the_last_snapshot_is_named_and_not_its_checkpoint(
    call, trained, tmp_path
):
    shutil.rmtree(trained / "checkpoints/step-00000020")
    shutil.rmtree(trained / "snapshots/step-00000020")
    ended = call("average", trained, "-o", tmp_path / "m")
    assert ended.stderr == (
        f"{trained} is not finished: using step 15 of 20\n"
        f"averaged step 15 alone into {tmp_path / 'm'}\n"
    )


def test_the_card_tells_where_the_model_is_from(made):
    card = (made / "model" / "README.md").read_text(encoding="utf-8")
    assert "200" in card
    assert "duplicate" in card
    (figure,) = re.findall(r"^!\[.+\]\((.+)\)$", card, re.MULTILINE)
    parameters = re.findall(r"[\d,]+ parameters", card)[0]
    assert f"= {parameters}" in (made / "model" / figure).read_text(encoding="utf-8")


def test_one_snapshot_alone(call, trained, tmp_path):
    ended = call("average", trained, "--last", 1, "-o", tmp_path / "m")
    assert ended.stderr == f"averaged step 20 alone into {tmp_path / 'm'}\n"
    assert call("average", trained, "-o", tmp_path / "q", "--quiet").stderr == ""


def test_an_output_that_exists_is_refused(call, trained, model):
    before = (model / "manifest.json").read_bytes()
    for file in trained.glob("snapshots/*/model.safetensors"):
        file.write_bytes(b"unread")
    ended = call("average", trained, "-o", model)
    assert ended.code == 2
    assert ended.stderr == (
        f"error: {model}: exists already\nhint: choose another name, or --force replaces it\n"
    )
    assert (model / "manifest.json").read_bytes() == before


def test_a_model_is_replaced_by_force_and_nothing_else_is(call, trained, model, tmp_path):
    ended = call("average", trained, "--last", 1, "-o", model, "--force")
    assert (ended.code, load_model(model).about["averaged"]) == (0, [20])
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    model.chmod(0o750)
    assert call("average", trained, "--last", 1, "-o", model, "--force").code == 0
    assert stat.S_IMODE(model.stat().st_mode) == 0o750
    (model / ".git").mkdir()
    for place, reason in (
        (model, "it holds '.git'"),
        (trained, "it has no manifest.json"),
        (trained / "store" / "train", "one of kind 'store'"),
        (tmp_path / "a.en", "is no folder"),
    ):
        before = sorted(tmp_path.rglob("*"))
        ended = call("average", trained, "-o", place, "--force")
        assert ended.code == 2
        assert reason in ended.stderr
        assert sorted(tmp_path.rglob("*")) == before


def test_a_model_gets_a_name_and_languages_that_its_run_did_not_have(call, trained, tmp_path):
    names = ("--name", "Law", "--languages", "is-fo")
    assert call("average", trained, "-o", tmp_path / "m", *names).code == 0
    recipe = load_model(tmp_path / "m").recipe
    assert (recipe.name, recipe.data.languages) == ("Law", ("is", "fo"))
    assert "# Law: is to fo\n" in (tmp_path / "m" / "README.md").read_text("utf-8")


def test_languages_that_contradict_a_recipe_of_old_say_that_the_text_is_ones_own(
    call, trained, tmp_path
):
    old = read_run(trained).recipe  # as runs were begun before texts had names
    old = replace(by_name("tiny"), architecture=old.architecture, training=old.training)
    write_run(trained, replace(read_run(trained), recipe=old))
    assert call("average", trained, "-o", tmp_path / "m", "--languages", "en-fr").code == 0
    recipe = load_model(tmp_path / "m").recipe
    assert recipe.data.corpus.startswith("your own: sha256 ")
    assert recipe.name == "en-fr, 2+2 layers, 20 updates"
    assert recipe.about == "tiny, on your own text"


def test_a_run_that_was_stopped_is_called_by_the_updates_that_it_had(call, trained, tmp_path):
    for part in ("snapshots", "checkpoints"):
        shutil.rmtree(trained / part / "step-00000020", ignore_errors=True)
    assert load_task_model(trained).recipe.name == "en-de, 2+2 layers, 19 updates"
    assert call("average", trained, "-o", tmp_path / "m").code == 0
    assert load_model(tmp_path / "m").recipe.name == "en-de, 2+2 layers, 15 updates"


@pytest.mark.parametrize("part", ["snapshots/step-00000015/model.safetensors", "data.json"])
def test_a_damaged_part_is_refused_and_nothing_is_made(call, trained, tmp_path, part):
    data = bytearray((trained / part).read_bytes())
    data[len(data) // 2] ^= 1
    (trained / part).write_bytes(data)
    ended = call("average", trained, "-o", tmp_path / "m")
    assert ended.code == 3
    assert ended.stderr.startswith(f"error: {trained / part}: ")
    assert not (tmp_path / "m").exists()


def test_a_snapshot_that_the_run_takes_away_meanwhile_is_not_missed(
    call, trained, tmp_path, monkeypatch
):
    def pruned(weights):
        shutil.rmtree(trained / "snapshots/step-00000020", ignore_errors=True)
        return average_weights(weights)

    monkeypatch.setattr("transduce.runs.average.average_weights", pruned)
    ended = call("average", trained, "--last", 1, "-o", tmp_path / "m")
    assert ended.stderr == f"averaged step 15 alone into {tmp_path / 'm'}\n"


def test_what_is_no_run_is_refused(call, model, tmp_path):
    ended = call("average", model, "-o", tmp_path / "m")
    assert ended.code == 3
    assert ended.stderr == (
        f"error: {model}: is a model folder, not a run\n"
        "hint: name a folder that `transduce train` wrote\n"
    )


def test_the_card_shows_the_last_validation(made):
    card = (made / "model" / "README.md").read_text("utf-8")
    assert "| BLEU |" in card
    assert "development set, at step 20 before averaging" in card
    assert "nrefs:1|case:mixed" in card.replace("\\|", "|")


def test_a_log_that_was_edited_or_is_gone_changes_no_card(call, trained, tmp_path):
    def card(name):
        assert call("average", trained, "-o", tmp_path / name).code == 0
        return (tmp_path / name / "README.md").read_text("utf-8")

    log, before = trained / "log.jsonl", card("before")
    events = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    for event in events:
        if event["event"] == "validation":
            event["score"]["value"] = 41.0
        if event["event"] == "machine":
            event["rate"] = 1e20
    log.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    assert card("edited") == before
    log.unlink()
    assert card("without") == before
    os.mkfifo(log)
    assert card("pipe") == before
    assert "hardware: " in before


def test_an_early_snapshot_without_progress_is_averaged_without_figures(call, trained, tmp_path):
    for step in (15, 20):
        folder = trained / f"snapshots/step-{step:08d}"
        weights = load_file(folder / "model.safetensors")
        shutil.rmtree(folder)
        save_snapshot(trained, step, weights)
    assert call("average", trained, "-o", tmp_path / "m").code == 0
    card = (tmp_path / "m/README.md").read_text("utf-8")
    assert "None were taken." in card
    assert "hardware: " not in card


def test_a_new_model_has_the_heads_that_agree_with_counting_words(call, trained, tmp_path):
    model = tmp_path / "model"
    assert call("average", trained, "-o", model, "--name", "one").code == 0
    chosen = json.loads((model / "alignment.json").read_text())
    assert chosen.keys() >= {"layer", "heads", "shifted", "pairs", "model"}
    assert "aer" not in chosen, "no gold was given"
    heads = transduce.load(model).alignment_heads
    assert heads is not None
    assert [heads.layer, list(heads.heads), heads.shifted] == [
        chosen[name] for name in ("layer", "heads", "shifted")
    ]
