"""transduce translate: one output line for each line, and refusals of inputs and folders."""

import gc
import gzip
import json
import os
import shutil
import subprocess
import sys

import pytest
from tests.cli.language import write

from transduce.cli.display import note_typed_lines
from transduce.durable.json import FORMAT, add_checksum
from transduce.paper.model import Linear

FAST = ("--beam=1", "--extra-length=1")  # of a model with initial weights
LINES = ["the dog sees a cat.", "", "a woman", "who runs now and not today"]


@pytest.fixture
def translate(call, babbler):
    """Return a function that translates bytes on standard input, and returns the output lines."""

    def translated(data, *options):
        ended = call("translate", babbler, *FAST, *options, stdin=data)
        assert (ended.code, ended.stderr) == (0, "")
        assert ended.stdout.endswith("\n")
        return ended.stdout[:-1].split("\n")

    return translated


def test_a_line_for_a_line_in_order_and_empty_for_empty(translate):
    outputs = translate("\n".join(LINES).encode())
    assert outputs == [translate(line.encode() + b"\n")[0] for line in LINES]
    assert [bool(output) for output in outputs] == [True, False, True, True]
    assert len(set(outputs)) == 4


def test_nothing_in_nothing_out(call, model):
    assert call("translate", model, stdin=b"").stdout == ""


def test_only_a_newline_ends_a_line(translate):
    odd = "a\u2028b\na\rb\na\x0cb\na\u0085b\na\x1bb\nwindows\r\n\u2029\n".encode()
    assert len(translate(odd)) == 7
    assert translate("\ufeffa dog\r\n".encode()) == translate(b"a dog")


@pytest.mark.parametrize(("options", "before"), [((), 0), (("--line-buffered",), 1)])
def test_each_line_is_answered_before_the_next_is_read_on_request(
    call, babbler, monkeypatch, capsys, options, before
):
    answered = []

    def lines(_):
        yield "a dog"
        answered.append(capsys.readouterr().out.count("\n"))
        yield "the cat"

    monkeypatch.setattr("transduce.text.files.read_lines", lines)
    assert call("translate", babbler, *FAST, *options).code == 0
    assert answered == [before]


def test_a_file_may_be_packed_and_an_output_named(call, babbler, tmp_path, translate):
    (tmp_path / "in.gz").write_bytes(gzip.compress("\n".join(LINES).encode()))
    ended = call("translate", babbler, tmp_path / "in.gz", *FAST, "-o", tmp_path / "out")
    assert (ended.code, ended.stdout, ended.stderr) == (0, "", "")
    text = (tmp_path / "out").read_text(encoding="utf-8")
    assert text.split("\n")[:-1] == translate("\n".join(LINES).encode())


def test_a_dash_is_standard_output(translate):
    assert translate(b"a dog", "-o", "-") == translate(b"a dog")


def test_a_dash_is_standard_output_in_a_model_s_folder_too(call, babbler, monkeypatch):
    monkeypatch.chdir(babbler)
    plain, dashed = (
        call("translate", ".", *FAST, *more, stdin=b"a dog") for more in ((), ("-o-",))
    )
    assert plain.code == 0
    assert dashed == plain


def test_a_failure_leaves_an_older_output_unchanged(call, model, tmp_path):
    write(tmp_path / "out", ["precious"])
    (tmp_path / "in").write_bytes(b"fine\nna\xefve\n")
    ended = call("translate", model, tmp_path / "in", "-o", tmp_path / "out")
    assert ended.code == 2
    assert "in, line 2: not UTF-8 (byte 3 of the line is 0xEF)\nhint: convert it" in ended.stderr
    assert (tmp_path / "out").read_text() == "precious\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "model", "out"]


def test_several_outputs_a_line_with_scores(translate):
    rows = [row.split("\t") for row in translate(b"a dog\nthe cat\n", "--beam=4", "--nbest=3")]
    assert [row[0] for row in rows] == ["1", "1", "1", "2", "2", "2"]
    scores = [float(row[1]) for row in rows]
    assert scores[:3] == sorted(scores[:3], reverse=True)
    assert all(float(row[2]) < 0 for row in rows)


def test_json_is_one_object_a_line(translate):
    found = [json.loads(line) for line in translate(b"a dog\n\nthe cat", "--json", "--beam=2")]
    assert [one["line"] for one in found] == [1, 2, 3]
    assert found[0]["outputs"][0].keys() == {"text", "score", "log_prob"}
    assert found[0]["outputs"][0]["text"] == translate(b"a dog", "--beam=2")[0]
    assert found[1]["outputs"] == [{"text": "", "score": 0.0, "log_prob": 0.0}]


def test_more_outputs_than_the_beam_holds_are_refused(call, model):
    ended = call("translate", model, "--nbest=5", stdin=b"a dog")
    assert ended.code == 2
    assert ended.stderr == (
        "error: --nbest 5 asks for more outputs than the beam of 4 holds\nhint: --beam 5\n"
    )
    ended = call("translate", model, "--nbest=10001", stdin=b"a dog")  # no beam is so wide
    assert (ended.code, ended.stderr.endswith("hint: --nbest 4\n")) == (2, True)


def test_a_long_line_is_split_into_sentences(translate):
    sentence = "The dog sees a cat and a woman sees the dog now. "
    (line,) = translate((sentence * 20).encode(), "--beam=1")
    assert line == " ".join(translate((sentence.strip() + "\n").encode() * 20))


def test_a_sentence_of_100_000_characters_is_split_with_a_warning_and_a_count(call, babbler):
    text = b"a dog\n" + b"dog " * 25_000 + b"\nthe cat\n"
    ended = call("translate", babbler, *FAST, stdin=text)
    assert ended.code == 0
    lines = ended.stdout.split("\n")
    assert lines[::2] == [
        *call("translate", babbler, *FAST, stdin=b"a dog\nthe cat").stdout.split("\n")[:2]
    ]
    assert len(lines[1]) > 25_000
    warning, count = ended.stderr.splitlines()
    assert warning.startswith("warning: line 2: a sentence of ")
    assert warning.endswith(" characters, and this model takes 256 pieces; split at words")
    assert count == (
        "warning: 1 line is longer than the model takes: translated in parts, joined again; "
        "--strict refuses such lines"
    )


def test_a_sentence_of_100_000_characters_is_refused_with_its_line_if_strict(call, model):
    text = b"a dog\n" + b"dog " * 25_000 + b"\n"
    ended = call("translate", model, *FAST, "--strict", stdin=text)
    assert ended.code == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("error: line 2: a sentence of ")
    assert " characters, and this model takes 256 pieces\nhint: split the sentence" in ended.stderr


def test_a_run_serves_as_a_model(call, trained):
    ended = call("translate", trained, *FAST, stdin=b"a dog\n")
    assert (ended.code, ended.stderr, ended.stdout.count("\n")) == (0, "", 1)


def test_a_run_whose_newest_checkpoint_is_damaged_is_refused(call, trained):
    file = trained / "checkpoints/step-00000020/model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    ended = call("translate", trained, *FAST, stdin=b"a dog\n")
    assert (ended.code, ended.stdout) == (3, "")
    assert ended.stderr.startswith(f"error: {file}: is not as it was written: expected ")
    assert "\nhint: `transduce train` resumes from an older checkpoint\n" in ended.stderr


def test_a_run_without_a_checkpoint_is_refused(call, trained):
    (trained / "checkpoints").rename(trained.parent / "elsewhere")
    ended = call("translate", trained, stdin=b"a dog\n")
    assert ended.code == 2
    assert (
        ended.stderr == f"error: {trained}: this run has no checkpoint yet\nhint: train it first\n"
    )


def cut(model):
    (model / "model.safetensors").write_bytes((model / "model.safetensors").read_bytes()[:1000])


def edit(model):
    text = (model / "recipe.json").read_text().replace('"gnmt"', '"none"')
    (model / "recipe.json").write_text(text)


def renew(model):
    values = json.loads((model / "manifest.json").read_bytes())
    del values["sha256"]
    (model / "manifest.json").write_bytes(add_checksum({**values, "format": FORMAT + 1}))


def add(model):
    (model / "lock").write_bytes(b"")


def lose(model):
    (model / "vocabulary.json").unlink()


def empty(model):
    for file in model.iterdir():
        file.unlink()


@pytest.mark.parametrize(
    ("damage", "code", "answer"),
    [
        (cut, 3, "model.safetensors: is not as it was written: expected "),
        (edit, 3, "recipe.json: is not as it was written: expected sha256 "),
        (
            renew,
            3,
            f"manifest.json: has format {FORMAT + 1}, and this version reads format {FORMAT} at "
            "most\nhint: ",
        ),
        (add, 3, "lock: lies here, but the manifest does not list it\nhint: move it elsewhere"),
        (lose, 3, "vocabulary.json: is missing, but the manifest lists it\nhint: "),
        (empty, 3, "model: is neither a model folder nor a run\nhint: name a folder that `tra"),
    ],
)
def test_a_folder_that_is_not_as_it_was_is_refused(call, model, damage, code, answer):
    damage(model)
    ended = call("translate", model, stdin=b"a dog\n")
    assert (ended.code, ended.stdout) == (code, "")
    assert answer in ended.stderr


def test_a_folder_that_holds_the_model_names_it(call, model):
    ended = call("translate", model.parent, stdin=b"a dog\n")
    hint = f"hint: name the folder in it: {model}"
    assert (ended.code, ended.stderr.splitlines()[1]) == (3, hint)
    model.rename(model.with_name(".tmp-0-model"))  # as after a kill
    ended = call("translate", model.parent, stdin=b"a dog\n")
    assert "name a folder that `transduce average`" in ended.stderr


def test_one_who_types_is_told_how_to_end(call, model, monkeypatch, capsys):
    assert "Ctrl-D" not in call("translate", model, stdin=b"a dog\n").stderr
    _, terminal = os.openpty()
    with os.fdopen(terminal) as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert note_typed_lines("-")
    assert "Ctrl-D on a new line ends it" in capsys.readouterr().err
    assert not note_typed_lines("a.en")


@pytest.mark.parametrize(
    ("name", "fact"), [("nothing", "no such folder"), ("file", "is a file, not a folder")]
)
def test_a_path_that_is_no_folder_is_refused(call, tmp_path, name, fact):
    (tmp_path / "file").write_bytes(b"")
    ended = call("translate", tmp_path / name, stdin=b"a dog\n")
    assert ended.code == 2
    assert f"{name}: {fact}\nhint: name a model folder or a run\n" in ended.stderr


def test_an_output_that_is_no_file_is_refused_before_the_work(call, model, tmp_path):
    ended = call("translate", model, "-o", tmp_path, stdin=b"a dog\n")
    assert ended.code == 2
    assert ended.stderr == f"error: {tmp_path}: is no regular file\nhint: choose another name\n"


def test_translating_in_python_gives_the_same(made, call):
    import transduce

    translator = transduce.load(made / "model")
    assert not isinstance(translator.models[0].output_projection, Linear), "prepared for inference"
    outputs = translator(["a dog", "", "the cat"])
    assert (
        outputs
        == call("translate", made / "model", stdin=b"a dog\n\nthe cat").stdout.split("\n")[:-1]
    )
    assert translator("the cat") == outputs[2]


def test_an_output_is_not_put_into_a_folder_that_a_typing_error_names(call, model, tmp_path):
    ended = call("translate", model, "-o", tmp_path / "no such/out", stdin=b"a dog\n")
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"error: {tmp_path}/no such: no such folder\nhint: mkdir -p '{tmp_path}/no such'\n"
    )
    assert not (tmp_path / "no such").exists()


def test_an_output_in_a_folder_that_is_a_file_is_refused_without_a_hint_to_make_it(
    call, model, tmp_path
):
    write(tmp_path / "file", ["precious"])
    ended = call("translate", model, "-o", tmp_path / "file/out", stdin=b"a dog\n")
    assert ended.code == 2
    fact = f"{tmp_path}/file: is a file, not a folder"
    assert ended.stderr == f"error: {fact}\nhint: choose another name\n"


@pytest.mark.parametrize(
    ("given", "fact"),
    [
        (("--gamma=1",), "gamma is of the penalty reward, and the penalty here is gnmt"),
        (
            ("--alpha=1", "--penalty=average"),
            "alpha is of the penalty gnmt, and the penalty here is average",
        ),
    ],
)
def test_a_strength_that_the_penalty_does_not_read_is_refused(call, model, given, fact):
    ended = call("translate", model, *given, stdin=b"a dog\n")
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"error: {fact}\nhint: add --penalty ")


@pytest.mark.parametrize("written", ["in", "begun"])
def test_an_output_may_not_overwrite_an_input(call, model, tmp_path, written):
    write(tmp_path / "in", ["precious"])
    write(tmp_path / "begun", ["as well"])
    given = (model, tmp_path / "in", "--prefix", tmp_path / "begun")
    ended = call("translate", *given, "-o", tmp_path / written)
    assert (ended.code, ended.stdout) == (2, "")
    assert f"{tmp_path / written}: is read here, and would be overwritten" in ended.stderr
    assert (tmp_path / "in").read_text() == "precious\n"
    assert (tmp_path / "begun").read_text() == "as well\n"


@pytest.mark.parametrize("name", ["model.safetensors", "new.de"])
def test_an_output_may_not_lie_in_a_model_folder(call, model, tmp_path, name):
    copy = tmp_path / "copy"
    shutil.copytree(model, copy)
    ended = call("translate", copy, "-o", copy / name, stdin=b"a dog\n")
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"error: {copy}: is a model, store or checkpoint, ")
    assert call("verify", copy).code == 0


def test_placeholders_and_addresses_come_back_unless_they_may_be_lost(call, babbler):
    data = b"the {0} sees https://a.org/b now\n"
    kept = call("translate", babbler, *FAST, stdin=data)
    assert (kept.code, kept.stderr) == (0, "")
    assert "{0}" in kept.stdout
    assert "https://a.org/b" in kept.stdout
    free = call("translate", babbler, *FAST, "--no-keep", stdin=data)
    assert (free.code, free.stderr) == (0, "")
    assert "{0}" not in free.stdout


def test_what_is_lost_is_named_with_its_line(call, babbler):
    data = b"a woman\nthe old 77 houses\n"
    ended = call("translate", babbler, *FAST, "--json", stdin=data)
    assert ended.stderr == (
        "warning: line 2: its translation lacks the number 77\n"
        "warning: 1 line lost something in translation: see the warnings above\n"
    )
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [one["outputs"][0].get("lost") for one in found] == [None, ["77"]]


def test_of_many_losses_the_first_are_named_and_all_are_counted(call, babbler):
    data = "".join(f"the old {number} houses\n" for number in range(70, 90)).encode()
    said = call("translate", babbler, *FAST, stdin=data).stderr.splitlines()
    assert said[9] == "warning: line 10: its translation lacks the number 79"
    assert said[10:] == [
        "warning: 20 lines lost something in translation: see the warnings above; only the first "
        "10 are named"
    ]


@pytest.fixture
def collections():
    """Python's garbage collections from here on, which begin as often as in a new process."""
    before, counted = gc.get_threshold(), []
    gc.set_threshold(700, 10, 10)
    gc.callbacks.append(lambda phase, _: counted.append(phase))
    yield counted
    gc.callbacks.pop()
    gc.set_threshold(*before)


def test_garbage_is_not_collected_while_lines_pass(call, babbler, collections):
    assert call("translate", babbler, stdin=b"\n").code == 0
    some = len(collections)
    assert call("translate", babbler, stdin=b"\n" * 10_000).code == 0
    assert len(collections) - some < 100


def test_a_file_of_pairs_is_told_not_to_be_a_text(call, made, tmp_path):
    (tmp_path / "t").write_text("the dog\tder Hund\n" * 20)
    ended = call("translate", made / "model", tmp_path / "t")
    assert ended.stderr.count("t is no plain text: each line has a tab") == 1


@pytest.mark.parametrize("options", [(), ("-o", "-")])
def test_a_text_that_is_also_standard_output_is_refused(made, tmp_path, options):
    (tmp_path / "t").write_text("the dog\n")
    words = [sys.executable, "-m", "transduce", "translate", made / "model", tmp_path / "t"]
    with (tmp_path / "t").open("a") as file:
        ended = subprocess.run(
            [*words, *options], stdout=file, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 2
    assert "is read here, and is standard output" in ended.stderr


def test_a_long_text_in_another_language_than_the_models_is_warned_of(call, made, tmp_path):
    line = "Der Hund schläft unter dem Tisch, und die Katze sieht aus dem Fenster."
    for count in (20, 100, 501):
        (tmp_path / "t").write_text(f"{line}\n" * count, "utf-8")
        ended = call("translate", made / "model", tmp_path / "t", "--beam=1", "--extra-length=1")
        warning = "warning: the source is in the language de, and the model reads en\n"
        assert ended.stderr.count(warning) == (count >= 100)
