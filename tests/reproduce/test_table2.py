"""Table 2 made of results."""

import csv
import io
import json

import pytest
from tests.reproduce.results import german, result_of

from transduce.recipes.scale import LAPTOP, PAPER
from transduce.recipes.tables import TABLE_2_ROWS
from transduce.reproduce.table import build_table
from transduce.reproduce.table2_report import build_report

BASE = german("base", 30.0)


def made(*results, pair="en-de"):
    return build_report(build_table(results, TABLE_2_ROWS[pair]))


def lines_of(made_report):
    _, _, (head, *body) = made_report.parts[0]
    return [dict(zip(head, line, strict=True)) for line in body]


def test_published_rows_stand_as_printed_and_ours_beside_their_own():
    lines = lines_of(made(BASE, german("recurrent", 29.0)))
    assert [line["model"] for line in lines] == [
        "ByteNet",
        "GNMT + RL",
        "ConvS2S",
        "MoE",
        "GNMT + RL Ensemble",
        "ConvS2S Ensemble",
        "Transformer (base model): base",
        "Transformer (big): big",
        "recurrent in attention's place",
    ]
    gnmt, base, big, recurrent = (lines[n] for n in (1, 6, 7, 8))
    assert (gnmt["BLEU printed"], gnmt["cost printed"], gnmt["BLEU"]) == ("24.6", "2.3e19", "")
    assert gnmt["beside the paper"] == "Wu et al. 2016"
    assert (base["BLEU printed"], base["BLEU"], base["BLEU-paper"]) == ("27.3", "30.00", "29.00")
    assert (base["estimated"], base["counted"]) == ("4.0e12", "2.0e12")
    assert (base["averaged"], base["steps"], base["minutes"]) == ("3", "2,000", "10.0")
    assert big["beside the paper"] == "not measured here"
    assert (recurrent["BLEU printed"], recurrent["BLEU"]) == ("", "29.00")


@pytest.mark.parametrize("pair", ["en-de", "en-fr"])
def test_every_figure_that_table_2_prints_stands_there(facts, pair):
    with (facts / "printed/table2.csv").open(encoding="utf-8") as file:
        paper = [
            (row["model"], row[f"bleu_{column}"], row[f"flops_{column}"])
            for column in [pair.replace("-", "_")]
            for row in csv.DictReader(file)
        ]
    lines = lines_of(made(result_of(TABLE_2_ROWS[pair]["base"], "base", 30.0, 5.0, 1), pair=pair))
    assert [
        (line["model"].partition(":")[0], line["BLEU printed"], line["cost printed"])
        for line in lines
    ] == [row for row in paper if row[1] or row[2]]


def test_a_row_at_another_cost_than_base_shows_it():
    cheap = german("separable", 20.0)
    cheap.cost["counted"] = 1e12  # type: ignore[index]
    assert [line["of base's"] for line in lines_of(made(BASE, cheap))[-1:]] == ["0.50"]


def test_what_is_small_is_not_comparable():
    lines = lines_of(made(BASE))
    assert lines[6]["beside the paper"] == "not comparable: multi30k, scale laptop"
    beam = lines_of(made(german("base", 30.0, search__beam=1)))[6]["beside the paper"]
    assert beam == "not comparable: multi30k, scale laptop, settings changed"


def test_the_head_says_what_may_stand_beside_the_paper():
    page = made(BASE).markdown()
    assert "- BLEU-paper: `of the paper's words`\n" in page
    assert "- beside the paper may stand BLEU-paper at the scale paper on newstest2014-fi" in page
    assert "all 3,003 lines of newstest2014: neither may" in page
    french = result_of(TABLE_2_ROWS["en-fr"]["base"], "base", 30.0, 5.0, 1)
    assert "- no figure here may stand beside" in made(french, pair="en-fr").markdown()


def test_at_the_paper_s_scale_the_score_says_what_it_may_stand_beside():
    bleu = {**BASE.bleu, "paper_comparability": "not beside: other words"}
    one = german("base", 27.0)
    recipe = TABLE_2_ROWS["en-de"]["base"]
    for paper_bleu, said in (
        ({"value": 26.0, "signature": "s", "paper_comparability": "near 27.3"}, "near 27.3"),
        ({}, "not beside: other words"),
    ):
        large = vars(one) | {"scale": PAPER.name, "recipe": recipe, "bleu": bleu}
        lines = lines_of(made(type(one)(**large | {"paper_bleu": paper_bleu})))
        assert lines[6]["beside the paper"] == said


def test_every_table_of_the_page_says_the_scale():
    page = made(BASE, german("big", 31.0)).markdown()
    heads = [line for line in page.splitlines() if line.startswith("#")]
    assert len(heads) == 3
    assert all("the scale laptop" in head for head in heads)
    assert f"- scale laptop: {LAPTOP.about}" in page


def test_the_paper_s_own_comparison_stands_beside_those_that_it_did_not_make():
    _, _, (_, *lines) = made(BASE, german("big", 31.0), german("recurrent", 29.0)).parts[1]
    assert lines == [
        ("the big model is better", "BLEU", "+1.10", "+1.00", "so, by one seed: it may be chance"),
        (
            "at one cost attention is better than recurrent layers",
            "BLEU",
            "not compared",
            "+1.00",
            "so, by one seed: it may be chance",
        ),
    ]


def test_programs_find_every_run_with_all_digits_and_its_recipe():
    found = made(BASE, german("separable", 20.125))
    rows = list(csv.DictReader(io.StringIO(found.csv())))
    assert [(row["row"], row["bleu"], row["printed_bleu"]) for row in rows] == [
        ("base", "30.0", "27.3"),
        ("separable", "20.125", ""),
    ]
    assert rows[0]["operations_counted"] == "2000000000000.0"
    assert "recipe" not in rows[0]
    runs = json.loads(json.dumps(found.as_json()))["runs"]
    assert runs[1]["recipe"]["architecture"]["mixing"] == "separable"


def test_a_picture_has_every_row_and_panel(tmp_path):
    pytest.importorskip("matplotlib")
    found = made(BASE, german("base", 31.0, seed=2), german("recurrent", 29.0))
    assert found.picture.rows[-5:] == ["base", "big", "recurrent", "convolution", "separable"]
    assert [len(panel.figures) for panel in found.picture.panels] == [8, 2, 7, 2]
    files = found.write(tmp_path, plot=True)
    assert [file.name for file in files] == [
        f"table2.{k}" for k in ("md", "html", "csv", "json", "png", "svg")
    ]
    assert files[4].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in files[5].read_bytes()
    assert "](table2.png)" in files[0].read_text(encoding="utf-8")
