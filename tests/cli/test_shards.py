"""transduce translate --shard and merge: one output, however many shards a text was cut into."""

import functools
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.faults.test_refused import write_directly
from tests.forked import Forked

from transduce.cli import line_outputs, translate
from transduce.cli.main import transduce
from transduce.cli.on_ray import list_words, wait_for_all
from transduce.cli.outcome import run
from transduce.cli.translate import command
from transduce.errors import InputError
from transduce.inference.shards import Shard, parse_shard

FAST = ("--beam=1", "--extra-length=1", "--no-progress")
DRAWN = ("--sample", "--nbest=2", "--extra-length=1")
LINES = [f"the {word} sees {number} cats" for number in range(300) for word in ("dog", "cat")]


@pytest.fixture
def text(tmp_path):
    """A text of three blocks of lines."""
    file = tmp_path / "text.en"
    file.write_text("".join(f"{line}\n" for line in LINES))
    return file


@pytest.fixture
def shards(call, babbler, text):
    """Return a function that translates shards of the text into a folder; the folder."""

    def write(count, *options, numbers=None):
        folder = text.parent / f"of-{count}"
        for number in numbers or range(count, 0, -1):
            shard = ("--shard", f"{number}/{count}", "-o", folder)
            ended = call("translate", babbler, text, *(options or FAST), *shard)
            assert ended.code == 0, ended.stderr
            assert f"the shard: {folder}/shard-{number}-of-{count}\n" in ended.stderr
        return folder

    return write


@pytest.fixture(scope="module")
def three_shards(babbler, tmp_path_factory):
    """A text in three shards, translated once."""
    folder = tmp_path_factory.mktemp("shards")
    file = folder / "text.en"
    file.write_text("".join(f"{line}\n" for line in LINES))
    for number in (3, 2, 1):
        shard = ("--shard", f"{number}/3", "-o", f"{folder}/of-3")
        assert run(transduce, ["translate", f"{babbler}", f"{file}", *FAST, *shard]) == 0
    return folder / "of-3"


@pytest.mark.parametrize("options", [FAST, DRAWN])
def test_any_number_of_shards_in_any_order_gives_one_output(call, babbler, text, shards, options):
    whole = call("merge", shards(1, *options)).stdout
    assert len(set(whole.splitlines())) > 10
    for count in (3, 8):
        assert call("merge", shards(count, *options)).stdout == whole
    if options is FAST:
        assert call("translate", babbler, text, *options).stdout == whole


def die_at_line(number):
    """Let this process kill itself before it writes a line of its shard."""
    count, write = itertools.count(1), line_outputs.format_outputs

    def format_outputs(*given, **how):
        if next(count) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return write(*given, **how)

    vars(translate)["format_outputs"] = format_outputs


def die_before_its_name():
    """Let this process kill itself before the folder of its shard gets its name."""

    def hear(event, values):
        if event == "os.rename" and "shard-" in str(values[1]):
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hear)


def run_killed(die, *words):
    """Run a command in a process of its own, which kills itself."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    typed, env = [str(word) for word in words], os.environ | {"OMP_NUM_THREADS": "1"}
    with Forked(typed, cwd=Path.cwd(), env=env, preexec_fn=die, **streams) as process:
        _, said = process.communicate()
    assert process.returncode == -signal.SIGKILL, said


def test_shards_that_are_killed_twice_are_merged_to_the_text_of_one_process(
    call, babbler, text, shards, record
):
    folder = text.with_name("of-3")
    for number in (3, 2, 1):
        command = ("translate", babbler, text, *DRAWN, "--shard", f"{number}/3", "-o", folder)
        for die in (functools.partial(die_at_line, 90), die_before_its_name):
            run_killed(die, *command)
            assert not (folder / f"shard-{number}-of-3").exists()
            assert [*folder.glob(f".tmp-*-shard-{number}-of-3/output.txt")]
        assert call(*command).code == 0
    assert call("merge", folder).stdout == call("merge", shards(1, *DRAWN)).stdout
    assert len([*folder.iterdir()]) == 3
    record(kills=6)


def write_under_its_name():
    write_directly(pytest.MonkeyPatch())
    die_at_line(90)


def test_the_control_that_writes_a_shard_under_its_name_is_caught(babbler, text):
    folder = text.with_name("of-3")
    run_killed(
        write_under_its_name, "translate", babbler, text, *DRAWN, "--shard=1/3", "-o", folder
    )
    assert (folder / "shard-1-of-3").exists(), "half a shard"


def test_lines_are_cut_into_whole_blocks_without_gap_or_overlap():
    for total in (0, 1, 249, 250, 251, 7_777):
        for count in (1, 2, 3, 8, 50):
            parts = [Shard(count, number).find_lines(total) for number in range(1, count + 1)]
            assert [line for part in parts for line in part] == list(range(total))
            assert all(part.start % 250 == 0 for part in parts if part)


def test_a_shard_that_is_there_is_not_translated_again(call, babbler, text, shards):
    folder = shards(3, numbers=[2])
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    ended = call("translate", babbler, text, *FAST, "--shard=2/3", "-o", folder)
    assert "shard-2-of-3 is written already" in ended.stderr
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    ended = call("translate", babbler, text, "--beam=2", "--shard=2/3", "-o", folder)
    assert (ended.code, "of another search" in ended.stderr) == (2, True)
    (folder / "shard-2-of-3").rename(folder / "shard-1-of-3")
    ended = call("translate", babbler, text, *FAST, "--shard=1/3", "-o", folder)
    assert (ended.code, "was renamed: it is another shard" in ended.stderr) == (3, True)
    (folder / "shard-1-of-3").rename(folder / "shard-2-of-3")
    half = ("--precision=bfloat16", "--shard=2/3")
    ended = call("translate", babbler, text, *FAST, *half, "-o", folder)
    assert (ended.code, "of another precision" in ended.stderr) == (2, True)


def test_aligned_shards_belong_together(call, babbler, text, tmp_path):
    shard = ("translate", babbler, text, *FAST, "--align", "-o", tmp_path / "aligned", "--shard")
    ended = [call(*shard, number) for number in ("1/2", "2/2", "1/2")]
    assert [one.code for one in ended] == [0, 0, 0]
    assert "is written already" in ended[2].stderr


def test_a_shard_belongs_to_its_prefixes_and_to_how_it_was_drawn(call, babbler, text, shards):
    prefixes = text.with_name("prefixes")
    prefixes.write_text("no\n" * len(LINES))
    folder = shards(3, *DRAWN, numbers=[2])
    for other in (("--prefix", prefixes), ("--penalty=none",)):
        ended = call("translate", babbler, text, *DRAWN, *other, "--shard=2/3", "-o", folder)
        assert (ended.code, "is there already, of another" in ended.stderr) == (2, True)


def test_prefixes_of_a_shard_are_as_many_as_the_lines_of_the_text(call, babbler, text):
    prefixes = text.with_name("prefixes")
    for lines in (len(LINES) - 1, len(LINES) + 1):
        prefixes.write_text("no\n" * lines)
        shard = ("--prefix", prefixes, "--shard=1/3", "-o", text.parent / "s")
        ended = call("translate", babbler, text, *FAST, *shard)
        assert (ended.code, f"{lines} prefixes for 600 lines" in ended.stderr) == (2, True)


def break_nothing(folder: Path) -> None:
    shutil.rmtree(folder / "shard-2-of-3")


def rename(folder: Path) -> None:
    (folder / "shard-2-of-3").rename(folder / "aside")
    shutil.copytree(folder / "shard-1-of-3", folder / "shard-2-of-3")


def misspell(folder: Path) -> None:
    (folder / "shard-2-of-3").rename(folder / "shard-02-of-3")


def mix(folder: Path) -> None:
    shutil.copytree(folder / "shard-2-of-3", folder / "shard-2-of-8")


def change(folder: Path) -> None:
    with (folder / "shard-2-of-3" / "output.txt").open("r+") as file:
        file.write("#")


@pytest.mark.parametrize(
    ("damage", "fact", "code"),
    [
        (break_nothing, "lacks 1 of 3 shards: 2", 2),
        (rename, "was renamed: it is another shard", 3),
        (misspell, "lacks 1 of 3 shards: 2", 2),
        (mix, "holds shards of 3 and of 8", 2),
        (change, "sha256", 3),
    ],
)
def test_what_does_not_fit_together_is_not_merged(call, three_shards, tmp_path, damage, fact, code):
    folder = shutil.copytree(three_shards, tmp_path / "of-3")
    damage(folder)
    ended = call("merge", folder, "-o", tmp_path / "merged")
    assert (ended.code, fact in ended.stderr) == (code, True), ended.stderr
    assert not (tmp_path / "merged").exists()


def test_a_shard_that_could_not_be_merged_is_not_begun(call, babbler, text, shards):
    folder = shards(2, numbers=[1])
    for options, fact in (
        (("--shard=2/3",), "has shards of 2, and this one is of 3"),
        (("--beam=2", "--shard=2/2"), "has shard-1-of-2, of another search"),
    ):
        ended = call("translate", babbler, text, *FAST, *options, "-o", folder)
        assert (ended.code, fact in ended.stderr) == (2, True), ended.stderr
    text.write_text(text.read_text() + "one more\n")
    ended = call("translate", babbler, text, *FAST, "--shard=2/2", "-o", folder)
    assert (ended.code, "of another text" in ended.stderr) == (2, True)


def test_shards_of_two_texts_are_not_merged(call, text, shards, tmp_path):
    folder = shards(2, numbers=[1])
    aside = (folder / "shard-1-of-2").rename(tmp_path / "shard-1-of-2")
    text.write_text(text.read_text() + "one more\n")
    shards(2, numbers=[2])
    aside.rename(folder / aside.name)
    ended = call("merge", folder)
    assert (ended.code, "another text than shard-1-of-2" in ended.stderr) == (2, True)


def test_shards_of_two_models_are_not_merged(call, babbler, shards, tmp_path):
    folder = shards(2, numbers=[1])
    aside = (folder / "shard-1-of-2").rename(tmp_path / "shard-1-of-2")
    shards(2, *FAST, "--ensemble", babbler, numbers=[2])
    aside.rename(folder / aside.name)
    ended = call("merge", folder)
    assert (ended.code, "has other models than shard-1-of-2" in ended.stderr) == (2, True)


def test_a_task_of_a_slurm_array_is_a_shard():
    names = {"SLURM_ARRAY_TASK_ID": "12", "SLURM_ARRAY_TASK_MIN": "10"}
    four = names | {"SLURM_ARRAY_TASK_COUNT": "4"}
    assert parse_shard("slurm", four) == Shard(4, 3)
    every_third = {"SLURM_ARRAY_TASK_ID": "16", "SLURM_ARRAY_TASK_STEP": "3"}
    assert parse_shard("slurm", four | every_third) == Shard(4, 3)
    wrong = (four | {"SLURM_ARRAY_TASK_MIN": "?"}, four | {"SLURM_ARRAY_TASK_ID": "9" * 5_000})
    for one in (names, *wrong):
        with pytest.raises(InputError, match="SLURM_ARRAY_TASK_COUNT"):
            parse_shard("slurm", one)


@pytest.mark.parametrize("text", ["0/3", "4/3", "1/0", "-1/3", "1", "a/b", "1/3/5", "1/999999", ""])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(InputError, match="is no shard"):
        parse_shard(text, {})


def test_a_shard_needs_a_folder_and_a_file(call, babbler, text):
    ended = call("translate", babbler, text, "--shard=1/2")
    assert (ended.code, "needs a folder" in ended.stderr) == (2, True)
    ended = call("translate", babbler, "--shard=1/2", "-o", text.parent / "s", stdin=b"a\n")
    assert (ended.code, "a part of a text file" in ended.stderr) == (2, True)


def test_a_manifest_says_what_its_output_depends_on(shards):
    about = json.loads((shards(1) / "shard-1-of-1" / "manifest.json").read_text())
    assert about["text"]["lines"] == len(LINES)
    assert about["how"]["search"]["beam"] == 1
    assert len(about["how"]["models"][0]) == 64


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (("--on=ray",), "--on translates shards"),
        (("--on=ray", "--shard=2/8", "-o=x"), "--on ray translates all shards, and --shard is"),
        (("--on=ray", "--shard=all/0", "-o=x"), "--on ray translates all shards, and --shard is"),
        (("--on=dask", "--shard=all/2", "-o=x"), "--on 'dask' is not known"),
        (("--on=ray=nowhere", "--shard=all/2", "-o=x"), "no Ray cluster answers at 'nowhere'"),
    ],
)
def test_ray_gets_all_shards_or_none(call, babbler, text, words, fact):
    ended = call("translate", babbler, text, *words)
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {fact}")


def test_without_ray_a_sentence_says_what_to_install(call, babbler, text, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    ended = call("translate", babbler, text, "--on=ray", "--shard=all/2", "-o", text.parent / "x")
    assert ended.stderr == "error: Ray is not installed, and --on needs it\nhint: pip install ray\n"


def test_a_cluster_that_ray_cannot_join_is_a_sentence(call, babbler, text, monkeypatch):
    found: dict[str, str] = {}

    def refuse(*_, **__):
        found.update(os.environ)
        raise ConnectionError("Failed to connect to Ray cluster at 127.0.0.1:1")

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=refuse))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    ended = call("translate", babbler, text, "--on=ray", "--shard=all/2", "-o", text.parent / "x")
    assert (ended.code, ended.stderr.count("\n")) == (2, 2)
    assert ended.stderr.startswith("error: Ray does not start: Failed to connect to Ray cluster")
    assert found["RAY_USAGE_STATS_ENABLED"] == "0"


def test_a_task_gets_the_words_that_were_typed_and_one_core():
    words = ["m", "t.en", "-o", "x", "--quiet", "--ensemble", "a", "--ensemble", "b", "--on", "ray"]
    with command.make_context("translate", words) as context:
        found = list_words(context)
    assert found[:-2] == [
        *("translate", "--output=x", "--ensemble=a", "--ensemble=b", "--quiet", "--workers=1", "--")
    ]
    assert found[-2:] == ["m", "t.en"]


def test_a_shard_that_failed_on_ray_is_reported_with_its_command_s_hint(capsys):
    ray = SimpleNamespace(
        wait=lambda left: (left[:1], left[1:]),
        get=lambda task: task,
        exceptions=SimpleNamespace(RayError=LookupError),
    )
    tasks = {(0, ""): 1, (2, "a note\nerror: m: no model\nhint: check the path\n"): 2}
    assert wait_for_all(ray, tasks, 2) == 2
    report = "error: shard 2 of 2 ended with 2: m: no model\nhint: check the path\n"
    assert capsys.readouterr().err == f"1 of 2 shards ended\n{report}"
