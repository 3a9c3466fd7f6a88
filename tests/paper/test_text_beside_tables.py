"""What the text says of its own tables, read off their printed cells; also where they disagree.

Comparisons with base in Table 3 are in `tests/reproduce/test_table3.py`, gains and costs that the
text prints as numbers in `tests/reproduce/test_paper_claims.py`.
"""

import csv
from itertools import pairwise

import pytest


@pytest.fixture
def read_table(facts):
    def read(name):
        with (facts / f"printed/{name}.csv").open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    return read


def figures(rows, column):
    """A column of Table 2: the figures of others by name, then those of base and of big."""
    found = {row["model"]: float(row[column]) for row in rows if row[column]}
    base, big = (found.pop(f"Transformer ({name})") for name in ("base model", "big"))
    return found, base, big


@pytest.mark.parametrize("pair", ["en_de", "en_fr"])
def test_big_has_the_best_bleu_of_all_models_and_ensembles(read_table, pair):
    others, _, big = figures(read_table("table2"), f"bleu_{pair}")
    assert big > max(others.values())


@pytest.mark.parametrize(("pair", "share"), [("en_de", 0.344), ("en_fr", 0.033)])
def test_base_costs_0_34_of_the_cheapest_german_model_and_0_03_of_the_cheapest_french_one(
    read_table, pair, share
):
    """Section 6.1: "at a fraction of the training cost of any of the competitive models"."""
    others, base, _ = figures(read_table("table2"), f"flops_{pair}")
    assert base / min(others.values()) == pytest.approx(share, abs=0.001)


def test_known_disagreement_big_costs_no_fraction_of_three_german_models(read_table):
    """The abstract and Table 2's caption say so of both pairs; French big costs 0.23 or less."""
    german, _, big = figures(read_table("table2"), "flops_en_de")
    assert {model for model, cost in german.items() if cost <= big} == {
        "GNMT + RL", "ConvS2S", "MoE",
    }  # fmt: skip
    french, _, big = figures(read_table("table2"), "flops_en_fr")
    assert big / min(french.values()) == pytest.approx(0.23)


def columns(read_table, *names):
    """The figures of some rows of Table 3, in this order: perplexities, BLEU."""
    rows = {row["row"]: row for row in read_table("table3")}
    return [[float(rows[name][key]) for name in names] for key in ("ppl_dev", "bleu_dev")]


def test_one_head_is_0_9_bleu_worse_than_the_best_and_32_heads_fall_off_too(read_table):
    _, bleu = columns(read_table, "A-h1", "A-h4", "base", "A-h16", "A-h32")
    assert max(bleu) - bleu[0] == pytest.approx(0.9)
    assert bleu[-1] < max(bleu) == bleu[-2]


@pytest.mark.parametrize(
    "rows",
    [
        ("B-dk16", "B-dk32", "base"),
        ("C-N2", "C-N4", "base"),
        ("C-d256", "base", "C-d1024"),
        ("C-ff1024", "base", "C-ff4096"),
        ("base", "big"),
    ],
)
def test_smaller_keys_are_worse_and_bigger_models_are_better(read_table, rows):
    perplexity, bleu = columns(read_table, *rows)
    assert all(more < less for less, more in pairwise(perplexity))
    assert all(more > less for less, more in pairwise(bleu))


def test_known_disagreement_eight_layers_are_better_in_perplexity_only(read_table):
    perplexity, bleu = columns(read_table, "base", "C-N8")
    assert perplexity == [4.92, 4.88]
    assert bleu == [25.8, 25.5]


def better_parsers(read_table, training):
    """Whose parsers have a higher F1 than the paper's with this training."""
    rows = read_table("table4")
    (ours,) = [
        float(row["wsj23_f1"])
        for row in rows
        if row["parser"].startswith("Transformer") and row["training"] == training
    ]
    return {(row["parser"], row["training"]) for row in rows if float(row["wsj23_f1"]) > ours}


def test_the_parser_of_the_wsj_alone_is_behind_the_grammar_of_dyer_only(read_table):
    """So it is better than the BerkeleyParser, by Petrov et al."""
    alone = "WSJ only, discriminative"
    found = {parser for parser, training in better_parsers(read_table, alone) if training == alone}
    assert found == {"Dyer et al. (2016)"}


def test_of_parsers_of_the_wsj_alone_the_recurrent_one_of_vinyals_and_kaiser_is_the_last(
    read_table,
):
    """Section 6.3: RNNs from sequence to sequence are behind the best in small-data regimes."""
    rows = [row for row in read_table("table4") if row["training"] == "WSJ only, discriminative"]
    last, *others = sorted(rows, key=lambda row: float(row["wsj23_f1"]))
    assert (last["parser"], last["wsj23_f1"]) == ("Vinyals & Kaiser et al. (2014)", "88.3")
    assert len(others) == 4
    assert float(others[0]["wsj23_f1"]) == 90.4


def test_known_disagreement_another_parser_than_that_grammar_is_better_too(read_table):
    """Section 6.3 excepts the Recurrent Neural Network Grammar, which is Dyer's, alone."""
    assert better_parsers(read_table, "semi-supervised") == {
        ("Luong et al. (2015)", "multi-task"),
        ("Dyer et al. (2016)", "generative"),
    }
