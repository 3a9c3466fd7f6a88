"""transduce distil: from another program's outputs to a student, and what is refused."""

import itertools
import json
import re
import shutil
import signal

import torch
from safetensors.torch import load_file, save_file
from tests.cli.language import write
from tests.runs.marian_checkpoints import write_checkpoint

from transduce.checkpoint.model_files import open_model_folder
from transduce.checkpoint.run_file import read_run
from transduce.checkpoint.stored_model import load_model, save_model
from transduce.distillation.report import REPORT_KIND
from transduce.durable.folder import open_folder
from transduce.inference.load import load
from transduce.settings.recipe import with_changes

STUDENT = (
    "--student=tiny", "--set=training.threads=1", "--set=search.extra_length=5", "--no-progress",
)  # fmt: skip


def test_outputs_of_another_program_train_a_student(call, corpus):
    (corpus / "a.de").rename(corpus / "a.fr")
    text = (f"--source={corpus}/a.en", f"--outputs={corpus}/a.fr")
    dev = (f"--dev-source={corpus}/d.en", f"--dev-target={corpus}/d.de")
    folder = corpus / "distilled"
    ended = call("distil", *text, *dev, *STUDENT, "-o", folder)
    assert ended.code == 0, ended.stderr
    assert "pairs kept" in ended.stderr
    assert call("translate", folder / "model", stdin=b"the dog\n").code == 0
    recipe = json.loads((folder / "model" / "recipe.json").read_text())
    assert (recipe["data"]["source_language"], recipe["data"]["target_language"]) == ("en", "fr")
    page = (folder / "report" / "report.html").read_text()
    assert "<td>sentences a second</td>" in page
    assert "<h2>Teacher and student</h2>" in page
    block = re.search('<script type="application/json" id="curves">(.*?)</', page)
    assert block is not None
    (drawn,) = (run["validations"] for run in json.loads(block[1])["runs"])
    events = map(json.loads, (folder / "run/log.jsonl").read_text().splitlines())
    looks = [(one["step"], one["nats"]) for one in events if one["event"] == "validation"]
    assert [(step, nats) for step, nats, *_ in drawn] == looks != []
    scores = json.loads((folder / "report" / "scores.json").read_text())
    assert scores.keys() == {"student"}
    translated = call("evaluate", folder / "model", corpus / "d.en", corpus / "d.de", "--json")
    assert f'"value": {scores["student"]["scores"]["BLEU"]}' in translated.stdout
    stored = load_file(folder / "model" / "model.safetensors")
    assert scores["student"]["parameters"] == sum(one.numel() for one in stored.values())
    before = (folder / "model" / "manifest.json").read_bytes()
    assert call("distil", *text, *dev, *STUDENT, "-o", folder).code == 0
    assert (folder / "model" / "manifest.json").read_bytes() == before


def test_a_small_text_gives_its_student_as_many_symbols_as_it_supports(call, corpus):
    text = (f"--source={corpus}/a.en", f"--outputs={corpus}/a.de", "-o", corpus / "distilled")
    short = ("--set=training.steps=2", "--set=training.warmup=1", "--until=run", "--no-progress")
    assert call("distil", *text, *short).code == 0
    symbols = read_run(corpus / "distilled/run").recipe.data.vocabulary_size
    assert 258 < symbols < 8_000
    assert call("distil", *text, *short).code == 0, "the same command goes on"
    refused = call("distil", *text, *short, f"--set=data.vocabulary_size={symbols + 1}")
    assert refused.code == 2


def test_a_signal_keeps_the_last_finished_update_of_a_student(call, corpus, raise_at_step_3):
    raise_at_step_3(signal.SIGTERM)
    text = (f"--source={corpus}/a.en", f"--outputs={corpus}/a.de", "-o", corpus / "distilled")
    assert call("distil", *text, *STUDENT).code == 143
    kept = (corpus / "distilled/run/checkpoints").iterdir()
    assert [path.name for path in kept] == ["step-00000003"]


def test_a_long_student_is_told_what_shortens_it_and_once_how_it_goes_on(
    call, corpus, raise_at_step_3
):
    raise_at_step_3(signal.SIGINT)
    text = (f"--source={corpus}/a.en", f"--outputs={corpus}/a.de", "-o", corpus / "distilled")
    ended = call("distil", *text, *STUDENT, "--set=training.steps=9999999")
    assert "  shorter: in another folder, with --set training.steps=…" in ended.stderr
    assert (ended.code, ended.stderr.count("the same command")) == (130, 1)


def test_a_signal_that_asks_for_a_checkpoint_does_not_end_a_student(call, corpus, raise_at_step_3):
    raise_at_step_3(signal.SIGUSR1)
    text = (f"--source={corpus}/a.en", f"--outputs={corpus}/a.de", "--until=run")
    assert call("distil", *text, *STUDENT, "-o", corpus / "distilled").code == 0


def test_a_teacher_translates_until_the_stage_that_is_named(call, babbler, corpus):
    folder, text = corpus / "d", f"--source={corpus}/a.en"
    ended = call("distil", babbler, text, "--until=shards", "--beam=1", "-o", folder)
    assert ended.code == 0, ended.stderr
    assert not (folder / "pairs").exists()
    assert call("verify", folder / "shards" / "shard-1-of-1").code == 0


def test_a_shard_with_a_changed_byte_is_named_and_once_deleted_made_anew(call, babbler, corpus):
    folder, text = corpus / "d", f"--source={corpus}/a.en"
    command = ("distil", babbler, text, "--until=pairs", "--beam=1", "-o", folder)
    assert call(*command).code == 0
    output, pairs = folder / "shards/shard-1-of-1/output.txt", folder / "pairs/pairs.tsv"
    before = output.read_bytes(), pairs.read_bytes()
    output.write_bytes(before[0].replace(b"-", b"+", 1))
    for words in (command, ("merge", folder / "shards", "-o", corpus / "merged")):
        ended = call(*words)
        assert (ended.code, ended.stderr.count("\n")) == (3, 2)
        assert ended.stderr.startswith(f"error: {output}: is not as it was written: expected sha")
        assert "\nhint: the folder is damaged or was edited: delete it and make it " in ended.stderr
    assert not (corpus / "merged").exists()
    shutil.rmtree(output.parent)
    assert call(*command).code == 0
    assert (output.read_bytes(), pairs.read_bytes()) == before


def test_a_teacher_of_another_direction_neither_joins_nor_goes_on(call, babbler, corpus):
    turned = {"data.source_language": "de", "data.target_language": "en"}
    model = load_model(babbler)
    recipe = with_changes(model.recipe, turned)
    save_model(corpus / "back", model.weights, recipe, model.vocabularies, "# Back\n")
    until, text = ("--beam=1", "--until=shards", "-o", corpus / "d"), f"--source={corpus}/a.en"
    ended = call("distil", babbler, corpus / "back", text, *until)
    fact = f"error: {corpus}/back: its source language is de, and the first model's is en\nhint: "
    assert (ended.code, ended.stderr.startswith(fact)) == (2, True), ended.stderr
    assert not (corpus / "d").exists()
    assert call("distil", babbler, text, *until).code == 0
    ended = call("distil", corpus / "back", text, *until)
    fact = f"error: {corpus}/d/shards/shard-1-of-1: is there already, of other models\nhint: "
    assert (ended.code, fact in ended.stderr) == (2, True), ended.stderr


def test_a_teacher_whose_language_has_no_code_teaches_a_student(call, babbler, corpus):
    model = load_model(babbler)
    recipe = with_changes(model.recipe, {"data.source_language": "ROMANCE"})
    save_model(corpus / "teacher", model.weights, recipe, model.vocabularies, "# Many\n")
    sides = ((corpus / name).read_text().splitlines() for name in ("a.en", "a.de"))
    write(corpus / "a.fr-de.tsv", ["\t".join(pair) for pair in zip(*sides, strict=True)])
    text = (f"--pairs={corpus}/a.fr-de.tsv", "--beam=1", "-o", corpus / "d")
    ended = call("distil", corpus / "teacher", *text, *STUDENT, "--until=model")
    assert ended.code == 0, ended.stderr
    assert call("translate", corpus / "d/model", stdin=b"the dog\n").code == 0


def test_more_updates_of_a_finished_distillation_renew_its_model_and_report(call, corpus):
    text = (f"--source={corpus}/a.en", f"--outputs={corpus}/a.de", "-o", corpus / "d")
    dev = (f"--dev-source={corpus}/d.en", f"--dev-target={corpus}/d.de")
    for steps in (20, 23):
        ended = call("distil", *text, *dev, *STUDENT, f"--set=training.steps={steps}")
        assert ended.code == 0, ended.stderr
        model = open_model_folder(corpus / "d/model")
        assert max(model.about["averaged"]) == steps
        (reported,) = open_folder(corpus / "d/report", REPORT_KIND).about["models"].values()
        assert reported == list(load(model.folder).hashes)


def read_teacher_s(folder):
    """The best output of each line that a teacher translated."""
    lines = (folder / "shards/shard-1-of-1/output.txt").read_text().splitlines()
    return [json.loads(line)[0][0] for line in lines]


def test_an_ensemble_of_teachers_teaches_a_student(call, babbler, corpus):
    model = load_model(babbler)
    draws = torch.Generator().manual_seed(2)
    other = {name: one + 0.3 * torch.randn(one.shape, generator=draws)
             for name, one in sorted(model.weights.items())}  # fmt: skip
    save_model(corpus / "other", other, model.recipe, model.vocabularies, "# Other\n")
    folder, beam = corpus / "d", "--beam=2"
    text = (f"--source={corpus}/a.en", beam, "-o", folder)
    ended = call("distil", babbler, corpus / "other", *text, *STUDENT, "--until=model")
    assert ended.code == 0, ended.stderr
    source = folder / "text/source.txt"
    both, first, second = (
        call("translate", *models, source, beam).stdout.splitlines()
        for models in ((babbler, "--ensemble", corpus / "other"), (babbler,), (corpus / "other",))
    )
    assert read_teacher_s(folder) == both
    assert both not in (first, second)
    assert call("translate", folder / "model", stdin=b"the dog\n").code == 0


def test_an_imported_marian_model_teaches_a_student(call, tmp_path):
    weights, draws = write_checkpoint(tmp_path / "opus"), torch.Generator().manual_seed(3)
    for name, old in sorted(weights.items()):  # so that it says something else to most lines
        drawn = torch.randn(old.shape, generator=draws) if old.ndim == 2 else torch.zeros(old.shape)
        weights[name] = torch.ones(old.shape) if name.endswith("norm.weight") else drawn
    weights["final_logits_bias"].zero_()
    save_file(weights, tmp_path / "opus/model.safetensors", metadata={"format": "pt"})
    assert call("import", tmp_path / "opus", "-o", tmp_path / "teacher").code == 0
    lines = map(" ".join, itertools.product(("the", "dog", "runs", "s", "e"), repeat=3))
    folder, short = tmp_path / "d", "--extra-length=1"
    text = (f"--source={write(tmp_path / 'a.en', list(lines))}", short, "-o", folder)
    ended = call("distil", tmp_path / "teacher", *text, *STUDENT, "--until=model")
    assert ended.code == 0, ended.stderr
    found = call("translate", tmp_path / "teacher", folder / "text/source.txt", short).stdout
    assert read_teacher_s(folder) == found.splitlines()
    pairs = (folder / "pairs/pairs.tsv").read_text().splitlines()
    assert len({pair.split("\t")[1] for pair in pairs}) > 20
    assert call("translate", folder / "model", stdin=b"the dog\n").code == 0


def test_of_many_warnings_about_lines_the_first_are_printed_and_all_counted(
    call, babbler, tmp_path
):
    (tmp_path / "a").write_text("\n" + "".join(f"the dog sees {n} cats\n" for n in range(60)))
    text = (f"--source={tmp_path}/a", "--until=shards", "--beam=1", "-o", tmp_path / "d")
    ended = call("distil", babbler, *text)
    assert ended.code == 0, ended.stderr
    place = f"warning: stage shards, {tmp_path}/d/text/source.txt, line 8: "
    assert f"{place}its translation lacks the number 7" in ended.stderr
    assert ended.stderr.count("its translation lacks") == 10
    assert "warning: 60 lines lost something in translation" in ended.stderr


def test_teacher_and_student_are_compared_with_one_beam(call, babbler, corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    files = ("--source=a.en", "--dev-source=d.en", "--dev-target=d.de", "--beam=1")
    ended = call("distil", babbler, *files, *STUDENT, "-o", "d")
    assert ended.code == 0, ended.stderr
    scores = json.loads((corpus / "d/report/scores.json").read_text())
    assert [scores[name]["beam"] for name in ("teacher", "student")] == [1, 1]
    assert "A bar to the right" not in (corpus / "d/report/report.html").read_text()
    assert "\nthe student: d/model\nall stages, teacher and student: d/report/rep" in ended.stderr


def test_pairs_that_name_other_languages_than_the_teacher_s_are_refused(call, babbler, tmp_path):
    for name in ("a.de-en.tsv", "a.en-de.tsv"):
        (tmp_path / name).write_text("Hund\tdog\n")
    command = ("distil", babbler, "--until=text", "-o", tmp_path / "d")
    ended = call(*command, f"--pairs={tmp_path}/a.de-en.tsv")
    assert ended.code == 2
    assert "a.de-en.tsv is de to en, and the teacher translates en to de\nhint: " in ended.stderr
    assert not (tmp_path / "d").exists()
    assert call(*command, f"--pairs={tmp_path}/a.en-de.tsv").code == 0


def test_given_pairs_may_stand_in_any_columns(call, babbler, corpus):
    (corpus / "three.tsv").write_text("der Hund\t1\tthe dog\n")
    call_distil = ("distil", babbler, f"--pairs={corpus}/three.tsv", "--until=text", "-o")
    ended = call(*call_distil, corpus / "d", "--columns=3,1")
    assert ended.code == 0, ended.stderr
    assert (corpus / "d/text/source.txt").read_text() == "the dog\n"
    assert (corpus / "d/text/reference.txt").read_text() == "der Hund\n"
    assert call(*call_distil, corpus / "d", "--columns=1,3").code == 2, "the folder has other text"
    assert call("distil", babbler, f"--source={corpus}/a.en", "--columns=1,3").code == 2


def test_a_folder_of_other_things_is_left_alone(call, babbler, corpus):
    before = sorted(corpus.iterdir())
    ended = call("distil", babbler, f"--source={corpus}/a.en", "-o", corpus)
    assert (ended.code, "exists and is no distillation" in ended.stderr) == (2, True)
    assert sorted(corpus.iterdir()) == before


def test_what_does_not_fit_is_refused(call, babbler, corpus):
    text, outputs = f"--source={corpus}/a.en", f"--outputs={corpus}/a.de"
    (corpus / "empty").touch()
    for words, fact in [
        ((babbler, text, outputs), "a teacher and another program's outputs exclude each other"),
        ((text,), "and one is needed"),
        ((babbler, f"--source={corpus}/empty"), "no line of 0 is a sentence to translate"),
        ((babbler, text, "--seed=-1"), "'--seed': -1 is not in the range"),
        ((babbler,), "there is no text to translate"),
        ((outputs,), "there is no text to translate"),
        ((text, outputs, "--beam=3"), "--beam is for a teacher's translations"),
        ((babbler, text, "--worst=1"), "worst"),
        ((text, outputs, "--worst=0.2"), "by a model's probabilities, and none was given"),
    ]:
        ended = call("distil", *words, "-o", corpus / "d")
        assert (ended.code, fact in ended.stderr) == (2, True), ended.stderr
        assert not (corpus / "d").exists()


def test_no_pair_is_dropped_from_another_program_s_outputs_where_the_worst_share_is_0(call, corpus):
    files = (f"--source={corpus}/a.en", f"--outputs={corpus}/a.de", "-o", corpus / "d")
    ended = call("distil", *files, "--worst=0", "--until=pairs")
    assert ended.code == 0, ended.stderr


def test_a_student_that_cannot_be_trained_is_refused_before_anything_is_translated(
    call, babbler, corpus
):
    large = "architecture.d_model=65536 architecture.layers=900"
    words = "data.vocabulary=word data.shared_vocabulary=false architecture.tie_embeddings=target"
    for settings, code, fact in [
        ("data.task=tagging", 2, "a student translates, and data.task is tagging"),
        ("data.vocabulary=sentencepiece", 2, "is imported with its model, and not learned"),
        (words, 2, "a vocabulary of words needs tokenised text"),
        (large, 8, "to train this model takes more"),
    ]:
        changes = [word for one in settings.split() for word in ("--set", one)]
        text = (f"--source={corpus}/a.en", "--student=tiny", *changes)
        ended = call("distil", babbler, *text, "-o", corpus / "d")
        assert (ended.code, fact in ended.stderr) == (code, True), ended.stderr
        assert not (corpus / "d").exists()


def test_lines_that_are_not_translated_are_counted_and_a_deleted_text_is_gathered_again(
    call, corpus
):
    (corpus / "b.en").write_text("the dog\n" * 3 + "a cat\n\n" + "a " * 1_001 + "\n")
    (corpus / "b.de").write_text("god eht\n" * 3 + "tac a\n\n" + "a " * 1_001 + "\n")
    text = (f"--source={corpus}/b.en", f"--outputs={corpus}/b.de", "--until=pairs")
    ended = call("distil", *text, "-o", corpus / "distilled")
    left_out = "4 of 6 lines left out: equal to another, empty, or of more than 2,000 characters"
    assert (ended.code, left_out in ended.stderr) == (0, True)
    shutil.rmtree(corpus / "distilled" / "text")
    assert call("distil", *text, "-o", corpus / "distilled").code == 0
    assert call("distil", *text, "-o", corpus).code == 2


def test_numbered_outputs_given_as_translations_are_told(call, tmp_path):
    (tmp_path / "a").write_text("".join(f"the dog {n}\n" for n in range(20)))
    (tmp_path / "b").write_text("".join(f"{n}\t-1.0\t-2.0\tder Hund {n}\n" for n in range(20)))
    text = (f"--source={tmp_path}/a", f"--outputs={tmp_path}/b", "--until=text")
    ended = call("distil", *text, "-o", tmp_path / "distilled")
    assert ended.stderr.count(f"{tmp_path}/b is no plain text: each line has a tab") == 1


def test_a_development_set_of_the_other_direction_is_told_before_hours_of_translation(
    call, made, tmp_path
):
    sides = {
        "de": "Der Hund schläft unter dem Tisch, und die Katze sieht aus dem Fenster.",
        "en": "The dog sleeps under the table, and the cat looks out of the window.",
    }
    for name, line in sides.items():
        (tmp_path / name).write_text("".join(f"{line}{n}\n" for n in range(20)), "utf-8")
    dev = (f"--dev-source={tmp_path}/de", f"--dev-target={tmp_path}/en")
    text = (made / "model", f"--source={tmp_path}/en", "--until=text")
    ended = call("distil", *text, *dev, "-o", tmp_path / "distilled")
    warning = (
        "warning: the source in the development set is in the language de, and the model reads en"
    )
    assert (ended.code, warning in ended.stderr) == (0, True)


def test_text_that_can_be_read_once_only_is_refused(call, babbler, tmp_path):
    ended = call("distil", babbler, "--source=-", "-o", tmp_path / "d", stdin=b"the dog\n")
    assert (ended.code, "it is read more than once" in ended.stderr) == (2, True)
