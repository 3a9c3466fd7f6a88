"""Pictures and sounds: trained on, read, written and scored from the command line."""

import io
import json
import wave

import numpy as np
import pytest

import transduce as library
from transduce.cli.main import transduce
from transduce.cli.outcome import run
from transduce.durable.json import parse_json
from transduce.errors import InputError
from transduce.tasks import TextToText
from transduce.tasks.signal import SignalTask, read_signal_pairs
from transduce.text.signals import Signal, write_png

GREY = {"dark": 0, "grey": 119, "light": 255}
SIZES = ["architecture.layers=1", "architecture.d_model=32", "architecture.d_ff=32"]
SETTINGS = [*SIZES, "training.steps=10", "training.snapshot_every=10", "training.threads=1"]
STEPS = [*(f"--set={one}" for one in SETTINGS), "--quiet"]
FACT = "needs a model that translates, and this one's task is signal"


def write_picture(file, grey, width=3):
    file.write_bytes(write_png(np.full((2, width), grey, np.uint8)))


@pytest.fixture(scope="session")
def gallery(tmp_path_factory):
    """Three pictures, their lists, and a model for each direction."""
    folder = tmp_path_factory.mktemp("gallery")
    (folder / "here").mkdir()
    for word, grey in GREY.items():
        write_picture(folder / "here" / f"{word}.png", grey)
    pairs = [(f"here/{word}.png", word) for word in GREY]
    (folder / "there.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    (folder / "back.tsv").write_text("".join(f"{b}\t{a}\n" for a, b in pairs))
    for name in ("there", "back"):
        file, to = folder / f"{name}.tsv", folder / f"{name}-run"
        words = ["train", f"--signals={file}", f"--dev-signals={file}", "-o", str(to), *STEPS]
        assert run(transduce, words) == 0
        assert run(transduce, ["average", str(to), "-o", str(folder / name)]) == 0
    return folder


def test_a_list_says_what_its_signals_are(gallery):
    data = parse_json((gallery / "there/recipe.json").read_bytes())["data"]
    assert (data["task"], data["source_row"], data["target_row"]) == ("signal", 3, 0)
    card = (gallery / "back/README.md").read_text()
    assert "text to signals (3 samples a row)" in card


def test_a_picture_gives_a_line_of_text_wherever_the_list_lies(call, gallery):
    (gallery / "here/list").write_text("dark.png\n\nlight.png\n")
    ended = call("translate", gallery / "there", gallery / "here/list")
    assert (ended.code, len(ended.stdout.splitlines()), ended.stdout.splitlines()[1]) == (0, 3, "")
    by_call = library.load(gallery / "there")([str(gallery / "here/dark.png")])
    assert by_call == ended.stdout.splitlines()[:1]


@pytest.mark.filterwarnings("ignore:.*repaired")  # a model that has learned nothing
def test_a_word_gives_a_picture_of_whole_rows(call, gallery, tmp_path):
    ended = call("translate", gallery / "back", "-o", tmp_path / "drawn", stdin=b"dark\n\nlight\n")
    assert ended.code == 0
    drawn = sorted(file.name for file in (tmp_path / "drawn").glob("*.png"))
    assert drawn == ["1.png", "3.png"]
    assert Signal.read(tmp_path / "drawn/1.png").row == 3
    pixels = library.load(gallery / "back")("dark")
    assert pixels.shape[1] == 3


def test_samples_are_numbered(call, gallery, tmp_path):
    words = ("--sample", "--nbest", "2", "-o", tmp_path / "drawn")
    assert call("translate", gallery / "back", *words, stdin=b"dark\n").code == 0
    assert {"1-1.png", "1-2.png"} <= {file.name for file in (tmp_path / "drawn").iterdir()}


@pytest.mark.parametrize(("name", "pieces"), [("there", 5 + 5 + 6), ("back", 3 * 7)])
def test_a_list_is_a_test_set(call, gallery, name, pieces):
    ended = call("evaluate", gallery / name, gallery / f"{name}.tsv", "--json")
    found = json.loads(ended.stdout)
    assert found["scores"][0]["name"] == "exact match"
    assert found["perplexity"]["pieces"] == pieces
    ended = call("evaluate", gallery / name, gallery / f"{name}.tsv", gallery / f"{name}.tsv")
    assert ended.code == 2
    assert "hint: name one file: a path or a text, a tab, and what it becomes" in ended.stderr


def test_a_page_shows_the_attention_on_a_picture_though_its_text_is_a_file(call, gallery, tmp_path):
    picture, page = gallery / "here/dark.png", tmp_path / "page.html"
    ended = call("attend", gallery / "there", picture, "-o", page)
    assert (ended.code, page.exists()) == (0, True)
    piped = call(
        "attend", gallery / "there", "-o", tmp_path / "b.html", stdin=f"{picture}".encode()
    )
    assert piped.code == 0
    assert (tmp_path / "b.html").read_bytes() == page.read_bytes()


def test_a_changed_picture_is_another_text(call, tmp_path):
    write_picture(tmp_path / "a.png", 3)
    (tmp_path / "list").write_text("a.png\tdark\n" * 3)
    words = ("prepare", "--signals", tmp_path / "list", "-o", tmp_path / "corpus")
    assert call(*words).code == 0
    write_picture(tmp_path / "a.png", 4)
    ended = call(*words)
    assert ended.code == 2
    assert "was prepared from another text" in ended.stderr


def test_noise_is_not_taken_for_sides_that_were_exchanged(call, tmp_path):
    noise = np.random.default_rng(1).integers(0, 256, (220, 8, 8)).astype(np.uint8)
    lines = [f"{number}.png\tnoise\n" for number in range(220)]
    for number, pixels in enumerate(noise):
        (tmp_path / f"{number}.png").write_bytes(write_png(pixels))
    (tmp_path / "list").write_text("".join(lines[:200]))
    (tmp_path / "dev").write_text("".join(lines[200:]))
    texts = ("--signals", tmp_path / "list", "--dev-signals", tmp_path / "dev")
    assert call("prepare", *texts, "-o", tmp_path / "corpus").code == 0


def write_sound(file):
    stream = io.BytesIO()
    with wave.open(stream, "wb") as sound:
        sound.setparams((1, 1, 8_000, 0, "NONE", ""))
        sound.writeframes(bytes(6))
    file.write_bytes(stream.getvalue())


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("wide.png", "a picture of 4 pixels a row where data.source_row is 3"),
        ("a.wav", "a sound of 8,000 samples a second where data.source_row is 3"),
        ("no.png", "no.png: cannot be read (No such file or directory)"),
        ("dark", "a line of text where data.source_row is 3"),
    ],
)
def test_an_input_that_does_not_fit_is_named_by_its_line(call, gallery, tmp_path, line, fact):
    write_picture(tmp_path / "wide.png", 0, width=4)
    write_sound(tmp_path / "a.wav")
    (tmp_path / "list").write_text(f"\n{line}\n")
    ended = call("translate", gallery / "there", tmp_path / "list", "-o", tmp_path / "out")
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.splitlines()[0].startswith(f"error: {tmp_path}/list, line 2: ")
    assert ended.stderr.splitlines()[0].endswith(fact)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("a.png\tone\nwide.png\ttwo\n", "list, line 2: a picture of 4 pixels a row to text, and"),
        ("a.png\tone\nno.png\ttwo\n", "list, line 2: {}/no.png: cannot be read"),
        ("a.png\tone\none\ta.png\n", "list, line 2: text to a picture of 3 pixels a row, and line"),
        ("a.png\tone\ntwo\ttwo\n", "list, line 2: neither side is a picture or a sound\nhint: "),
        ("a.jpg\tone\nb.jpg\ttwo\n", "list, line 1: neither side is a picture or a sound\nhint: "),
        ("a.png\n", "list, line 1: 1 column, not 2"),
        ("", "the text is empty"),
    ],
)
def test_a_list_that_is_not_of_one_kind_trains_nothing(call, tmp_path, text, fact):
    write_picture(tmp_path / "a.png", 0)
    write_picture(tmp_path / "wide.png", 0, width=4)
    (tmp_path / "list").write_text(text)
    ended = call("train", "--signals", tmp_path / "list", "-o", tmp_path / "run", *STEPS)
    assert ended.code == 2
    assert fact.format(tmp_path) in ended.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "{0}/there", "-o", "{1}/page.html"],
        ["export", "{0}/there", "--to", "onnx", "-o", "{1}/export"],
        ["align", "{0}/there", "{0}/there.tsv", "{0}/there.tsv"],
        ["translate", "{0}/there", "{0}/here/list", "--align"],
    ],
)
def test_what_is_for_text_refuses_a_model_of_signals(call, gallery, tmp_path, words):
    ended = call(*[word.format(gallery, tmp_path) for word in words])
    assert ended.code == 2
    assert FACT in ended.stderr
    assert not any(tmp_path.iterdir())


def test_a_server_which_takes_tasks_of_text_reads_no_files_for_others():
    assert not issubclass(SignalTask, TextToText)


def test_a_sound_is_no_target(tmp_path):
    write_sound(tmp_path / "a.wav")
    (tmp_path / "list.tsv").write_text("hello\ta.wav\n")
    with pytest.raises(InputError, match=r"list\.tsv, line 1: the target is a sound"):
        list(read_signal_pairs(tmp_path / "list.tsv"))
