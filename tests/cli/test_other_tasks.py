"""A model of one task given to a command of another: refused with the command that uses it."""

import sys
from pathlib import Path

import pytest

import transduce
from transduce.errors import InputError
from transduce.serve.search_process import ModelChoice

MODELS = Path(__file__).parents[1] / "golden/format-1"
TRANSLATION, PARSING, TAGGING = "byte-pair", "parsing-words", "tagging"
COMMANDS = {TRANSLATION: "translate", PARSING: "parse", TAGGING: "tag"}
TASKS = {TRANSLATION: "translation", PARSING: "parsing", TAGGING: "tagging"}
TEXT_COMMANDS = (
    ["translate", "{model}"],
    ["translate", "{model}", "--align"],
    ["translate", "{model}", "--format", "text"],
    ["align", "{model}", "{text}", "{text}"],
    ["explain", "{model}", "-o", "{folder}/page.html"],
    ["export", "{model}", "--to", "ctranslate2", "-o", "{folder}/export"],
)
CASES = [
    *[(model, words, "translates") for model in (PARSING, TAGGING) for words in TEXT_COMMANDS],
    *[(model, ["parse", "{model}"], "parses") for model in (TRANSLATION, TAGGING)],
    *[(model, ["tag", "{model}"], "tags") for model in (TRANSLATION, PARSING)],
]


@pytest.mark.parametrize(("model", "words", "wanted"), CASES)
def test_a_command_for_another_task_names_the_one_for_this_model(
    call, tmp_path, model, words, wanted
):
    text = tmp_path / "text"
    text.write_text("a dog runs\n")
    given = [word.format(model=MODELS / model, text=text, folder=tmp_path) for word in words]
    ended = call(*given, stdin=b"a dog runs\n")
    assert (ended.code, ended.stdout) == (2, "")
    fact, hint = ended.stderr.splitlines()
    assert fact.endswith(f" needs a model that {wanted}, and this one's task is {TASKS[model]}")
    assert hint == f"hint: `transduce {COMMANDS[model]}` uses this model"
    assert list(tmp_path.iterdir()) == [text]


@pytest.mark.parametrize("model", [PARSING, TAGGING])
def test_a_server_takes_models_that_translate(model):
    with pytest.raises(InputError, match="a server needs a model that translates") as refusal:
        ModelChoice(MODELS / model)()
    assert refusal.value.hint == f"`transduce {COMMANDS[model]}` uses this model"


@pytest.mark.parametrize("model", COMMANDS)
def test_commands_for_every_task_take_every_model(call, tmp_path, model):
    page = tmp_path / "page.html"
    assert call("attend", MODELS / model, "a dog", "-o", page).code == 0
    assert page.exists()
    assert transduce.load(MODELS / model)(["a dog"])


@pytest.mark.parametrize(
    ("model", "form"),
    [(PARSING, "trees in brackets"), (TAGGING, "a token, a tab and its label on each line")],
)
def test_two_files_are_no_test_set_of_a_parser_or_a_tagger(call, tmp_path, model, form):
    source, reference = tmp_path / "a", tmp_path / "b"
    source.write_text("a dog runs\n")
    reference.write_text("ein Hund rennt\n")
    ended = call("evaluate", MODELS / model, source, reference)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.endswith(
        f"for {TASKS[model]} is one file, not two of lines\nhint: name one file: {form}\n"
    )
    for sides in ((source, reference), (["a dog runs"], str(reference))):
        with pytest.raises(InputError, match="one file, not two of lines"):
            transduce.evaluate(MODELS / model, *sides)


def test_what_an_export_differs_in_and_lacks_is_noted_unless_quiet(call, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    words = ("export", MODELS / TRANSLATION, "--to", "ctranslate2", "-o")
    assert "is not proved" in call(*words, tmp_path / "a").stderr
    ended = call(*words, tmp_path / "b", "--quiet")
    assert (ended.code, ended.stderr) == (0, "")
