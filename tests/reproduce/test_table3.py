"""The table of results, and what may stand in it."""

import csv
import io
import re
import statistics

import pytest
from tests.reproduce.results import elsewhere, result

from transduce.errors import InputError
from transduce.recipes import printed
from transduce.recipes.table3 import TABLE_3
from transduce.reproduce.findings import FINDINGS, findings
from transduce.reproduce.report import as_csv, as_markdown
from transduce.reproduce.table3 import cells, table_of

SEEDS = [30.0, 30.4, 30.8]
BASE = [result("base", bleu, seed=n) for n, bleu in enumerate(SEEDS, start=1)]


def verdict(*rows, base=BASE):
    (line,) = findings(table_of([*base, *rows]))[1:]
    return line[-1]


def test_what_stands_there_as_printed_is_what_the_paper_prints(shared):
    with (shared / "paper/table3.csv").open(encoding="utf-8") as file:
        rows = {row["row"]: row for row in csv.DictReader(file)}
    assert list(rows) == list(printed.TABLE_3) == list(TABLE_3)
    for name, row in rows.items():
        own = printed.TABLE_3[name]
        assert (own.perplexity, own.bleu) == (float(row["ppl_dev"]), float(row["bleu_dev"]))
        assert ("" if own.millions is None else str(own.millions)) == row["params_millions"]


def test_rows_stand_in_the_paper_s_order_with_only_what_is_not_as_in_base():
    head, *body = cells(table_of([result("C-N2", 20.0), result("A-h1", 25.0), *BASE]))
    assert [row[0] for row in body] == ["base", "A-h1", "C-N2"]
    assert body[0][1:11] == (
        "6", "128", "512", "8", "16", "16", "0.1", "0.1", "2000", "sinusoidal",
    )  # fmt: skip
    shown = dict(zip(head, body[1], strict=True))
    assert {name for name in head[1:11] if shown[name]} == {"h", "d_k", "d_v"}
    assert shown["BLEU printed"] == "24.9"


def test_several_seeds_stand_as_mean_and_standard_deviation():
    (row,) = table_of(BASE).rows.values()
    assert row.bleu.mean == pytest.approx(sum(SEEDS) / 3)
    assert row.bleu.spread == statistics.stdev(SEEDS)
    assert row.bleu.shown(2) == "30.40 ± 0.40"


def test_one_seed_says_nothing_of_a_spread():
    assert cells(table_of(BASE[:1]))[1][12] == "30.00"


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (elsewhere(BASE[1], scale="toy"), "scales"),
        (elsewhere(BASE[1], data={"train": "z"}), "corpora"),
        (result("A-h1", 29.0, training__steps=7), "settings"),
    ],
)
def test_what_differs_in_more_than_the_row_makes_no_table(other, what):
    with pytest.raises(InputError, match=f"of 2 different {what}: they make no one table\nhint"):
        table_of([BASE[0], other])


def test_threads_and_seed_are_no_difference():
    table_of([BASE[0], result("A-h1", 29.0, seed=5, training__threads=16)])


def test_what_was_changed_in_every_row_stands_in_the_head():
    page = as_markdown(table_of([result("base", 3.0, training__steps=7)]))
    assert "- changed in every row: training.steps=7" in page


def test_no_result_is_no_table():
    with pytest.raises(InputError, match="no row has been measured yet\nhint: `transduce repro"):
        table_of([])


def test_every_finding_is_true_of_the_paper_s_own_figures():
    every = [result(name, row.bleu, row.perplexity) for name, row in printed.TABLE_3.items()]
    lines = findings(table_of(every))[1:]
    assert len(lines) == len(FINDINGS)
    for finding, line in zip(FINDINGS, lines, strict=True):
        assert line[2] == line[3]
        assert abs(float(line[2])) <= 0.1 if finding.equal else float(line[2]) > 0


def test_a_difference_within_chance_is_not_claimed():
    # chance: 2 · 0.4 · √(1/3 + 1/1) = 0.92
    assert verdict(result("A-h1", 29.6)) == "not told from chance (±0.92)"
    assert verdict(result("A-h1", 29.4)) == "seen"
    assert verdict(result("A-h1", 31.4)) == "the reverse is seen (±0.92)"


def test_equal_is_found_when_the_difference_is_within_chance():
    assert verdict(result("E-learned", 30.9)) == "equal within chance"
    assert verdict(result("E-learned", 29.0)) == "differs by more than chance (±0.92)"


def test_by_one_seed_nothing_is_certain():
    assert verdict(result("A-h1", 20.0), base=BASE[:1]) == "so, by one seed: it may be chance"
    assert verdict(result("A-h1", 40.0), base=BASE[:1]) == "not so, by one seed: it may be chance"


def test_a_lower_perplexity_is_better():
    lines = findings(table_of([*BASE, result("D-ls0.0", 29.0, perplexity=4.0)]))[1:]
    assert [line[3] for line in lines] == ["+1.40", "+1.00"]


def test_the_page_names_what_is_missing_and_on_what_it_was_made():
    page = as_markdown(table_of(BASE))
    assert re.search(r"- rows: without A-h1, .*, big, not measured yet\n", page)
    assert "made 2026-01-02 with a processor, threads 1, transduce 1, torch 2" in page
    assert "over 3 seeds" in page


def test_the_lines_for_programs_have_every_run_with_all_digits():
    rows = list(csv.DictReader(io.StringIO(as_csv(table_of(BASE)))))
    assert [(row["row"], row["seed"], float(row["bleu"])) for row in rows] == [
        ("base", str(n), bleu) for n, bleu in enumerate(SEEDS, start=1)
    ]
