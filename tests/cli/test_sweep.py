"""transduce sweep: a run for each combination of settings, and a table of them, best first."""

import json
import shutil
import signal
from pathlib import Path

import pytest
from tests.cli.treebank import SETTINGS, TINY, write_treebank

from transduce.checkpoint.run_file import read_run
from transduce.errors import NotFiniteError
from transduce.runs import training_run
from transduce.runs.sweep import SweepRow, rank_row, warn_of_chance
from transduce.training import loop

VARY = ["--vary", "architecture.dropout=0.1,0.3", "--vary", "training.learning_rate_factor=2"]
NAMES = {
    "dropout=0.1,learning_rate_factor=2",
    "dropout=0.3,learning_rate_factor=2",
}


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    return write_treebank(tmp_path_factory.mktemp("bank"))


@pytest.fixture
def sweep(call, bank, tmp_path):
    """Sweep the part-of-speech tagger into a folder, tiny in all that does not vary."""
    files = ["--tags", bank / "train.pos", "--dev-tags", bank / "dev.pos"]

    def swept(*options):
        varied = {one.partition("=")[0] for one in options}
        settings = {path: value for path, value in SETTINGS.items() if path not in varied}
        tiny = [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]
        return call("sweep", "gum-pos", *files, *tiny, "-o", tmp_path / "sweep", *options)

    return swept


def test_every_combination_is_trained_once_and_resumed_with_the_best_first(sweep, tmp_path):
    ended = sweep(*VARY, "--json")
    assert ended.code == 0
    rows = [json.loads(line) for line in ended.stdout.splitlines()]
    assert {path.name for path in (tmp_path / "sweep").iterdir()} == {"store", *NAMES}
    assert {row["run"] for row in rows} == {str(tmp_path / "sweep" / name) for name in NAMES}
    ranks = [(-row["score"], row["perplexity"]) for row in rows]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) > 1
    for row in rows:
        log = (tmp_path / "sweep" / row["run"] / "log.jsonl").read_text().splitlines()
        (found,) = [one for one in map(json.loads, log) if one["event"] == "validation"]
        assert (found["step"], found["score"]["value"]) == (row["step"], row["score"])
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.safetensors")}
    again = sweep(*VARY, "--json", "--quiet")
    assert (again.stdout, again.stderr) == (ended.stdout, "")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.safetensors")} == written
    other = [one.replace("0.1", "1e-1").replace("=2", "=2.0") for one in VARY]
    assert sweep(*other, "--json", "--quiet").stdout == ended.stdout
    table = sweep(*VARY, "--quiet").stdout.splitlines()
    assert table[0] == (
        "| architecture.dropout | training.learning_rate_factor | accuracy (dev) "
        "| perplexity (dev) | step |"
    )
    assert len(table) == 2 + len(rows)
    assert table[2].startswith("| {:g} | {:g} | ".format(*rows[0]["settings"].values()))


def test_settings_of_the_search_train_once_and_decode_with_every_combination(
    call, bank, sweep, tmp_path
):
    vary = ["--vary", "search.beam=1,3", "--vary", "search.alpha=0,1"]
    ended = sweep(*vary, "--languages", "is", "--json")
    assert ended.code == 0
    rows = [json.loads(line) for line in ended.stdout.splitlines()]
    folders = {path.name for path in (tmp_path / "sweep").iterdir() if path.is_dir()}
    assert folders == {"store", "run", "run-model"}
    found = {tuple(row["settings"].values()): row["score"] for row in rows}
    assert list(found) == [(1, 0), (1, 1), (3, 0), (3, 1)]
    assert read_run(tmp_path / "sweep/run").recipe.data.source_language == "is"
    for (beam, alpha), score in found.items():
        search = [f"--beam={beam}", f"--alpha={alpha}", "--json"]
        told = call("evaluate", rows[0]["model"], bank / "dev.pos", *search)
        assert json.loads(told.stdout)["scores"][0]["value"] == score
    files = [*(tmp_path / "sweep").glob("*.json"), *tmp_path.rglob("*.safetensors")]
    assert len(files) > 4
    written = {path: path.stat().st_mtime_ns for path in files}
    again = sweep(*vary, "--languages", "is", "--json", "--quiet")
    assert (again.stdout, again.stderr) == (ended.stdout, "")
    assert {path: path.stat().st_mtime_ns for path in files} == written
    said = sweep(*vary, "--languages", "is").stderr
    equal = [row["score"] for row in rows[1:]].count(rows[0]["score"])
    assert equal > 0
    assert said.endswith(
        "run-model decodes best with search.beam=1 search.alpha=0; "
        f"{equal} of the other combinations score the same\n"
    )
    assert "note: the best leads by " in said


def test_a_search_of_every_trained_combination_is_swept_and_a_changed_score_is_refused(
    sweep, tmp_path
):
    vary = ["--vary", "architecture.dropout=0.1,0.3", "--vary", "search.beam=1,2"]
    rows = [json.loads(line) for line in sweep(*vary, "--json").stdout.splitlines()]
    assert len(rows) == 4
    assert {row["run"] for row in rows} == {
        str(tmp_path / f"sweep/dropout={rate}") for rate in (0.1, 0.3)
    }
    file = tmp_path / "sweep/dropout=0.1,beam=2.json"
    file.write_bytes(file.read_bytes().replace(b'"score": ', b'"score": 1'))
    ended = sweep(*vary)
    assert ended.code == 3
    assert f"error: {file}: is not as it was written" in ended.stderr


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["architecture.dropout=0.1,x"], "architecture.dropout must be a number, not 'x'"),
        (["architecture.dropout=0.1,2"], "architecture.dropout must lie in [0, 1), not 2.0"),
        (["architecture.dropout="], "architecture.dropout must be a number, not ''"),
        (["architecture.dropout=0.1,0.1"], "architecture.dropout has one of its values twice"),
        (["training.seed=1,01"], "training.seed has one of its values twice"),
        (["architecture.droput=1"], "unknown setting 'architecture.droput'\nhint: did you mean"),
        (["data.vocabulary_size=300,400"], "data.vocabulary_size cannot vary: the corpus is"),
        (
            ["architecture.dropout"],
            "--vary architecture.dropout: no value\nhint: --vary architecture.dropout=VALUE",
        ),
        (["training.seed=1", "training.seed=2"], "--vary names a setting twice"),
        ([], "missing option '--vary'"),
    ],
)
def test_settings_that_cannot_vary_are_refused_before_anything_is_written(
    sweep, tmp_path, options, error
):
    ended = sweep(*(word for one in options for word in ("--vary", one)))
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.lower().startswith(f"error: {error}".lower())
    assert not (tmp_path / "sweep").exists()


@pytest.mark.parametrize(
    ("vary", "code", "fact"),
    [
        ("search.beam=1,9999", 2, "with 9,999 hypotheses may need "),
        ("architecture.d_model=16,65536", 8, "to train this model takes more than "),
    ],
)
def test_a_combination_that_cannot_be_afforded_is_refused_before_any_is_trained(
    sweep, tmp_path, vary, code, fact
):
    ended = sweep("--vary", vary, "--set", "architecture.layers=900")
    assert (ended.code, ended.stdout) == (code, "")
    assert fact in ended.stderr
    assert {path.name for path in (tmp_path / "sweep").iterdir()} == {"store"}


def test_one_value_for_all_runs_of_a_setting_that_varies_is_refused(sweep, tmp_path):
    ended = sweep("--vary", "architecture.dropout=0.1,0.3", "--set", "architecture.dropout=0.2")
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr == (
        "error: architecture.dropout varies, and another setting gives it one value for all runs\n"
        "hint: leave this one out, or vary something else\n"
    )
    assert not (tmp_path / "sweep").exists()


def test_a_combination_that_a_chosen_recipe_forbids_is_refused_before_any_is_trained(
    call, bank, tmp_path
):
    files = ["--tags", bank / "train.pos", "--dev-tags", bank / "dev.pos"]
    vary = ("--vary", "architecture.tie_embeddings=target,all")
    ended = call("sweep", *files, *vary, "-o", tmp_path / "s")
    assert ended.code == 2
    assert "tie_embeddings is 'all'" in ended.stderr
    assert not list((tmp_path / "s").glob("*/run.json"))


def test_a_run_that_diverges_is_last_and_the_others_are_trained(sweep, tmp_path, monkeypatch):
    whole = loop.require_finite_updates

    def diverge(progress, training, folder):
        if training.learning_rate_factor == 9:
            raise NotFiniteError("10 updates in a row were not finite")
        whole(progress, training, folder)

    monkeypatch.setattr(loop, "require_finite_updates", diverge)
    vary = ["--vary", "training.learning_rate_factor=9,2", "--set", "training.steps=2"]
    validate = ["--set", "training.validate_every=2"]
    ended = sweep(*vary, *validate, "--scale", "gpu-hour", "--json")
    assert ended.code == 0
    good, bad = map(json.loads, ended.stdout.splitlines())
    assert (good["settings"], good["failure"]) == ({"training.learning_rate_factor": 2}, "")
    assert (bad["perplexity"], bad["failure"]) == (None, "10 updates in a row were not finite")
    assert "warning: 10 updates in a row were not finite; the sweep goes on\n" in ended.stderr
    assert "learning_rate_factor=2 (2 of 2)\n" in ended.stderr
    assert "step       1 of 2  loss " in ended.stderr  # the progress of each run
    worst = SweepRow({}, tmp_path, 4, 900.0, 0.0, "BLEU")
    diverged = SweepRow({}, tmp_path, 0, 1.0, None, "", failure="diverged")
    assert rank_row(worst) < rank_row(diverged)


def build_rows(*found, path="architecture.dropout", lines=400):
    return [
        SweepRow({path: n, "training.seed": seed}, Path("run"), 4, 9.0, score, "BLEU", lines)
        for n, seed, score in found
    ]


def test_a_lead_that_may_be_chance_is_said():
    rows = build_rows((1, 1, 50.0), (1, 2, 49.9), (2, 1, 48.0), (2, 2, 47.0))
    assert warn_of_chance(rows) == (
        "the best leads by 2.00 BLEU, which may be chance: a share of 400 lines has a standard "
        "error of 2.5; more lines would tell"
    )
    for row in rows:
        del row.settings["training.seed"]
    assert "or several seeds (--vary training.seed=1,2,3) would tell" in warn_of_chance(rows)
    assert warn_of_chance(build_rows((1, 1, 50.0), (2, 1, 47.4))) == ""
    assert warn_of_chance(build_rows((1, 1, 50.0), (1, 2, 49.0))) == ""
    assert warn_of_chance(build_rows((1, 1, None), (2, 1, None))) == ""
    searched = build_rows((1, 1, 50.0), (2, 1, 49.0), path="search.beam")
    assert warn_of_chance(searched).endswith("; more lines would tell")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGXCPU, 152)]
)
def test_a_signal_keeps_the_last_finished_update_of_a_sweep_and_it_resumes_there(
    sweep, tmp_path, monkeypatch, raise_at_step_3, number, code
):
    handlers = [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGXCPU)]
    raise_at_step_3(number)
    vary = ["--vary", "training.seed=1,2"]
    ended = sweep(*vary, "--no-progress")
    assert (ended.code, ended.stdout) == (code, "")
    run = tmp_path / "sweep/seed=1"
    assert f"\nstopped at step 3 of 10, kept in {run}\nerror: " in ended.stderr
    assert ended.stderr.count("hint: the same command ") == 1
    assert [path.name for path in (run / "checkpoints").iterdir()] == ["step-00000003"]
    assert not (tmp_path / "sweep/seed=2").exists()
    assert [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGXCPU)] == handlers
    monkeypatch.undo()
    resumed = sweep(*vary, "--no-progress")
    assert resumed.code == 0
    assert f"going on from step 3 of {run}" in resumed.stderr
    assert "| 2 | " in resumed.stdout


def test_without_a_development_set_nothing_is_written(call, bank, tmp_path):
    files = ["--tags", bank / "train.pos", "--vary", "training.seed=1", "-o", tmp_path / "sweep"]
    ended = call("sweep", "gum-pos", *files, *TINY)
    assert ended.code == 2
    assert "error: a sweep compares by a development set\nhint: --dev-source FILE " in ended.stderr
    assert not (tmp_path / "sweep").exists()


def test_one_s_own_text_is_swept_without_a_recipe_and_a_development_set(call, tmp_path):
    text = [f"line {n}\tenil {n}" for n in range(2_000)]
    (tmp_path / "a.tsv").write_text("".join(f"{line}\n" for line in text))
    shape = "training.steps=2 architecture.layers=1 training.validate_every=2 training.threads=1"
    shape += " training.validate_lines=2 search.extra_length=2 architecture.d_model=16"
    settings = [word for one in shape.split() for word in ("--set", one)]
    vary = ("--vary", "architecture.dropout=0.1,0.3")
    command = ("sweep", "--pairs", tmp_path / "a.tsv", "-o", tmp_path / "s", *vary, *settings)
    ended = call(*command, "--json")
    assert ended.code == 0
    assert ended.stderr.count("on this machine, by a measurement: ") == 1
    assert "no development set was named, so 200 pairs are held out" in ended.stderr
    rows = [json.loads(row) for row in ended.stdout.splitlines()]
    assert {row["settings"]["architecture.dropout"] for row in rows} == {0.1, 0.3}
    assert {row["score_name"] for row in rows} == {"BLEU"}
    assert call(*command, "--json", "--quiet").stdout == ended.stdout


def test_a_quiet_sweep_measures_nothing(sweep, monkeypatch):
    monkeypatch.delattr(training_run, "measure_pace")
    assert sweep("--vary", "training.seed=1", "--quiet").code == 0


def test_a_sweep_of_nothing_is_refused(call, tmp_path):
    ended = call("sweep", "--vary", "training.seed=1", "-o", tmp_path / "s")
    assert ended.code == 2
    assert ended.stderr.startswith("error: neither a recipe nor a text was named\n")
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("name", ["run.json", "keep.txt"])
def test_a_folder_of_other_things_is_left_alone(sweep, tmp_path, name):
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / name).write_text("mine")
    ended = sweep("--vary", "training.seed=1")
    assert (ended.code, "no sweep" in ended.stderr) == (2, True), ended.stderr
    assert [one.name for one in (tmp_path / "sweep").iterdir()] == [name]


def test_a_sweep_whose_store_was_deleted_goes_on_with_the_same_text(sweep, tmp_path):
    ended = sweep(*VARY, "--json", "--quiet")
    shutil.rmtree(tmp_path / "sweep" / "store")
    again = sweep(*VARY, "--json", "--quiet")
    assert (again.code, again.stdout) == (0, ended.stdout)
    shutil.rmtree(tmp_path / "sweep")
    (tmp_path / "sweep" / "photos").mkdir(parents=True)
    assert "exists and is no sweep" in sweep(*VARY).stderr
