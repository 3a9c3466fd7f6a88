"""transduce attend: pages, records and figures of the paper."""

import json

import pytest

from transduce.cli.attend import find_figure_text
from transduce.errors import InputError

TEXT = "the dog sees a cat."


def test_a_page_of_a_text_and_the_models_own_output(call, babbler, tmp_path):
    ended = call("attend", babbler, TEXT, "-o", tmp_path / "page.html")
    assert (ended.code, ended.stdout) == (0, "")
    assert ended.stderr == f"the page: {tmp_path / 'page.html'}\n"
    packed = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert packed.startswith("<!doctype html>")
    call("attend", babbler, TEXT, "-o", tmp_path / "plain.html", "--plain")
    page = (tmp_path / "plain.html").read_text(encoding="utf-8")
    assert "␣sees" in page or "sees" in page
    assert len(packed) < len(page)
    assert "http://" not in page.replace("http://www.w3.org", "")


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_a_large_page_is_noted_unless_quiet(call, babbler, tmp_path, monkeypatch, quiet):
    monkeypatch.setattr("transduce.cli.attend.LARGE", 1)
    ended = call("attend", babbler, TEXT, "-o", tmp_path / "a.html", *quiet)
    assert ("--layers and --min" in ended.stderr, bool(ended.stderr)) == (not quiet, not quiet)


def test_the_same_text_gives_the_same_bytes_and_fewer_layers_fewer(call, babbler, tmp_path):
    for name, options in {"a": (), "b": (), "c": ("--layers", "1"), "d": ("--exact",)}.items():
        call("attend", babbler, TEXT, "-o", tmp_path / f"{name}.html", *options)
    pages = {name: (tmp_path / f"{name}.html").read_bytes() for name in "abcd"}
    assert pages["a"] == pages["b"]
    assert len(pages["c"]) < len(pages["a"]) < len(pages["d"])


def test_a_figure_is_of_layers_that_the_page_has(call, babbler, tmp_path):
    figure = ("--figure=3", "--layer=1", "--word=dog", "-o", tmp_path / "a.html")
    ended = call("attend", babbler, TEXT, *figure, "--layers=2")
    assert (ended.code, (tmp_path / "a.html").exists()) == (2, False)
    assert "no layer 1" in ended.stderr


def test_the_text_may_come_from_standard_input(call, babbler, tmp_path):
    call("attend", babbler, TEXT, "-o", tmp_path / "a.html")
    call("attend", babbler, "-o", tmp_path / "b.html", stdin=f"{TEXT}\n".encode())
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    ended = call("attend", babbler, "-o", tmp_path / "c.html", stdin=b"one\ntwo\n")
    assert (ended.code, "has 2 lines" in ended.stderr) == (2, True)


def test_a_record_of_a_given_output(call, babbler, tmp_path):
    ended = call("attend", babbler, TEXT, "--target", "a cat", "--save", tmp_path / "record")
    assert (ended.code, ended.stdout) == (0, "")
    assert ended.stderr == f"the record: {tmp_path / 'record'}\n"
    found = json.loads((tmp_path / "record/record.json").read_bytes())
    texts = found["source"]["text"], found["output"]["text"]
    assert (*texts, found["is_given"]) == (TEXT, "a cat", True)
    again = ("--save", tmp_path / "record", "-o", tmp_path / "a.html")
    assert "record: exists already" in call("attend", babbler, TEXT, *again).stderr
    assert not (tmp_path / "a.html").exists()


def test_a_beam_of_one_has_one_hypothesis(call, babbler, tmp_path):
    call("attend", babbler, TEXT, "--save", tmp_path / "record", "--beam=1")
    found = json.loads((tmp_path / "record/record.json").read_bytes())
    assert {len(step["beam"]) for step in found["steps"]} == {1}


def test_a_figure_of_the_paper_from_another_layer_and_other_heads(call, babbler, tmp_path):
    figure = ("--figure=4", "--layer=1", "--heads=2,1", "--word=dog", "-o", tmp_path / "a.svg")
    ended = call("attend", babbler, TEXT, *figure)
    assert (ended.code, ended.stdout) == (0, "")
    assert ended.stderr == f"the figure: {tmp_path / 'a.svg'}\n"
    assert call("attend", babbler, TEXT, *figure, "--quiet").stderr == ""
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert drawn.count("Input-Input Layer 1") == 2
    assert "how much the word 'dog' reads" in drawn


def test_the_heads_with_the_strongest_effect_are_printed_and_drawn(call, babbler, tmp_path):
    words = (TEXT, "--figure=3", "--word=dog", "--read=sees,cat,sees")
    ended = call("attend", babbler, *words, "--find", "-o", tmp_path / "a.svg")
    assert ended.stdout.startswith("weight from 'dog' on sees + cat\n")
    assert "heads with at least 0.5: layer 1: " in ended.stdout
    assert (tmp_path / "a.svg").exists()
    rows = call("attend", babbler, *words, "--find", "--json").stdout.splitlines()
    strengths = [json.loads(row)["strength"] for row in rows]
    assert strengths == sorted(strengths, reverse=True)
    ended = call("attend", babbler, TEXT, "--figure=5", "--find")
    assert ended.stdout.startswith("difference of two heads\n")


def test_a_page_of_a_figure_says_which_link_shows_it(call, babbler, tmp_path):
    figure = ("--figure=3", "--word=dog", "--layer=1", "--heads=1,2", "-o", tmp_path / "a.html")
    ended = call("attend", babbler, TEXT, *figure)
    assert ended.stderr.endswith("a.html#k=enc&l=1&v=rows&u=1&e=1&h=1,2&q=2\n")


def test_the_sentences_of_the_paper_are_for_models_that_read_english():
    assert find_figure_text("4", "en") == find_figure_text("5", "source")
    with pytest.raises(InputError, match="Figure 3 is English, and this model reads de"):
        find_figure_text("3", "de")


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ((TEXT,), "nothing to write"),
        (("", "-o", "a.html"), "the text is empty"),
        ((TEXT, "-o", "a.png"), "a.png is no .html"),
        ((TEXT, "-o", "a.html", "--find"), "--find is for a figure"),
        ((TEXT, "-o", "a.html", "--layer=1"), "--layer is for a figure"),
        ((TEXT, "-o", "a.html", "--layers=7", "--save=r"), "there is no layer 7"),
        ((TEXT, "-o", "a.html", "--layers=x"), "--layers 'x': not numbers from 1"),
        *(
            ((TEXT, "-o", "a.svg", f"--figure={number}"), "there is no layer 5")
            for number in (3, 4, 5)
        ),
        ((TEXT, "-o", "a.svg", "--figure=5", "--layer=1"), "there is no head 3"),
        ((TEXT, "-o", "a.svg", "--figure=3", "--layer=1"), "the text has no word 'making'"),
        ((TEXT, "--figure=3", "--find", "--layer=1", "--save=r"), "--find chooses layer and heads"),
        ((TEXT, "-o", "a.html", "--pairs=100"), "--pairs is for a survey"),
        ((TEXT, "-o", "a.svg", "--figure=4", "--plain"), "--plain is for a page"),
        ((TEXT, "--save", "r", "--min=0"), "--min is for a page"),
        ((TEXT, "--save", "r", "--figure=4", "--layer=1"), "--layer is for a figure, and none"),
        ((TEXT, "-o", "a.svg", "--figure=4", "--read=a"), "--read is for the search of heads"),
        ((TEXT, "-o", "a.html", "--target=a", "--beam=7"), "--beam is for a search"),
        (("a", "--survey", "--target=b", "--word=a"), "--word is for one text"),
        (("a", "--survey", "--target=b", "--exact"), "--exact is for one text"),
        (("a", "--survey", "--target=b", "--alpha=1"), "--alpha is for one text"),
        ((TEXT, "--figure=5", "--find", "--word=dog", "--save=r"), "Figure 5 shows all words"),
        ((TEXT, "-o", "a.html", "--json"), "--json is for a table, and a page has none"),
        ((TEXT, "--save", "r", "--figure=4"), "--figure draws, and no figure is written"),
    ],
)
def test_what_cannot_be_shown_is_refused(call, babbler, tmp_path, monkeypatch, options, fact):
    monkeypatch.chdir(tmp_path)
    ended = call("attend", babbler, *options)
    assert (ended.code, ended.stdout) == (2, "")
    assert fact in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_survey_prints_all_heads_and_writes_a_page(call, babbler, made, tmp_path):
    page = tmp_path / "survey.html"
    given = ("attend", babbler, made / "d.en", "--survey", "--target", made / "d.de", "--pairs=5")
    ended = call(*given, "-o", page)
    assert (ended.code, ended.stderr) == (0, "")
    first, titles, *rows = ended.stdout.splitlines()
    assert "5 pairs" in first
    assert titles.split()[-1] == "loss"
    found = json.loads(call(*given, "--json").stdout)
    assert [row.split()[:4] for row in rows] == [
        [one["kind"], str(one["layer"]), str(one["head"]), one["tendency"]]
        for one in found["heads"]
    ]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_survey_says_by_what_it_aligned_and_how_a_file_may_hold_both_sides(call, babbler, made):
    given = ("attend", babbler, made / "d.en", "--survey", "--pairs=2")
    ended = call(*given)
    assert ended.code == 2
    assert ended.stderr.endswith(
        "d.en, line 1: 1 column, not 2\nhint: a line is source, one tab, target; "
        "--target FILE names a file of the target sides\n"
    )
    said = call(*given, "--target", made / "d.de").stdout.splitlines()[0]
    assert "nats per piece, words aligned by layer " in said


def test_a_survey_reads_pairs_and_refuses_what_is_of_one_text(call, babbler, made, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    sides = [(made / name).read_text().splitlines() for name in ("d.en", "d.de")]
    pairs.write_text("".join(f"{a}\t{b}\n" for a, b in zip(*sides, strict=True)))
    given = ("attend", babbler, pairs, "--survey", "--pairs=2", "--json")
    assert json.loads(call(*given).stdout)["pairs"] == 2
    assert "--figure is for one text" in call(*given, "--figure=3").stderr
    assert "is no .html" in call(*given, "-o", tmp_path / "s.svg").stderr
    assert "--gold is for a survey" in call("attend", babbler, "a", "--gold=x", "-o=p.html").stderr


def test_a_text_that_is_a_file_is_not_taken_for_a_sentence(call, babbler, tmp_path):
    (tmp_path / "a text.en").write_text("A dog runs.\n")
    for command in ("attend", "explain"):
        ended = call(command, babbler, tmp_path / "a text.en", "-o", tmp_path / "page.html")
        assert (ended.code, ended.stderr) == (
            2,
            f"error: {tmp_path}/a text.en is a file, and TEXT is a sentence\n"
            f"hint: \"$(head -n 1 '{tmp_path}/a text.en')\" is its first line\n",
        )
        assert not (tmp_path / "page.html").exists()
