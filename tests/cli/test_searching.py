"""transduce translate: prefixes, samples, ensembles, and options that exclude each other."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.cli.language import write
from tests.training.run import train_folder
from tests.training.tiny import training_of

from transduce.checkpoint.run_file import create_run
from transduce.cli.outcome import Terminated
from transduce.cli.searching import load_in_worker, warn_if_unfinished
from transduce.machine.device import Processor
from transduce.settings import Recipe
from transduce.training.progress import ValidationResult

FAST = ("--extra-length=1",)
LINES = b"the dog sees a cat.\n\na woman\nwho runs now\n"


@pytest.fixture
def translate(call, babbler):
    """Return a function that translates bytes on standard input, and returns the output lines."""

    def translated(*options, data=LINES, model=babbler):
        ended = call("translate", model, *FAST, *options, stdin=data)
        assert (ended.code, ended.stderr) == (0, "")
        return ended.stdout[:-1].split("\n")

    return translated


@pytest.fixture
def refused(call, babbler):
    """Return a function that calls the command with options, and returns its error."""

    def answer(*options, data=LINES):
        ended = call("translate", babbler, *FAST, *options, stdin=data)
        assert (ended.code, ended.stdout) == (2, "")
        return ended.stderr

    return answer


def test_outputs_begin_with_their_prefixes(translate, tmp_path):
    prefixes = write(tmp_path / "prefixes", ["ein", "", "", "wer"])
    free, forced = translate("--beam=1"), translate("--beam=1", "--prefix", prefixes)
    assert forced[1:3] == free[1:3]
    assert forced[0].startswith("ein")
    assert forced[3].startswith("wer")
    assert forced != free


def test_prefixes_may_come_from_standard_input(call, babbler, translate, tmp_path):
    lines = tmp_path / "lines"
    lines.write_bytes(LINES)
    prefixes = write(tmp_path / "prefixes", ["ein", "", "", "wer"])
    options = ("--beam=1", "--extra-length=1", "--prefix")
    piped = call("translate", babbler, lines, *options, "-", stdin=prefixes.read_bytes())
    assert piped.stdout[:-1].split("\n") == translate("--beam=1", "--prefix", prefixes)


@pytest.mark.parametrize(
    ("prefixes", "answer"),
    [
        (["a"], "error: the prefixes end after line 1, but the input goes on\nhint: one prefix"),
        (["a", "", "", "", "b"], "error: the input ends after line 4, but the prefixes go on\n"),
        (["", "a", "", ""], "error: line 2: its text is empty, but its prefix is not\nhint: an"),
        (["", "", "x" * 99, ""], "error: line 3: its prefix has 99 pieces, and its output at most"),
    ],
)
def test_prefixes_that_do_not_fit_are_refused(refused, tmp_path, prefixes, answer):
    assert refused("--prefix", write(tmp_path / "prefixes", prefixes)).startswith(answer)


def test_a_file_of_prefixes_that_is_not_there_is_refused(refused, tmp_path):
    answer = refused("--prefix", tmp_path / "nowhere")
    assert answer.startswith(f"error: {tmp_path}/nowhere: cannot be read (No such file")


def test_samples_depend_on_the_seed_and_on_their_line_only(translate):
    def sample(*options):
        rows = [row.split("\t") for row in translate("--sample", "--nbest=3", *options)]
        return [[row[0], row[3]] for row in rows]  # scores agree to rounding only

    rows = sample()
    assert [row[0] for row in rows] == ["1"] * 3 + ["2"] + ["3"] * 3 + ["4"] * 3
    assert len({text for _, text in rows}) == 10
    assert sample("--batch-size=1", "--seed=1") == rows
    assert sample("--line-buffered") == rows
    assert sample("--seed=2") != rows
    assert translate("--sample") == [rows[row][1] for row in (0, 3, 4, 7)]
    last = translate("--sample", data=b"\n\n\n" + LINES.splitlines()[3])
    assert last[3] == rows[7][1]


def test_drawing_from_the_likeliest_only_is_greedy_search(translate):
    greedy = translate("--beam=1")
    assert translate("--sample", "--top-k=1") == greedy
    assert translate("--sample", "--top-p=0.000001") == greedy
    assert translate("--sample", "--temperature=0.00001") == greedy
    assert translate("--sample", "--temperature=1.5", "--top-k=50", "--top-p=0.9") != greedy


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (
            ("--temperature=0.5",),
            "error: --temperature is for sampling\nhint: add --sample\n",
        ),
        (("--seed=3",), "error: --seed is for sampling\nhint: add --sample\n"),
        (
            ("--sample", "--beam=4"),
            "error: --sample and --beam exclude each other\n"
            "hint: give one of them; --nbest is the number of samples\n",
        ),
        (("--sample", "--stop=early"), "error: --sample and --stop exclude each other"),
        (("--sample", "--top-k=-1"), "error: sampling.top_k must be a count, or 0 for all"),
        (("--sample", "--temperature=0"), "error: sampling.temperature must be a number above 0"),
        (
            ("--prefix=-",),
            "error: standard input can be one of the files only\nhint: name the other\n",
        ),
        (
            ("--workers=2", "--line-buffered"),
            "error: --workers and --line-buffered exclude each other: workers read many",
        ),
        (("--workers=0",), "error: invalid value for '--workers'"),
    ],
)
def test_options_that_exclude_each_other_are_refused(refused, options, answer):
    assert refused(*options).startswith(answer)


def scores(rows):
    return [float(row.split("\t")[1]) for row in rows]


def test_an_ensemble_of_equal_models_gives_the_outputs_of_one(translate, babbler):
    once, twice = translate("--nbest=2"), translate("--nbest=2", "--ensemble", babbler)
    assert [row.split("\t")[3] for row in twice] == [row.split("\t")[3] for row in once]
    assert scores(twice) == pytest.approx(scores(once), abs=2e-4)


def test_the_order_of_an_ensemble_s_models_does_not_matter(translate, babbler, made):
    both = translate("--beam=1", "--ensemble", made / "model")
    assert both == translate("--beam=1", "--ensemble", babbler, model=made / "model")
    assert both != translate("--beam=1")


def test_models_with_other_vocabularies_are_refused(call, babbler, tmp_path):
    from transduce.checkpoint.stored_model import load_model, save_model
    from transduce.vocabulary.learn import learn_vocabulary
    from transduce.vocabulary.vocabulary import Vocabularies

    model = load_model(babbler)
    size = len(model.vocabularies.source)
    other = learn_vocabulary(["other words of another language, unlike the first"] * 99, size=270)
    rows = {name: w[:270] if w.shape[0] == size else w for name, w in model.weights.items()}
    save_model(tmp_path / "other", rows, model.recipe, Vocabularies(other, other), "# Other\n")
    ended = call("translate", babbler, "--ensemble", tmp_path / "other", stdin=LINES)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"error: {tmp_path}/other: its source vocabulary is not that of the first model\n"
        "hint: the models of an ensemble are trained on one prepared corpus\n"
    )


def test_models_of_one_vocabulary_and_other_languages_are_no_ensemble(call, babbler, tmp_path):
    from transduce.checkpoint.stored_model import load_model, save_model
    from transduce.settings.recipe import with_changes

    model = load_model(babbler)
    back = with_changes(model.recipe, {"data.source_language": "de", "data.target_language": "en"})
    save_model(tmp_path / "back", model.weights, back, model.vocabularies, "# Back\n")
    ended = call("translate", babbler, "--ensemble", tmp_path / "back", stdin=LINES)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"error: {tmp_path}/back: its source language is de, and the first model's is en\n"
        "hint: name models of one direction\n"
    )


def test_an_ensemble_in_python_is_that_of_the_command_line(translate, babbler, made):
    import transduce

    translator = transduce.load(babbler, made / "model").searching(beam=1, extra_length=1)
    lines = LINES.decode().split("\n")[:-1]
    assert translator(lines) == translate("--beam=1", "--ensemble", made / "model")


def test_prefix_samples_and_ensemble_go_together_as_json(translate, made, tmp_path):
    prefixes = write(tmp_path / "prefixes", ["ein", "", "", "wer"])
    options = ("--sample", "--nbest=2", "--ensemble", made / "model", "--prefix", prefixes)
    found = [json.loads(line)["outputs"] for line in translate(*options, "--json")]
    assert [len(outputs) for outputs in found] == [2, 1, 2, 2]
    assert all(one["text"].startswith("ein") for one in found[0])
    assert all(one["text"].startswith("wer") for one in found[3])


def test_the_step_is_reported_that_is_taken_of_an_unfinished_run(call, trained, tmp_path):
    source, reference = write(tmp_path / "a", [""]), write(tmp_path / "b", ["the dog"])
    commands = [
        ("translate", trained, source),
        ("evaluate", trained, source, reference),
        ("likelihood", trained, source, reference),
    ]
    assert not any("is not finished" in call(*command).stderr for command in commands)
    shutil.rmtree(trained / "checkpoints/step-00000020")
    for command in commands:
        ended = call(*command)
        assert ended.code == 0
        assert f"{trained} is not finished: using step 19 of 20\n" in ended.stderr
    with (trained / "log.jsonl").open("a") as log:  # no result depends on it
        log.write('{"event": "finish", "step": 19}\n')
    assert all("is not finished" in call(*command).stderr for command in commands)
    (trained / "checkpoints/step-99999999").write_text("of another program")
    assert f"{trained} is not finished: using step 19 of" in call(*commands[0]).stderr


def test_a_run_that_early_stopping_ended_is_finished(tmp_path, capsys):
    training = training_of(steps=9, validate_every=1, patience=1)
    create_run(tmp_path, replace(Recipe(name="tiny"), training=training), {})
    train_folder(tmp_path, training, stop_at=1, validate=lambda _: ValidationResult(nats=1.0))
    warn_if_unfinished([tmp_path])
    assert f"{tmp_path} is not finished: using step 1 of 9\n" in capsys.readouterr().err
    train_folder(tmp_path, training, validate=lambda _: ValidationResult(nats=1.0))
    warn_if_unfinished([tmp_path])
    assert capsys.readouterr().err == ""


def test_a_worker_whose_command_is_gone_before_it_loads_ends_quietly(monkeypatch):
    def is_orphan(_):
        raise Terminated

    parent = SimpleNamespace(pid=1)
    monkeypatch.setattr("transduce.cli.signals.die_with_parent", is_orphan)
    monkeypatch.setattr("multiprocessing.parent_process", lambda: parent)
    with pytest.raises(SystemExit) as end:  # which multiprocessing prints nothing about
        load_in_worker(lambda: pytest.fail("the models are loaded"))
    assert end.value.code == 143


def test_auto_says_on_stderr_which_precision_it_chose_and_why(call, babbler, monkeypatch):
    measured = Processor("AuthenticAMD", frozenset({"avx2"}))
    monkeypatch.setattr("transduce.inference.load.read_processor", lambda: measured)
    monkeypatch.setattr("transduce.inference.load.unsupported_int8_reason", lambda: "")
    ended = call("translate", babbler, *FAST, "--precision=auto", stdin=LINES)
    assert ended.code == 0
    assert ended.stderr.splitlines()[0] == (
        "precision auto: int8, whose BLEU was that of float32 on an AMD processor without AVX-512"
    )
    quiet = call("translate", babbler, *FAST, "--precision=auto", "--quiet", stdin=LINES)
    assert (quiet.stdout, quiet.stderr) == (ended.stdout, "")
