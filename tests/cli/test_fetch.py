"""transduce fetch: what it says, and what the other commands make of what it brought."""

import io
import json
import re
import shutil
import subprocess
import sys

import pytest
from rich.console import Console
from tests.cli.conftest import TINY
from tests.datasets.made import Miniature
from tests.datasets.site import site as running

from transduce.cli import display
from transduce.cli.fetch import show_progress_bar
from transduce.datasets.catalogue import CORPORA, list_public


@pytest.fixture(autouse=True)
def site(monkeypatch, tmp_path):
    """The public corpora in miniature, on a server of our own; the cache of this test."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("TRANSDUCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("transduce.datasets.transfer.time.sleep", lambda _: None)
    with running() as here:
        copies = Miniature(here).corpora(CORPORA)
        monkeypatch.setattr("transduce.datasets.catalogue.CORPORA", copies)
        yield here


def test_a_corpus_brings_its_development_and_test_set_and_says_where_they_lie(call, site, tmp_path):
    ended = call("fetch", "wmt14-en-de")
    cache = tmp_path / "cache"
    assert ended.stdout.splitlines() == [
        f"{cache}/{name}/en-de" for name in ("wmt14-en-de", "newstest2013", "newstest2014")
    ]
    assert ended.stderr.startswith("wmt14-en-de en-de: train 450 lines\n  licence: for research")
    assert (ended.code, site.asked[0][0].rpartition("/")[2]) == (
        0,
        "training-parallel-europarl-v7.tgz",
    )
    asked = len(site.asked)
    assert call("fetch", "wmt14-en-de", "--offline", "--quiet").stderr == ""
    assert len(site.asked) == asked
    assert call("verify", cache / "wmt14-en-de/en-de").stdout.startswith("good  ")


def test_json_is_one_object_for_each_corpus(call, tmp_path):
    first, second = map(json.loads, call("fetch", "multi30k", "--json").stdout.splitlines())
    assert [first["languages"], second["languages"]] == [["en", "de"], ["en", "fr"]]
    assert first["splits"] == {"train": 150, "dev": 20, "test": 20, "test2017": 20}
    assert first["folder"] == str(tmp_path / "cache/multi30k/en-de")
    assert first["unlike"] == []


def test_the_list_says_sizes_licences_and_what_is_here(call):
    call("fetch", "newstest2014-filtered", "--quiet")
    said = call("fetch", "--list").stdout
    assert re.search(r"newstest2014-filtered +en-de +0\.0 MB +here\n", said)
    assert re.search(r"craft +en +13\.0 MB\n +trees of 97 biomedical articles", said)
    assert "    licence: CC BY 2.0 FR; name tatoeba.org and manythings.org\n" in said
    rows = [json.loads(row) for row in call("fetch", "--list", "--json").stdout.splitlines()]
    assert [row["name"] for row in rows] == [corpus.name for corpus in list_public()]
    assert [row["name"] for row in rows if row["here"]] == ["newstest2014-filtered"]


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ((), "error: no corpus was named\nhint: `transduce fetch --list` shows the names\n"),
        (("multi30",), "error: unknown corpus 'multi30'\nhint: did you mean multi30k?\n"),
        (
            ("multi30k", "--offline", "--from", "missing"),
            "error: missing: is no folder\nhint: name the folder that holds the files\n",
        ),
        (
            ("newstest2014-filtered", "--offline"),
            "error: newstest2014-filtered needs what is not here: newstest2014.en, newstest2014.de"
            "\nhint: without --offline they are fetched; --from FOLDER takes your own\n",
        ),
    ],
)
def test_what_cannot_be_is_said_with_the_next_move(call, arguments, answer):
    ended = call("fetch", *arguments)
    assert (ended.code, ended.stdout, ended.stderr) == (2, "", answer)


def test_all_addresses_are_named_when_none_gives_the_file(call, site):
    site.files.clear()
    ended = call("fetch", "multi30k")
    assert ended.code == 2
    assert ended.stderr.startswith("error: multi30k train cannot be had: http://127.0.0.1:")
    assert "the server answered HTTP Error 404" in ended.stderr
    assert ended.stderr.endswith("--from FOLDER takes copies that you have\n")


def test_a_copy_that_is_another_file_is_named_and_nothing_else_is_tried(call, site, tmp_path):
    (tmp_path / "train.en.gz").write_bytes(b"another")
    ended = call("fetch", "multi30k", "--from", tmp_path)
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {tmp_path}/train.en.gz: has 7 bytes, not ")
    assert site.asked == []


def test_a_cache_that_cannot_be_written_is_a_save_error(call, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    ended = call("fetch", "multi30k", "--cache", tmp_path / "file/cache")
    assert ended.code == 4
    assert "file: cannot be written: file exists\n" in ended.stderr


def test_a_damaged_corpus_is_refused_by_those_who_use_it(call, tmp_path):
    call("fetch", "multi30k", "--quiet")
    text = tmp_path / "cache/multi30k/en-de/train.en"
    text.write_bytes(text.read_bytes().replace(b"e", b"E", 1))
    for command in (("fetch", "multi30k"), ("prepare", "multi30k-en-de", "-o", tmp_path / "p")):
        ended = call(*command)
        assert ended.code == 3
        assert f"{text}: is not as it was written" in ended.stderr


def test_a_corpus_is_prepared_by_the_name_in_the_recipe_both_splits(call, tmp_path):
    call("fetch", "multi30k", "--quiet")
    smaller = ("--set", "data.vocabulary_size=300")
    ended = call("prepare", "multi30k-en-de", *smaller, "-o", tmp_path / "p")
    assert ended.stderr.startswith("train: 150 pairs read")
    assert "dev: 20 pairs read, 20 kept\n" in ended.stderr


def test_a_corpus_of_mtdatas_index_is_prepared_and_evaluated_by_its_name(
    call, model, site, tmp_path, monkeypatch
):
    name = "mtdata/Group-corpus-1-deu-eng"
    monkeypatch.setenv("MTDATA", str(tmp_path))
    text = "".join(f"Ein Hund {n}.\tA dog {n}.\n" for n in range(50)).encode()
    entry = {"url": site.put("a.tsv", text), "ext": "tsv", "filename": "a.tsv"}
    line = json.dumps({"did": name.removeprefix("mtdata/"), **entry})
    (tmp_path / "mtdata.index.0.5.1.jsonl").write_text(line + "\n")
    ended = call("fetch", name)
    assert ended.stdout == f"{tmp_path}/cache/{name}/de-en\n"
    assert ended.stderr.startswith(f"{name} de-en: all 50 lines\n  licence: not stated")
    changes = ("--set", f"data.corpus={name}", "--set", "data.vocabulary_size=300")
    ended = call("prepare", "multi30k-en-de", *changes, "-o", tmp_path / "p")
    assert ended.stderr.startswith("train: 50 pairs read, 50 kept")
    assert call("evaluate", model, name, "--metric=bleu").code == 0


@pytest.mark.parametrize("command", ["prepare", "train"])
def test_a_corpus_that_is_not_here_is_answered_with_the_command_that_fetches_it(
    call, tmp_path, command
):
    ended = call(command, "table2/base-en-de", "-o", tmp_path / "out")
    assert (ended.code, ended.stderr) == (
        2,
        f"error: the corpus wmt14-en-de is not here: {tmp_path}/cache/wmt14-en-de/en-de does not "
        "exist\nhint: transduce fetch wmt14-en-de\n",
    )
    assert not (tmp_path / "out").exists()


def test_a_test_set_is_no_training_text(call, tmp_path):
    call("fetch", "newstest2014-filtered", "--quiet")
    ended = call(
        "train", *TINY, "--set", "data.corpus=newstest2014-filtered", "-o", tmp_path / "out"
    )
    assert (ended.code, ended.stderr) == (
        2,
        "error: newstest2014-filtered is a test set and has no training text\n"
        "hint: name another corpus: --set data.corpus=NAME\n",
    )


def test_a_test_set_is_evaluated_by_its_name_in_the_languages_of_the_model(call, model, tmp_path):
    call("fetch", "newstest2014", "multi30k", "--quiet")
    folder = tmp_path / "cache/newstest2014/en-de"
    for name in ("test.en", "test.de"):
        shutil.copy(folder / name, tmp_path)
    by_files = call("evaluate", model, tmp_path / "test.en", tmp_path / "test.de")
    assert call("evaluate", model, "newstest2014") == by_files
    assert call("evaluate", model, "multi30k:test2017", "--metric=bleu").code == 0


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("newstest2014", "error: the corpus newstest2014 is not here: "),
        ("newstest2041", "error: unknown corpus 'newstest2041'\nhint: did you mean newstest2014"),
        ("tatoeba-en-fr", "error: tatoeba-en-fr is en-fr, not en-de\nhint: name another corpus\n"),
        ("wmt14-en-de:tset", "error: the corpus wmt14-en-de is not here: "),
    ],
)
def test_a_name_that_is_no_test_set_of_this_model_is_refused(call, model, name, answer):
    ended = call("evaluate", model, name)
    assert ended.code == 2
    assert ended.stderr.startswith(answer)


def test_a_test_set_that_lies_elsewhere_is_fetched_with_the_corpus_that_was_named(call, model):
    said = call("evaluate", model, "wmt14-en-de").stderr
    assert said.startswith("error: the corpus newstest2014 is not here: ")
    assert said.endswith("hint: transduce fetch wmt14-en-de\n")


def test_an_unknown_split_is_answered_with_those_that_there_are(call, model):
    call("fetch", "multi30k", "--quiet")
    assert call("evaluate", model, "multi30k:test2018").stderr == (
        "error: multi30k has no split test2018\nhint: it has train, dev, test, test2017\n"
    )


def test_a_source_without_a_reference_is_not_taken_for_a_name(call, model, corpus):
    ended = call("evaluate", model, corpus / "d.en")
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {corpus}/d.en is a source without a reference\n")


def test_a_terminal_shows_which_file_comes_and_how_much_of_it(monkeypatch):
    seen = io.StringIO()
    console = Console(file=seen, force_terminal=True, width=100)
    monkeypatch.setattr(display, "build_console", lambda: console)
    with show_progress_bar() as told:
        told("a.tgz", 500, 1_000)
    assert "a.tgz" in seen.getvalue()
    assert "0.5/1.0 kB" in seen.getvalue()


def test_where_there_is_no_terminal_no_bar_is_drawn(capsys):
    with show_progress_bar() as told:
        told("a.tgz", 500, 1_000)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("option", ["--help", "--list"])
def test_it_answers_without_heavy_libraries(option):
    probe = "import sys; from transduce.cli.main import main; from transduce.cli.outcome import run"
    probe += "; from transduce.cli.main import transduce; run(transduce, ['fetch', sys.argv[1]])"
    probe += "; print(*sys.modules, file=sys.stderr)"
    ended = subprocess.run(
        [sys.executable, "-c", probe, option], capture_output=True, text=True, check=True
    )
    assert "multi30k" in ended.stdout or "transduce fetch" in ended.stdout
    loaded = set(ended.stderr.split())
    assert {"torch", "numpy", "tokenizers", "sacrebleu", "rich", "urllib3"} & loaded == set()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--timeout", "nan"), ("--timeout", "inf"), ("--timeout", "1e30"), ("--timeout", "0")),
        *(("--limit", "nan"), ("--limit", "inf"), ("--limit", "-1"), ("--limit", "1e400")),
    ],
)
def test_an_absurd_limit_is_wrong_usage(call, tmp_path, option, value):
    ended = call("fetch", "newstest2014", "--cache", tmp_path, option, value)
    assert ended.code == 2
    assert ended.stderr.startswith("error: ")
    assert len(ended.stderr.splitlines()) <= 2


def test_a_cache_is_not_made_in_a_model(call, model):
    for place in (model, model / "cache"):
        ended = call("fetch", "multi30k", "--offline", "--cache", place)
        assert (ended.code, "another file would damage it" in ended.stderr) == (2, True)
    assert not (model / "cache").exists()
    assert not (model / "lock").exists()
