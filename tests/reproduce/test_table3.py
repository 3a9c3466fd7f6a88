"""Table 3 made of results."""

import csv
import io
import math
import re
import statistics
from dataclasses import replace

import pytest
import torch
from tests.reproduce.results import elsewhere, result

from transduce.recipes import printed
from transduce.recipes.scale import LAPTOP, PAPER
from transduce.recipes.tables import TABLE_3
from transduce.reproduce import table as claims
from transduce.reproduce.table import build_table
from transduce.reproduce.table3_report import CLAIMS, FIGURES, build_cells, build_report
from transduce.settings.recipe import with_changes

SEEDS = [30.0, 30.4, 30.8]
BASE = [result("base", bleu, seed=n) for n, bleu in enumerate(SEEDS, start=1)]


def table(*results):
    return build_table(results, TABLE_3)


def found(*results):
    return claims.compare_claims(table(*results), CLAIMS, FIGURES)[1:]


def verdict(*rows, base=BASE):
    (line,) = (one for one in found(*base, *rows) if one[1] == "BLEU")
    return line[-1]


def test_what_stands_there_as_printed_is_what_the_paper_prints(facts):
    with (facts / "printed/table3.csv").open(encoding="utf-8") as file:
        rows = {row["row"]: row for row in csv.DictReader(file)}
    assert list(rows) == list(printed.TABLE_3) == list(TABLE_3)
    for name, row in rows.items():
        own = printed.TABLE_3[name]
        assert (own.perplexity, own.bleu) == (float(row["ppl_dev"]), float(row["bleu_dev"]))
        assert ("" if own.millions is None else str(own.millions)) == row["params_millions"]


def test_rows_stand_in_the_paper_s_order_with_only_what_is_not_as_in_base():
    head, *body = build_cells(table(result("C-N2", 20.0), result("A-h1", 25.0), *BASE))
    assert [row[0] for row in body] == ["base", "A-h1", "C-N2"]
    assert body[0][1:11] == (
        "6", "128", "512", "8", "16", "16", "0.1", "0.1", "2000", "sinusoidal",
    )  # fmt: skip
    shown = dict(zip(head, body[1], strict=True))
    assert {name for name in head[1:11] if shown[name]} == {"h", "d_k", "d_v"}
    assert shown["BLEU printed"] == "24.9"


def test_several_seeds_stand_as_mean_and_standard_deviation():
    (row,) = table(*BASE).rows.values()
    assert row.bleu.mean == pytest.approx(sum(SEEDS) / 3)
    assert row.bleu.spread == statistics.stdev(SEEDS)
    assert row.bleu.format(2) == "30.40 ± 0.40"


def test_one_seed_says_nothing_of_a_spread():
    assert build_cells(table(BASE[0]))[1][12] == "30.00"


def test_every_finding_is_true_of_the_paper_s_own_figures():
    every = [result(name, row.bleu, row.perplexity) for name, row in printed.TABLE_3.items()]
    lines = found(*every)
    assert [line[:2] for line in lines] == [
        (claim.sentence, measure)
        for claim in CLAIMS
        for measure in ("BLEU", "PPL")
        if claim.measure in ("", measure)
    ]
    for line in lines:
        assert line[2] == line[3]
        equal = "as good as" in line[0]
        assert abs(float(line[2])) <= 0.1 if equal else float(line[2]) > 0


def test_a_difference_within_chance_is_not_claimed():
    # chance: 4.30 · 0.4 · √(1/3 + 1/1) = 1.99
    assert verdict(result("A-h1", 28.5)) == "within chance (±1.99)"
    assert verdict(result("A-h1", 28.3)) == "supported"
    assert verdict(result("A-h1", 32.5)) == "contradicted (±1.99)"


def test_the_variance_between_seeds_is_pooled_over_the_rows_that_have_several():
    three = [result("A-h1", bleu, seed=n) for n, bleu in enumerate((28.0, 29.0, 30.0), start=1)]
    two = [result("C-N2", bleu, seed=n) for n, bleu in enumerate((20.0, 20.2), start=1)]
    # within a row, squares of 0.32, 2 and 0.02: 2.34 for five degrees of freedom, t = 2.571
    least = 2.571 * math.sqrt(2.34 / 5 * (1 / 3 + 1 / 3))
    here = table(*BASE, *three, *two)
    rows = here.rows["base"], here.rows["A-h1"]
    assert claims.compute_critical_difference(here, "BLEU", *rows) == pytest.approx(least)
    said = claims.describe_significance(here)
    assert "between the seeds of 3 rows, pooled (Student's t, 5 degrees of freedom)" in said


def test_base_itself_may_have_one_seed():
    three = [result("A-h1", bleu, seed=n) for n, bleu in enumerate((28.0, 28.4, 28.8), start=1)]
    assert verdict(*three, base=BASE[:1]) == "within chance (±1.99)"
    assert "the spread of A-h1 over 3 seeds" in claims.describe_significance(table(*three))


@pytest.mark.parametrize("free", range(1, 31))
def test_chance_is_by_students_t(free):
    # 95 % of its density lie between the two points
    constant = math.gamma((free + 1) / 2) / math.sqrt(free * math.pi) / math.gamma(free / 2)
    x = torch.linspace(0, claims.STUDENT[free - 1], 200_001, dtype=torch.float64)
    inside = 2 * constant * torch.trapezoid((1 + x**2 / free) ** (-(free + 1) / 2), x)
    assert float(inside) == pytest.approx(0.95, abs=1e-4)


def test_equal_is_found_when_the_difference_is_within_chance():
    assert verdict(result("E-learned", 30.9)) == "equal within chance"
    assert verdict(result("E-learned", 28.0)) == "differs by more than chance (±1.99)"


def test_by_one_seed_nothing_is_certain():
    assert verdict(result("A-h1", 20.0), base=BASE[:1]) == "so, by one seed: it may be chance"
    assert verdict(result("A-h1", 40.0), base=BASE[:1]) == "not so, by one seed: it may be chance"


@pytest.mark.parametrize("perplexity", [4_000.0, math.inf, math.nan])
def test_nothing_is_found_of_a_row_that_diverged(perplexity):
    assert verdict(result("A-h1", 20.0, perplexity)) == "cannot be told: A-h1 diverged"
    assert verdict(result("A-h1", 20.0, 3_999.0)) == "supported"  # of 4,000 symbols


@pytest.mark.parametrize("perplexity", [math.inf, math.nan])
def test_a_row_that_diverged_changes_no_verdict_on_others_and_is_in_the_report(perplexity):
    others = [*BASE, result("A-h1", 28.5)]
    diverged = [result("C-N2", bleu, perplexity, seed=n) for n, bleu in enumerate((0.0, 9.0), 1)]
    assert [one for one in found(*others, *diverged) if "C-N2" not in one[-1]] == found(*others)
    page = build_report(table(*others, *diverged)).markdown()
    assert re.search(r"\| C-N2 \|.*\| nan ± nan \||\| C-N2 \|.*\| inf ± nan \|", page)


def test_seeds_that_all_diverged_are_not_said_to_be_one_seed():
    diverged = [result("base", 0.0, math.nan, seed=n) for n in (1, 2, 3)]
    said = claims.describe_significance(table(*diverged))
    assert said.startswith("Chance is unknown without several seeds of a row that did not diverge")


def test_nothing_is_found_at_a_scale_that_shows_nothing():
    toy = replace(table(*BASE, result("A-h1", 20.0)), scale="toy")
    _, *lines = claims.compare_claims(toy, CLAIMS, FIGURES)
    assert {line[-1] for line in lines} == {"the scale toy cannot tell"}


@pytest.mark.parametrize("bleu", [20.0, 30.0, 42.0])
def test_one_seed_shows_no_equality(bleu):
    assert verdict(result("E-learned", bleu), base=BASE[:1]) == "one seed cannot tell"


def test_the_paper_s_own_bleu_has_a_column_where_a_row_has_it():
    assert "BLEU-paper" not in build_cells(table(*BASE))[0]
    words = elsewhere(BASE[0], paper_bleu={"value": 25.125, "signature": "words"})
    head, *body = build_cells(table(words, result("A-h1", 29.0)))
    assert [row[head.index("BLEU-paper")] for row in body] == ["25.12", ""]
    assert [row[head.index("BLEU printed")] for row in body] == ["25.8", "24.9"]


def test_the_conditions_say_what_is_comparable_with_the_paper():
    prefix = "- beside the paper's figures: "
    assert (
        f"{prefix}not comparable: multi30k, scale laptop" in build_report(table(*BASE)).markdown()
    )
    near = {"value": 25.1, "signature": "words", "paper_comparability": "near them"}
    large = elsewhere(BASE[0], scale=PAPER.name, recipe=TABLE_3["base"], paper_bleu=near)
    page = build_report(table(large)).markdown()
    assert f"{prefix}near them\n" in page
    assert "- BLEU-paper: `words`\n" in page


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"training.precision": "bfloat16", "training.validate_every": 50}, "near them"),
        ({"training.precision": "bfloat16", "data.max_pairs": 50_000}, "settings changed"),
    ],
)
def test_settings_of_the_machine_leave_a_figure_comparable(change, line):
    near = {"value": 25.1, "signature": "words", "paper_comparability": "near them"}
    recipe = with_changes(TABLE_3["base"], change)
    large = elsewhere(BASE[0], scale=PAPER.name, recipe=recipe, paper_bleu=near)
    assert f"{line}\n" in build_report(table(large)).markdown()


def test_a_lower_perplexity_is_better():
    lines = found(*BASE, result("D-ls0.0", 29.0, perplexity=4.0))
    assert [line[3] for line in lines] == ["+1.40", "+1.00"]


def test_the_page_names_what_is_missing_and_on_what_it_was_made():
    page = build_report(table(*BASE, result("A-h1", 29.0))).markdown()
    assert re.search(r"- rows: without A-h4, .*, big, not measured yet\n", page)
    assert "made 2026-01-02 with a processor, threads 1, transduce 1, torch 2" in page
    assert "over 3 seeds" in page


def test_the_lines_for_programs_have_every_run_with_all_digits():
    rows = list(csv.DictReader(io.StringIO(build_report(table(*BASE)).csv())))
    assert [(row["row"], row["seed"], float(row["bleu"])) for row in rows] == [
        ("base", str(n), bleu) for n, bleu in enumerate(SEEDS, start=1)
    ]


def test_page_lines_and_picture_name_the_settings_that_are_not_a_row_s_own():
    made = build_report(table(*BASE, result("A-h1", 29.0)))
    assert "architecture.d_model / 4, " in made.markdown()
    assert "training.warmup = 1000, data.vocabulary_size = 4000, " in made.markdown()
    for row in csv.DictReader(io.StringIO(made.csv())):
        own = row["settings_not_the_row_s_own"].split(", ")
        assert {"architecture.d_model=128", "training.warmup=1000"} < {*own}
        assert not [one for one in own if one.startswith("architecture.heads")]
    assert made.picture.settings == LAPTOP.settings


def test_without_two_rows_to_compare_nothing_is_said_of_findings():
    assert "What the paper found" not in build_report(table(*BASE)).markdown()


def test_every_table_of_the_page_says_the_scale():
    page = build_report(table(*BASE, result("A-h1", 29.0))).markdown()
    heads = [line for line in page.splitlines() if line.startswith("#")]
    assert len(heads) == 3
    assert all("the scale laptop" in head for head in heads)


def test_the_picture_has_all_of_the_paper_s_rows_and_those_of_ours_that_are_measured():
    picture = build_report(table(*BASE, result("A-h1", 29.0))).picture
    assert picture.rows == list(TABLE_3)
    assert [len(panel.figures) for panel in picture.panels] == [20, 2, 20, 2]
    assert picture.panels[1].figures["base"].spread == statistics.stdev(SEEDS)


def test_a_picture_is_drawn_of_one_row_of_one_seed():
    pytest.importorskip("matplotlib")
    drawn = build_report(table(BASE[0])).picture.render()
    assert drawn["png"].startswith(b"\x89PNG")
    assert b"E-learned" in drawn["svg"]


def test_a_row_of_one_s_own_has_empty_cells_where_the_paper_prints_nothing():
    one = replace(result("base", 31.0), row="mine", model="mine")
    found = build_table([*BASE, one], {**TABLE_3, "mine": TABLE_3["base"]})
    head, *body = build_cells(found)
    shown = dict(zip(head, body[-1], strict=True))
    assert (shown["row"], shown["BLEU"]) == ("mine", "31.00")
    assert [shown[name] for name in ("PPL printed", "BLEU printed", "params")] == ["", "", ""]
    assert build_report(found).rows[-1]["row"] == "mine"


def test_a_row_that_was_trained_on_ones_own_text_is_not_comparable():
    near = {"value": 25.1, "signature": "words", "paper_comparability": "near them"}
    recipe = with_changes(TABLE_3["base"], {"data.corpus": "your own: a.tsv"})
    large = elsewhere(BASE[0], scale=PAPER.name, recipe=recipe, paper_bleu=near)
    page = build_report(table(large)).markdown()
    assert "not comparable: trained on your own: a.tsv, not " in page
    assert "near them" not in page
