"""transduce align and translate --align: links printed, heads chosen and stored."""

import json
import shutil

import pytest

import transduce
from transduce.errors import FolderError


@pytest.fixture
def folder(babbler, made, tmp_path):
    """A folder with a model of random weights, whose attention differs from word to word."""
    shutil.copytree(babbler, tmp_path / "model")
    for name in ("d.en", "d.de"):
        shutil.copy(made / name, tmp_path)
    return tmp_path


@pytest.fixture
def gold(folder):
    """Gold links of the development set: what layer 2 aligns."""
    translator = transduce.load(folder / "model").aligning(layer=2, heads=(1,))
    (folder / "gold").write_text("".join(f"{one}\n" for one in align_all(translator, folder)))
    return folder / "gold"


def align_all(translator, folder):
    pairs = [(folder / name).read_text().splitlines() for name in ("d.en", "d.de")]
    return translator.align(*pairs)


def test_a_line_of_links_for_each_pair(call, folder):
    ended = call("align", folder / "model", folder / "d.en", folder / "d.de")
    assert (ended.code, ended.stderr) == (0, "")
    expected = align_all(transduce.load(folder / "model"), folder)
    assert ended.stdout.splitlines() == list(map(str, expected))


def test_links_and_weights_as_json_in_a_file(call, folder):
    out = folder / "out"
    chosen = ("--layer=2", "--heads=2", "--unshifted", "--json", "-o", out)
    assert call("align", folder / "model", folder / "d.en", folder / "d.de", *chosen).code == 0
    translator = transduce.load(folder / "model").aligning(layer=2, heads=(2,), shifted=False)
    expected = [one.as_json() for one in align_all(translator, folder)]
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row.pop("line") for row in rows] == list(range(1, len(rows) + 1))
    assert rows == expected


def test_heads_are_chosen_stored_verified_and_used(call, folder, gold):
    model = folder / "model"
    chosen = call("align", model, folder / "d.en", folder / "d.de", "--choose", gold)
    assert chosen.code == 0
    assert chosen.stderr == f"stored in {model}/alignment.json\n"
    lines = chosen.stdout.splitlines()
    assert lines[0].split() == ["layer", "heads", "AER", "precision", "recall"]
    assert lines[2].split() == ["2", "1", "0.00", "100.00", "100.00"]
    assert lines[3].startswith("last, unshifted")
    assert lines[-1] == "chosen on 20 pairs: layer 2, head 1"
    assert call("verify", model).code == 0
    aligned = call("align", model, folder / "d.en", folder / "d.de")
    assert aligned.stdout == gold.read_text()


def test_a_quiet_choice_of_heads_has_no_notes(call, folder, gold):
    files = folder / "d.en", folder / "d.de"
    ended = call("align", folder / "model", *files, "--choose", gold, "--quiet")
    assert (ended.code, ended.stderr) == (0, "")


def test_a_few_pairs_do_not_replace_an_earlier_choice(call, folder, gold):
    model, files = folder / "model", [folder / "d.en", folder / "d.de", gold]
    assert call("align", model, *files[:2], "--choose", gold).code == 0
    stored = (model / "alignment.json").read_bytes()
    few = [folder / f"few.{file.name}" for file in files]
    for short, file in zip(few, files, strict=True):
        short.write_text("".join(file.read_text().splitlines(keepends=True)[:3]))
    few[2].write_text("0-0\n" * 3)
    ended = call("align", model, *few[:2], "--choose", few[2])
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(
        "error: 3 pairs cannot replace an earlier choice of heads, layer 2, head 1 (error rate "
    )
    assert (model / "alignment.json").read_bytes() == stored
    (model / "alignment.json").unlink()
    assert call("align", model, *few[:2], "--choose", few[2]).code == 0
    again = call("align", model, *files[:2], "--choose", gold)
    assert again.stdout.splitlines()[4].startswith("before: ")


def test_a_damaged_choice_is_noticed_by_load_and_verify(call, folder, gold):
    model = folder / "model"
    assert call("align", model, folder / "d.en", folder / "d.de", "--choose", gold).code == 0
    path = model / "alignment.json"
    path.write_text(path.read_text().replace('"layer": 2', '"layer": 1'))
    with pytest.raises(FolderError, match="is not as it was written"):
        transduce.load(model)
    ended = call("verify", model)
    assert ended.code == 3
    assert "alignment.json" in ended.stdout + ended.stderr


def test_a_run_cannot_store_a_choice(call, trained, gold):
    ended = call(
        "align", trained, trained.parent / "d.en", trained.parent / "d.de", "--choose", gold
    )
    assert ended.code == 2
    assert "is no model folder, and heads are stored with one" in ended.stderr


def test_heads_of_a_folder_that_does_not_exist_are_not_chosen(call, folder, gold):
    texts = folder / "d.en", folder / "d.de"
    ended = call("align", folder / "none", *texts, "--choose", gold)
    assert (ended.code, "none: no such folder" in ended.stderr) == (2, True)


def test_translations_are_printed_with_their_links(call, folder):
    model = folder / "model"
    lines = [*(folder / "d.en").read_text().splitlines()[:3], ""]
    text = "".join(f"{line}\n" for line in lines).encode()
    ended = call("translate", model, "--align", stdin=text)
    translator = transduce.load(model)
    outputs = translator(lines)
    expected = [
        f"{one} ||| {a}" for one, a in zip(outputs, translator.align(lines, outputs), strict=True)
    ]
    assert ended.stdout.splitlines() == expected
    assert expected[-1] == " ||| "
    nbest = call("translate", model, "--align", "--nbest=2", stdin=text).stdout.splitlines()
    assert nbest[0].split("\t")[3] == expected[0]
    row = json.loads(
        call("translate", model, "--align", "--json", stdin=text).stdout.splitlines()[0]
    )
    assert row["outputs"][0]["alignment"] == [
        list(link) for link in translator.align(lines, outputs)[0].links
    ]
    assert "|||" not in call("translate", model, stdin=text).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--layer=9"], "error: there is no layer 9 of the decoder's attention to the source"),
        (["--heads=9"], "error: there is no head 9"),
        (["--choose={gold}", "--layer=1"], "error: --layer and --choose exclude each other"),
        (["--choose=-", "--unshifted"], "error: --unshifted and --choose exclude each other"),
        (["--choose={gold}", "--strict"], "error: --strict has no effect with --choose"),
        (["--choose={gold}", "--workers=2"], "error: --workers has no effect with --choose"),
        (["--choose={gold}", "--threads=1"], "error: --threads has no effect with --choose"),
        (
            ["--choose={gold}", "--precision=int8"],
            "error: --precision has no effect with --choose",
        ),
    ],
)
def test_options_that_cannot_be_are_refused(call, folder, gold, options, message):
    typed = [option.format(gold=gold) for option in options]
    ended = call("align", folder / "model", folder / "d.en", folder / "d.de", *typed)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(message)


def test_files_of_unequal_length_and_two_dashes_are_refused(call, folder):
    (folder / "short").write_text("a\n")
    ended = call("align", folder / "model", folder / "d.en", folder / "short")
    assert (ended.code, "has 1" in ended.stderr) == (2, True)
    ended = call("align", folder / "model", "-", "-")
    assert ended.stderr.startswith("error: standard input can be one of the files only")
