"""Table 4 and section 6.3: what the paper prints of constituency parsing, as settings."""

import csv

import pytest

from transduce.recipes import by_name, difference, names
from transduce.recipes.printed import TABLE_4

ROWS = {"table4/wsj": 16_000, "table4/semi-supervised": 32_000}
NOT_PRINTED = {
    "architecture.dropout",
    "architecture.attention_dropout",
    "training.learning_rate_factor",
    "training.warmup",
}
OURS = {
    "architecture.tie_embeddings",
    "data.task",
    "data.shared_vocabulary",
    "data.max_length",
    "data.max_characters",
    "data.max_length_ratio",
    "data.drop_duplicates",
    "search.batch_size",
}


def test_the_recipes_are_the_paper_s_two_rows(facts):
    with (facts / "printed/table4.csv").open(encoding="utf-8") as file:
        own = [r["training"] for r in csv.DictReader(file) if r["parser"].startswith("Transformer")]
    assert own == ["WSJ only, discriminative", "semi-supervised"]
    assert [name for name in names() if name.startswith("table4/")] == list(ROWS)


@pytest.mark.parametrize(("name", "symbols"), ROWS.items())
def test_a_row_has_the_printed_values_and_else_those_of_base(name, symbols):
    """Section 6.3: "All other parameters remained unchanged"."""
    changed = {path: value for path, _, value in difference(by_name("table3/base"), by_name(name))}
    printed = {path: changed.pop(path) for path in sorted(changed.keys() - NOT_PRINTED - OURS)}
    corpus = printed.pop("data.corpus")
    assert printed == {
        "architecture.d_model": 1024,
        "architecture.layers": 4,
        "data.target_language": "trees",
        "data.vocabulary_size": symbols,
        "search.alpha": 0.3,
        "search.beam": 21,
        "search.extra_length": 300,
    }
    assert str(corpus).startswith("wsj")


@pytest.mark.parametrize(("name", "dropouts", "warmup"), [
    ("table4/wsj", (0.2, 0.2), 16_000), ("table4/semi-supervised", (0.1, 0.0), 4_000),
])  # fmt: skip
def test_what_the_paper_chose_and_did_not_print_is_the_published_code_s(name, dropouts, warmup):
    recipe = by_name(name)
    sizes, training = recipe.architecture, recipe.training
    assert (sizes.dropout, sizes.attention_dropout) == dropouts
    assert (training.learning_rate_factor, training.warmup) == (0.5, warmup)
    assert "it prints neither dropout nor learning rate" in recipe.because


def test_the_printed_rows_are_the_paper_s(facts):
    with (facts / "printed/table4.csv").open(encoding="utf-8") as file:
        rows = [(r["parser"], r["training"], r["wsj23_f1"]) for r in csv.DictReader(file)]
    assert [(row.parser, row.training, row.f1) for row in TABLE_4] == rows
