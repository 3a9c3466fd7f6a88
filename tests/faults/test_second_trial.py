"""Command lines of the second trial that ended in a fault, a hang or a large memory."""

import errno
import shutil
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.faults.strangers.folders import GOLDEN
from tests.faults.strangers.watch import outcome, watch

import transduce
from transduce.cli.main import transduce as command
from transduce.cli.outcome import run
from transduce.errors import InputError

LARGE, LARGER = "1" + "0" * 30, "9" * 5_000
REFUSED = {
    "100,000 threads": ["translate", "m", "--threads", "100000"],
    "10^30 threads": ["translate", "m", "--threads", LARGE],
    "100,000 workers": ["translate", "m", "--workers", "100000"],
    "10^30 seeds": ["reproduce", "table3", "--seeds", LARGE, "--print-jobs", "-o", "x"],
    "10^30 rounds": ["reproduce", "table1", "--rounds", LARGE, "-o", "x"],
    "10^30 samples": ["score", "a", "a", "--against", "a", "--samples", LARGE],
    "10^30 as seed": ["score", "a", "a", "--against", "a", "--seed", LARGE],
    "layers of 5,000 digits": ["attend", "m", "a", "--layers", LARGER, "-o", "x"],
    "a text of 20,000 words": ["attend", "m", "dog " * 20_000, "-o", "x"],
    "a key of 300,000 parts": ["recipes", "show", "deep.toml"],
    "a header of 300,000 parts": ["recipes", "show", "header.toml"],
    "10^8 combinations": [
        "sweep", "tiny", "--source", "a", "--target", "a", "--dev-source", "a",
        "--dev-target", "a", "-o", "x",
        *[word for name in ("training.seed", "training.steps", "training.warmup", "search.beam",
                            "search.batch_size", "search.extra_length", "training.average_last",
                            "training.validate_lines")
          for word in ("--vary", f"{name}=1,2,3,4,5,6,7,8,9,10")],
    ],
}  # fmt: skip


pytestmark = pytest.mark.usefixtures("unchecked_types")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(GOLDEN / "byte-pair", "m")
    (tmp_path / "a").write_text("a dog\n")
    (tmp_path / "deep.toml").write_text("a" + ".a" * 300_000 + " = 1\n")
    (tmp_path / "header.toml").write_text("[" + "a." * 300_000 + "a]\n")


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_a_sentence(tmp_path, capsys, case):
    with watch(tmp_path) as notes:
        code = run(command, REFUSED[case])
    errors = capsys.readouterr().err
    assert (code, errors.count("error: "), "Traceback" in errors) == (2, 1, False)
    assert len(errors) < 1_000
    assert notes.megabytes < 400  # with what this process imports for the first time
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("form", ["html", "xliff"])
def test_a_character_reference_of_5_000_digits_is_no_character(form):
    reference = f"the &#{'9' * 5_000}; dog &#0000000065;"
    text = {
        "html": f"<p>{reference}</p>",
        "xliff": '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en">'
        '<file id="f"><unit id="u"><segment><source>The dog.</source></segment></unit></file>'
        f"<!-- {reference} --></xliff>",
    }[form]
    found = transduce.translate_document("m", text.encode(), form)
    assert found.text


def test_a_million_empty_lines_of_subtitles_are_kept(tmp_path):
    with watch(tmp_path):
        found = transduce.translate_document("m", b"\n" * 300_000, "srt")
    assert found.text == "\n" * 300_000


def test_an_output_that_is_open_for_reading_has_a_sentence(capsys, monkeypatch):
    def write(_):
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr("transduce.cli.display.print_result", write)
    assert run(command, ["verify", "m"]) == 4
    assert "error: the output is not open for writing" in capsys.readouterr().err


@pytest.mark.parametrize("words", [{}, {"COMP_WORDS": "transduce", "COMP_CWORD": "x"}])
def test_a_completion_without_words_has_a_sentence(capsys, monkeypatch, words):
    monkeypatch.setenv("_TRANSDUCE_COMPLETE", "bash_complete")
    for name, value in words.items():
        monkeypatch.setenv(name, value)
    assert run(command, []) == 2
    assert "error: the shell does not say what to complete" in capsys.readouterr().err


class Nameless:
    def __repr__(self):
        raise KeyError


VALUES: tuple[Any, ...] = (
    None,
    5,
    b"x",
    ["a"],
    {},
    object(),
    10**5_000,
    Nameless(),
    "\udcff",
    "x\0",
    "x" * 100_000,
)
CALLS: dict[str, Callable[[Any], object]] = {
    "fetch": lambda value: transduce.fetch(value, offline=True, cache="cache"),
    "the timeout": lambda value: transduce.fetch("multi30k", offline=True, timeout=value),
    "by_name": lambda value: transduce.recipes.by_name(value),
    "from_file": lambda value: transduce.recipes.from_file(value),
    "a plan": lambda value: transduce.reproduce.table1(value or 0),  # type: ignore[arg-type]
    "a format": lambda value: transduce.translate_document("m", b"<p>a</p>", value),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_value_of_any_type_has_a_sentence(monkeypatch, tmp_path, call):
    monkeypatch.setenv("TRANSDUCE_CACHE", str(tmp_path / "cache"))
    for value in VALUES:
        ended = outcome(partial(CALLS[call], value))
        assert ended.startswith("2: ")
        assert len(ended) < 1_000


def test_a_recipe_file_may_be_named_by_a_string(tmp_path):
    (tmp_path / "mine.toml").write_text("[training]\nsteps = 7\n")
    assert transduce.recipes.from_file("mine.toml").training.steps == 7
    with pytest.raises(InputError, match="cannot be read"):
        transduce.recipes.from_file("none.toml")
