"""transduce train: begin, go on, and every reason not to."""

import json
import shlex
import shutil

import pytest
from tests.cli.conftest import TINY
from tests.cli.language import write

from transduce.checkpoint.run_file import read_run, update_run_recipe
from transduce.durable.json import FORMAT, add_checksum
from transduce.durable.lock import lock_folder
from transduce.runs.recommend import recommend_recipe
from transduce.runs.texts import FilePair
from transduce.settings.recipe import with_changes

SHORT = ("--set", "training.steps=3", "--set", "training.threads=1")
SMALL = ("--set", "architecture.layers=1", "--set", "architecture.d_model=16")


@pytest.fixture
def train(call, corpus):
    """Train in `run` on the corpus with these arguments."""

    def trained(*more, source="a.en", target="a.de", run="run"):
        text = ("--source", corpus / source, "--target", corpus / target)
        return call("train", *more, *text, "-o", corpus / run)

    return trained


@pytest.fixture
def again(call, corpus, trained):
    """The command that made the finished run, with more options."""
    text = (f"--source={corpus}/a.en", f"--target={corpus}/a.de")
    dev = (f"--dev-source={corpus}/d.en", f"--dev-target={corpus}/d.de")
    return lambda *more: call("train", *TINY, *text, *dev, "-o", trained, *more)


def weights(run, step=20):
    return (run / f"checkpoints/step-{step:08d}/model.safetensors").read_bytes()


def test_the_short_way_says_what_it_chose_and_why(train, corpus):
    ended = train(*SHORT)
    assert (ended.code, ended.stdout) == (0, "")
    said = ended.stderr.splitlines()
    assert said[:2] == [
        "199 pairs after cleaning and no GPU decide the sizes; others: --set architecture.layers=6 "
        "and so on, or a recipe by name",
        "84 different words: a vocabulary of 298 symbols",
    ]
    assert said[2] == "languages: en to de"
    begin = next(n for n, line in enumerate(said) if line.endswith(f": a new run in {corpus}/run"))
    preamble = said[begin:]
    assert preamble[1:4] == [
        "  4 + 4 layers, d_model 128, d_ff 256, dropout 0.3",
        "  en to de, 298 symbols for both sides",
        "  3 updates of at most 4,096 tokens a side: about 3 passes over 199 pairs",
    ]
    assert preamble[4].startswith("  1,357,056 parameters = ")
    assert ended.stderr.count("d_model") == ended.stderr.count("1,357,056") == 1
    assert preamble[5] == (
        "warning: the whole text, 199 pairs, fits into one update: a model learns it by heart and "
        "little else, so find more text"
    )
    assert preamble[6].startswith("  about ")
    assert " on this machine, by a measurement: " in preamble[6]
    assert "base model" not in ended.stderr  # `recipes diff` names differences from the paper
    assert said[-2].startswith("trained 3 steps in ")
    assert said[-1] == f"hint: transduce average {corpus / 'run'} -o MODEL"
    assert read_run(corpus / "run").recipe.training.steps == 3


def test_a_warm_up_that_outlasts_the_training_is_warned_of(train):
    assert (
        "warning: the learning rate rises for 9 updates (training.warmup), and the training ends "
        "after 3: little is learned without more updates (training.steps)\n"
    ) in train(*SHORT, *SMALL, "--set", "training.warmup=9").stderr


def test_what_was_set_decides_what_is_chosen(corpus):
    text = FilePair(corpus / "a.en", corpus / "a.de")
    changes = {
        "training.steps": "2000",
        "training.snapshot_every": "7",
        "data.source_tokens": "512",
        "data.target_tokens": "512",
        "data.vocabulary_size": "290",
    }
    recipe, reasons = recommend_recipe(text, changes, has_gpu=False, on_progress=lambda *_: None)
    training = recipe.training
    assert (training.warmup, training.snapshot_every, training.validate_every) == (1000, 7, 100)
    assert "a vocabulary of 290 symbols" in reasons[1]


def test_the_short_way_goes_on_by_the_folder_alone(train, call, corpus):
    train(*SHORT, *SMALL)
    ended = call("train", "-o", corpus / "run")
    assert ended.code == 0
    assert ended.stderr.startswith(f"going on from step 3 of {corpus / 'run'}\ntrained 3 steps")


def test_the_command_that_comes_next_can_be_pasted_though_a_folder_has_a_space(train, corpus):
    _, *words = shlex.split(train(*SHORT, *SMALL, run="my run").stderr.splitlines()[-1])
    assert words == ["transduce", "average", f"{corpus}/my run", "-o", "MODEL"]


def test_quiet_says_nothing(train):
    assert train(*TINY, "--quiet").stderr == ""


def test_a_finished_run_stays_as_it_is(again, trained):
    before = weights(trained)
    assert again().code == 0
    assert weights(trained) == before


def test_a_corpus_that_was_prepared_elsewhere(call, corpus):
    text = ("--source", corpus / "a.en", "--target", corpus / "a.de")
    call("prepare", "tiny", *text, "-o", corpus / "p")
    command = ("train", "tiny", "--store", corpus / "p", "-o", corpus / "run", *SHORT)
    assert call(*command).code == 0
    assert not (corpus / "run" / "store").exists()
    assert "going on from step 3" in call(*command).stderr
    assert call(*command, "--set", "data.max_length=200").stderr == (
        f"error: {corpus / 'p'}: was prepared with data.max_length = 256, the recipe says 200\n"
        "hint: prepare it anew, or change these settings of the recipe\n"
    )
    for name, option in (("a.en", "--source"), ("d.en", "--dev-source")):
        assert call(*command, option, corpus / name).stderr == (
            f"error: {option} and --store exclude each other: a store contains all texts\n"
            "hint: give one of them\n"
        )


def test_a_toy_whose_preparation_was_killed_is_prepared_again(call, corpus, monkeypatch):
    monkeypatch.setattr("transduce.runs.choice.HELD_OUT_PAIRS", 20)
    command = ("train", "toy-copy", "-o", corpus / "run", *SHORT, "--set", "data.max_pairs=50")
    (corpus / "run" / "store").mkdir(parents=True)
    assert call(*command).code == 0


def test_a_first_try_that_failed_does_not_spoil_the_second(train):
    assert train("tiny", *SHORT, source="none.en").code == 2
    assert train("tiny", *SHORT, "--set", "data.vocabulary_size=9999").code == 2
    assert train("tiny", *SHORT).code == 0


def test_another_recipe_is_refused_by_what_differs(again, trained):
    ended = again("--set", "training.warmup=11", "--set", "architecture.layers=3")
    assert ended.code == 2
    assert ended.stderr == (
        f"error: {trained}: this run was begun with another recipe: "
        "architecture.layers is 2 there and 3 here; training.warmup is 10 there and 11 here\n"
        "hint: go on with the settings it was begun with, or choose another folder\n"
    )


def test_an_unfinished_run_may_end_earlier_than_was_planned(again, trained):
    run_file, before = trained / "run.json", weights(trained)
    as_ended = run_file.read_bytes()
    update_run_recipe(trained, with_changes(read_run(trained).recipe, {"training.steps": 30}))
    assert run_file.read_bytes() != as_ended
    said = again("--set", "training.steps=20").stderr
    assert f"going on from step 20 of {trained}" in said
    assert "trained 20 steps in" in said
    assert (run_file.read_bytes(), weights(trained)) == (as_ended, before)


def test_the_last_step_can_be_put_off_and_not_brought_forward(again, trained):
    ended = again("--set", "training.steps=23")
    assert ended.code == 0
    assert "going on from step 20" in ended.stderr
    assert "trained 23 steps" in ended.stderr
    assert again("--set", "training.steps=21").stderr.startswith(
        f"error: {trained}: this run has trained 23 updates, and training.steps is 21 here\n"
    )


def test_a_checkpoint_with_the_name_of_a_later_step_is_not_trained_updates(again, trained):
    (trained / "checkpoints" / "step-00000020").rename(trained / "checkpoints" / "step-00000099")
    ended = again("--set", "training.steps=23")
    assert ended.code == 3
    assert "step-00000099/manifest.json: says that it is" in ended.stderr


def test_another_corpus_is_refused(again, corpus, trained):
    write(corpus / "a.en", ["other text"] * 200)
    ended = again()
    assert ended.code == 2
    fact, hint = ended.stderr.splitlines()
    assert fact == f"error: {trained / 'store'}: was prepared from another text than a.en"
    assert "delete" not in hint, "the run that has trained"


def test_a_run_goes_on_without_the_text_that_it_does_not_know(call, train, trained):
    refused = train("tiny")  # without the development set
    assert "store: was prepared with a development set\n" in refused.stderr
    assert "name no text to go on with this run" in refused.stderr
    assert call("train", "-o", trained).code == 0


def test_another_corpus_from_elsewhere_is_refused(call, again, corpus, trained):
    assert again().code == 0
    text = ("--source", corpus / "d.en", "--target", corpus / "d.de")
    call("prepare", "tiny", *text, "-o", corpus / "p")
    ended = call("train", "--store", corpus / "p", "-o", trained)
    assert ended.code == 2
    assert "run: this run was begun on another corpus: " in ended.stderr


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_a_damaged_checkpoint_is_reported_and_the_one_before_leads_to_the_same_end(
    again, trained, quiet
):
    before = weights(trained)
    file = trained / "checkpoints/step-00000020/moments.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    ended = again(*quiet)
    assert ended.code == 0
    assert "warning: step-00000020 cannot be used: " in ended.stderr
    assert "moments.safetensors: is not as it was written: expected " in ended.stderr
    assert ("going on from step 19 of" in ended.stderr) == (not quiet)
    assert weights(trained) == before


def test_a_run_whose_checkpoints_are_all_damaged_is_not_silently_started_anew(again, trained):
    for file in trained.glob("checkpoints/*/state.json"):
        file.write_bytes(b"{}")
    ended = again()
    assert ended.code == 3
    assert "none of its 2 checkpoints can be used: " in ended.stderr
    assert "\nhint: put back an intact copy of one, or delete them and" in ended.stderr


def drop_events(run, kind):
    log = run / "log.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(line for line in lines if json.loads(line)["event"] != kind))


def test_a_run_that_was_killed_before_its_first_checkpoint_says_that_it_begins_anew(again, trained):
    before = weights(trained)
    shutil.rmtree(trained / "checkpoints")
    drop_events(trained, "checkpoint")
    ended = again()
    assert ended.stderr.startswith(
        f"warning: {trained} ended before its first checkpoint: it begins anew\n"
    )
    assert weights(trained) == before


def test_a_run_whose_checkpoints_were_deleted_does_not_train_over_its_snapshots(again, trained):
    shutil.rmtree(trained / "checkpoints")
    log = (trained / "log.jsonl").read_bytes()
    ended = again("--quiet", "--set", "training.steps=40")
    assert ended.code == 3
    assert ended.stderr.startswith(
        f"error: {trained}: its checkpoints are gone, and it would begin anew over snapshots up to "
        f"step 20\nhint: put {trained}/checkpoints back, or average the snapshots; "
    )
    assert (trained / "log.jsonl").read_bytes() == log
    assert read_run(trained).recipe.training.steps == 20


def test_a_run_without_checkpoints_and_snapshots_says_that_it_begins_anew(again, trained):
    before = weights(trained)
    shutil.rmtree(trained / "checkpoints")
    shutil.rmtree(trained / "snapshots")
    ended = again("--quiet")
    assert ended.stderr == f"warning: the checkpoints of {trained} are gone: it begins anew\n"
    assert weights(trained) == before


def test_a_run_of_a_newer_version_is_refused(again, trained):
    values = json.loads((trained / "run.json").read_bytes())
    (trained / "run.json").write_bytes(add_checksum({**values, "format": FORMAT + 1}))
    ended = again()
    assert ended.code == 3
    assert (
        f"run.json: has format {FORMAT + 1}, and this version reads format {FORMAT} at most\n"
        in ended.stderr
    )
    assert "\nhint: install" in ended.stderr


@pytest.mark.parametrize("part", ["run.json", "store/prepared.json", "store/vocabulary.json"])
def test_an_edited_file_is_refused_by_name(again, trained, part):
    file = trained / part
    file.write_bytes(file.read_bytes().replace(b"2", b"3", 1))
    ended = again()
    assert ended.code == 3
    assert ended.stderr.startswith(f"error: {file}: ")
    assert "\nhint: " in ended.stderr


@pytest.mark.parametrize("name", ["a.en", "."])
def test_an_existing_folder_is_refused(train, corpus, name):
    ended = train("tiny", run=name)
    assert ended.code == 2
    assert ended.stderr == (
        f"error: {corpus / name}: exists and is no run\nhint: choose another name\n"
    )
    assert not (corpus / "lock").exists()


def test_a_run_that_another_process_holds_is_refused(again, trained):
    with lock_folder(trained):
        ended = again()
    assert ended.code == 6
    assert f"error: {trained}: another process works here (process " in ended.stderr
    assert ended.stderr.endswith("\nhint: wait for it to end, or choose another folder\n")


def test_numbers_that_leave_the_finite_world_end_the_run(train):
    ended = train("tiny", "--set=training.learning_rate_factor=1e30", "--set=training.threads=1")
    assert ended.code == 5
    assert "error: 10 updates in a row were not finite, the last at step " in ended.stderr
    assert "\nhint: a new run with a lower training.learning_rate_factor" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("tinny",), "unknown recipe 'tinny'\nhint: did you mean tiny?"),
        (("mine.toml",), "mine.toml: "),
        (("tiny", "--set", "training.step=3"), "unknown setting 'training.step'\nhint: did you m"),
        (("tiny", "--set", "layers=3"), "unknown setting 'layers'\nhint: did you mean archi"),
        (("--set", "training.step=3"), "unknown setting 'training.step'\nhint: did you mean trai"),
        (("--set", "training.steps=no"), "training.steps must be a whole number, not 'no'"),
        (("tiny", "--set", "architecture.d_model=31"), "architecture.d_model must be even, not "),
        (("tiny", "--set", "data.source_tokens=9"), "data.source_tokens is 9, but a sentence may"),
        (("tiny", "--set", "training.threads=-1"), "training.threads must not be negative, it is"),
        (("tiny", "--set", "training.seed=-1"), "training.seed must not be negative, it is -1"),
        (
            ("tiny", "--set", "training.seed=99999999999999999999"),
            "training.seed must be a whole number from -2^63 to 2^63 - 1",
        ),
        (("tiny", "--set", "training.threads=9999"), "training.threads is at most 1,024, not 9,"),
        (("tiny", "--set", "architecture.d_ff=99999"), "architecture.d_ff is at most 65,536, not"),
        (("tiny", "--set", "data.vocabulary_size=9999999999"), "data.vocabulary_size is at most "),
        (("tiny", "--stor", "p"), "unknown option --stor\nhint: did you mean --store"),
    ],
)
def test_wrong_usage_is_reported(train, arguments, answer):
    ended = train(*arguments)
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {answer}")


def test_a_model_that_no_memory_here_can_hold_is_refused_before_it_is_made(train, corpus):
    large = ("architecture.d_model=65536", "architecture.d_ff=65536", "architecture.layers=900")
    ended = train("tiny", *(part for setting in large for part in ("--set", setting)))
    assert ended.code == 8
    assert "error: to train this model takes more than " in ended.stderr
    assert "\nhint: a smaller architecture.d_model, or fewer" in ended.stderr
    assert not (corpus / "run" / "store").exists(), "nor is its corpus prepared"


@pytest.mark.parametrize("name", ["phrasebook", "wmt14-en-de"])
def test_a_corpus_of_lines_is_no_text_for_a_tagger(call, tmp_path, name):
    changes = ("--set", "data.task=tagging", "--set", f"data.corpus={name}")
    ended = call("train", "tiny", *changes, "-o", tmp_path / "run")
    assert ended.code == 2
    assert f"error: the corpus {name} is no text for tagging\nhint: --tags FILE" in ended.stderr


def test_a_copy_of_another_run_is_named_where_its_settings_are_refused(train, corpus):
    copy = ("--copy-to", corpus / "copy")
    assert train(*TINY, *SHORT, *copy, run="one").code == 0
    ended = train(*TINY, *SHORT, "--set", "training.seed=9", *copy, run="other")
    assert (ended.code, "training.seed is" in ended.stderr) == (2, True)
    assert f"delete {corpus / 'other'}, which was put back from it" in ended.stderr


def test_a_run_that_is_put_back_from_its_copy_is_noted_unless_quiet(train, corpus):
    words = (*TINY, *SHORT, "--copy-to", corpus / "copy")
    train(*words)
    for quiet, is_empty in [([], False), (["--quiet"], False), ([], True)]:
        shutil.rmtree(corpus / "run")
        if is_empty:
            (corpus / "run").mkdir()
        ended = train(*words, *quiet)
        assert (ended.code, "is put back from its copy" in ended.stderr) == (0, not quiet)
    assert "is put back" not in train(*words).stderr
