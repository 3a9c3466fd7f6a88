"""Commands, options and arguments that are misspelt, missing or too many, and help."""

import math

import pytest

import transduce
from transduce.cli.line_outputs import open_output
from transduce.cli.options import FilePath
from transduce.durable.folder import require_harmless_output
from transduce.errors import InputError, suggest_names
from transduce.settings import Search
from transduce.view.explainer.explain import Explainer


def test_an_unknown_command_is_answered_with_the_nearest(call):
    ended = call("verfiy")
    assert ended.code == 2
    assert ended.stderr.startswith("error: unknown command 'verfiy'\nhint: did you mean verify")


def test_a_name_that_is_like_no_other_is_answered_with_no_guess():
    options = ["--no-progress", "--tags", "--target"]
    assert suggest_names("--languages", options) == "known: --no-progress, --tags, --target"


def test_an_unknown_command_of_a_group_is_answered_with_the_nearest(call):
    ended = call("recipes", "shwo", "tiny")
    assert ended.code == 2
    assert ended.stderr == "error: unknown command 'shwo'\nhint: did you mean show?\n"


def test_an_unknown_option_is_answered_with_the_nearest(call):
    ended = call("recipes", "show", "tiny", "--jsn")
    assert ended.code == 2
    assert ended.stderr.startswith("error: unknown option --jsn\nhint: did you mean --json")


def test_a_question_for_help_is_answered_with_the_option(call):
    ended = call("help")
    assert ended.stderr == "error: unknown command 'help'\nhint: did you mean --help?\n"


def test_a_name_in_capitals_is_answered_with_the_same_in_small_letters():
    assert suggest_names("BLEU", ["bleu", "chrf", "ter"]) == "did you mean bleu?"


def test_a_hint_does_not_list_dozens_of_options(call):
    ended = call("train", "--epochs", "3")
    hint = "--set NAME=VALUE changes a setting; `transduce train --help` lists the options"
    assert ended.stderr == f"error: unknown option --epochs\nhint: {hint}\n"


def test_an_option_of_another_command_is_answered_with_that_command(call):
    ended = call("evaluate", "model", "a", "b", "--against", "c")
    assert ended.stderr == "error: unknown option --against\nhint: `transduce score` has it\n"


@pytest.mark.parametrize(
    ("command", "option", "hint"),
    [
        ("train", "--steps", "--set training.steps=VALUE"),
        ("train tiny", "--dropout", "--set architecture.dropout=VALUE"),
        ("prepare", "--vocabulary-size", "--set data.vocabulary_size=VALUE"),
        ("draw rate", "--warmup", "--set training.warmup=VALUE"),
        ("translate m", "--steps", "`transduce draw` has it"),  # it has no --set
    ],
)
def test_an_option_called_as_a_setting_is_answered_with_the_setting(call, command, option, hint):
    ended = call(*command.split(), option, "3")
    assert ended.stderr == f"error: unknown option {option}\nhint: {hint}\n"


@pytest.mark.parametrize(
    ("typed", "fact", "usage"),
    [
        ("recipes show", "missing argument 'RECIPE'", "recipes show [OPTIONS] RECIPE"),
        ("average a b", "missing option '-o' / '--output'", "average [OPTIONS] RUN -o OUTPUT"),
        (
            "export a b --to=onnx -o=c",
            "got unexpected extra argument (b)",
            "export [OPTIONS] MODEL --to [ctranslate2|huggingface|argos|bergamot|onnx] -o OUTPUT",
        ),
        (
            "sweep tiny -o=c",
            "missing option '--vary'",
            "sweep [OPTIONS] [RECIPE] --vary SETTING=VALUES -o OUTPUT",
        ),
        (
            "translate a b c",
            "got unexpected extra argument (c)",
            "translate [OPTIONS] MODEL [INPUT] [-o OUTPUT]",
        ),
    ],
)
def test_too_few_and_too_many_arguments_are_named_with_the_usage(call, typed, fact, usage):
    ended = call(*typed.split())
    hint = f"hint: usage: transduce {usage}; --help lists the options"
    assert (ended.code, ended.stderr) == (2, f"error: {fact}\n{hint}\n")


@pytest.mark.parametrize(
    "command",
    [
        "translate none a",
        "average none -o x",
        "train --store none -o x",
        "train --from none --pairs a -o x",
        "export none --to onnx -o x",
        "verify none",
        "curves none -o x.svg",
        "curves none --serve",
        "evaluate none a b",
        "align none a b",
        "likelihood none a b",
        "attend none a -o x.html",
        "explain none -o x.html",
        "reproduce table3 --gather none -o x",
        pytest.param("serve none", marks=pytest.mark.workers),
    ],
)
def test_a_folder_that_is_missing_or_a_file_is_one_error_of_all_commands(
    call, tmp_path, monkeypatch, command
):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        (tmp_path / name).write_text("a\tb\n")
    ended = call(*command.split())
    assert (ended.code, ended.stderr.splitlines()[-2]) == (2, "error: none: no such folder")
    (tmp_path / "none").touch()
    ended = call(*command.split())
    assert (ended.code, ended.stderr.splitlines()[-2]) == (
        2,
        "error: none: is a file, not a folder",
    )


@pytest.mark.parametrize(
    "command",
    [
        "translate m", "parse m", "tag m", "align m a b", "likelihood m a b", "evaluate m a b",
        "attend m text", "attend m a --survey", "explain m", "curves r", "draw learning-rate tiny",
    ],
)  # fmt: skip
def test_a_file_to_write_is_never_named_as_a_folder(call, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    ended = call(*command.split(), "-o", "new/")
    assert (ended.code, ended.stderr) == (
        2,
        "error: new/: ends in a slash, as a folder does, and a file is to be written\n"
        "hint: -o new/NAME\n",
    )
    assert not (tmp_path / "new").exists()


def test_plain_text_is_not_written_under_the_name_of_a_packed_file(call, tmp_path):
    ended = call("translate", "m", "-o", tmp_path / "out.gz")
    assert (ended.code, "out.gz: ends as a packed file does" in ended.stderr) == (2, True)


def test_no_file_of_a_run_is_an_output(call, trained):
    require_harmless_output(trained / "curves.html")  # other files may be there
    for file in [one for one in trained.iterdir() if one.is_file()]:
        with pytest.raises(InputError, match="is a file of the run itself"):
            require_harmless_output(file)
    ended = call("likelihood", "m", "a", "b", "-o", trained / "log.jsonl")
    assert (ended.code, "log.jsonl: is a file of the run itself" in ended.stderr) == (2, True)


def test_no_file_of_a_prepared_corpus_is_an_output(trained):
    store = trained / "store"
    require_harmless_output(store / "translations.txt")  # other files may be there
    for file in [one for one in store.iterdir() if one.is_file()]:
        with pytest.raises(InputError, match="is a file of the prepared corpus itself"):
            require_harmless_output(file)


def test_a_link_to_standard_output_leaves_what_others_write_there(monkeypatch, tmp_path):
    (tmp_path / "link").symlink_to("out")
    with (tmp_path / "out").open("w") as out:
        monkeypatch.setattr("sys.stdout", out)
        out.write("before\n")
        with open_output(tmp_path / "link") as file:
            file.write("text\n")
        out.write("after\n")
    assert (tmp_path / "out").read_text() == "before\ntext\nafter\n"


def test_a_file_that_is_called_as_standard_input_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(FilePath().convert("./-", None, None)) == str(tmp_path / "-")
    assert str(FilePath().convert("-", None, None)) == "-"


def test_in_python_a_file_to_write_is_never_named_as_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for write in (Explainer("page").write_page, lambda path: transduce.curves("r", output=path)):
        with pytest.raises(InputError, match=r"new\.html/: ends in a slash"):
            write("new.html/")
    assert not (tmp_path / "new.html").exists()


def test_an_option_without_its_value_is_wrong_usage(call):
    ended = call("recipes", "show", "tiny", "--set")
    assert ended.code == 2
    assert ended.stderr.startswith("error: option '--set' requires an argument\nhint: the command")


@pytest.mark.parametrize(
    ("typed", "fact", "hint"),
    [
        ("translate m -o --quiet", "option '-o' requires an argument, and --quiet", "./--quiet"),
        ("recipes show --set --json", "option '--set' requires an argument, and --json", "empty?"),
        ("train —source a -o r", "'—source' begins with a printed dash", "type --source"),
        ("recipes list –h", "'–h' begins with a printed dash, not with hyphens", "type -h"),
        ("train --source a --source=b -o r", "--source is given 2 times", "leave out all but one"),
        ("translate m a.en -ob -o c", "--output is given 2 times", "leave out all but one"),
        ("train a.en a.de -o r", "a.en: is a file, but no recipe", "--source FILE --target FILE"),
    ],
)
def test_what_an_unset_variable_a_web_page_or_a_habit_puts_in_a_line_is_named(
    call, tmp_path, monkeypatch, typed, fact, hint
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.en").write_text("A dog.\n")
    ended = call(*typed.split())
    assert (ended.code, sorted(tmp_path.iterdir())) == (2, [tmp_path / "a.en"])
    told, hinted = ended.stderr.splitlines()
    assert fact in told
    assert hint in hinted


def test_a_sign_after_a_short_option_is_no_part_of_its_value(call, tmp_path):
    assert call("draw", "rate", f"-o={tmp_path}/a.svg").code == 0
    assert [one.name for one in tmp_path.iterdir()] == ["a.svg"]


def test_a_text_may_begin_with_a_printed_dash_and_a_value_with_hyphens(call):
    for words in (["attend", "no", "— Ja."], ["average", "no", "-o=--x"], ["draw", "--", "-h"]):
        assert "dash" not in (ended := call(*words)).stderr
        assert "requires an argument" not in ended.stderr


def test_no_command_at_all_shows_the_help_and_is_wrong_usage(call):
    ended = call()
    assert ended.code == 2
    assert ended.stdout == ""
    assert "Usage: transduce" in ended.stderr


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_a_result(call, option):
    ended = call(option)
    assert ended.code == 0
    assert ended.stdout.startswith("Usage: transduce")
    assert ended.stderr == ""


def test_the_version_is_a_result(call):
    ended = call("--version")
    assert ended.code == 0
    assert ended.stdout == "transduce 0.1.0\n"


def test_an_empty_path_is_not_this_folder(call):
    for words in (["verify", ""], ["translate", ""], ["prepare", "tiny", "-o", ""]):
        ended = call(*words)
        assert ended.code == 2
        assert "an empty path" in ended.stderr
    with pytest.raises(InputError, match="folder is an empty path"):
        transduce.load("")


def test_a_beam_too_wide_is_refused_by_the_name_of_its_option(call):
    assert "invalid value for '--beam'" in call("translate", "m", "--beam", 10**9).stderr
    with pytest.raises(InputError, match=r"search\.alpha must be a number, not nan"):
        Search(alpha=math.nan)  # of --alpha nan


@pytest.mark.parametrize("words", [["x" * 500_000], ["recipes", "show", "--" + "x" * 500_000]])
def test_names_of_half_a_megabyte_are_cut(call, words):
    ended = call(*words)
    assert ended.code == 2
    assert len(ended.stderr) < 10_000


def test_a_file_whose_name_begins_with_a_dash_is_told_where_it_goes(call):
    ended = call("translate", "model", "-x.en")
    assert "unknown option -x" in ended.stderr
    assert "a name that begins with - comes after --" in ended.stderr


@pytest.mark.parametrize(
    ("typed", "fact"),
    [
        ("distil --source=a --outputs=b -o d --precision=int8", "--precision is for a teacher's"),
        ("distil --source=a --outputs=b -o d --workers=2", "--workers is for a teacher's"),
        ("distil --source=a --outputs=b -o d --threads=2", "--threads is for a teacher's"),
        ("clean --pairs={pairs} -o c --precision=float32", "--precision is for two models"),
        ("clean --pairs={pairs} -o c --workers=2", "--workers is for two models"),
        ("reproduce table3 --print-jobs -o t --gather=x", "--gather is for the report"),
        ("reproduce table2 --print-jobs -o t --plot", "--plot is for the report"),
        ("reproduce table3 --print-jobs -o t --json", "--json is for the report"),
        ("reproduce table3 --gather=x -o t --source=a", "--source is for training, and --gather"),
        ("reproduce table2 --gather=x -o t --rows=base", "--rows is for training, and --gather"),
        ("fetch --list multi30k", "--list lists all corpora, and takes no names"),
        ("fetch --list --offline", "--offline is for a fetched corpus"),
    ],
)
def test_an_option_that_would_have_no_effect_is_refused_by_name(
    call, tmp_path, monkeypatch, typed, fact
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text("a dog\tein Hund\n")
    ended = call(*typed.format(pairs="pairs.tsv").split())
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"error: {fact}"), ended.stderr


@pytest.mark.parametrize(
    ("typed", "fact"),
    [
        ("0x4", "invalid value for '--beam': '0x4' is no whole number"),
        ("4.0", "invalid value for '--beam': '4.0' is no whole number"),
        ("", "invalid value for '--beam': '' is no whole number"),
        ("9" * 5_000, f"invalid value for '--beam': '{'9' * 59}…' is no whole number"),
        ("9" * 100, f"invalid value for '--beam': {'9' * 59}… is not in the range"),
    ],
)
def test_what_is_no_number_of_an_option_is_said_in_plain_words(call, typed, fact):
    ended = call("translate", "m", f"--beam={typed}")
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {fact}"), ended.stderr
    assert "is no number" in call("translate", "m", "--alpha=x").stderr


def test_a_number_that_no_setting_can_hold_is_shown_as_it_was_written(call):
    ended = call("recipes", "show", "tiny", f"--set=training.steps={'9' * 5_000}")
    assert ended.code == 2
    assert "training.steps must be a whole number, not '9999" in ended.stderr
    assert len(ended.stderr) < 300
