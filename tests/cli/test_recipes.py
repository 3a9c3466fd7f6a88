"""transduce recipes: list, show, diff."""

import json
import re

import pytest
from tests.exports.random_members import random_member, save_member

from transduce.recipes import names


def test_the_list_names_every_recipe_with_its_parameters(call):
    ended = call("recipes")
    lines = ended.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(names())
    assert " ".join(lines[4].split()).startswith("table3/base 63.0 M the base model")
    assert "Table 3 prints 65" in ended.stderr


def test_the_list_as_json_is_one_object_a_recipe(call):
    listed = [json.loads(line) for line in call("recipes", "--json").stdout.splitlines()]
    assert [recipe["name"] for recipe in listed] == list(names())
    assert {r["name"]: r["parameters"] for r in listed}["table3/base"] == 63_045_632


def test_list_may_be_said(call):
    assert call("recipes", "list") == call("recipes")


def row(text: str, path: str) -> str:
    return next(line for line in text.splitlines() if f" {path} " in line)


def test_show_sets_the_paper_beside_each_setting(call):
    shown = call("recipes", "show", "table3/base").stdout
    assert "63,045,632 parameters with 37,000 symbols" in shown
    heads = " ".join(row(shown, "architecture.heads").split())
    assert heads == "architecture.heads 8 section 3.2.2 h = 8 heads in parallel"
    assert " ours " in row(shown, "training.seed")
    assert "*" not in shown


def test_show_marks_what_differs_from_base_and_says_why(call):
    shown = call("recipes", "show", "table2/base-en-fr").stdout
    assert row(shown, "data.vocabulary_size").split()[:4] == [
        "*", "data.vocabulary_size", "32_000", "(37_000)",
    ]  # fmt: skip
    assert "why it differs: for English to French section 5.1 has 32,000 word-pieces" in shown


@pytest.mark.parametrize(
    ("more", "value"),
    [((), "300_000"), (("--scale", "laptop", "--set", "training.seed=2"), "6_000")],
)
def test_show_says_of_another_run_of_the_paper_what_the_paper_says_of_it(call, more, value):
    shown = call("recipes", "show", "table2/big-en-fr", *more).stdout
    steps = " ".join(row(shown, "training.steps").split())
    says = "section 5.2 the big models were trained for 300,000 steps"
    assert steps == f"* training.steps {value} (100_000) {says}"
    assert row(shown, "data.corpus").endswith(
        "section 5.1    WMT 2014, about 36 million sentence pairs; its corpora hold 40.8"
    )


def test_the_recipes_of_table_4_are_parsers(call):
    listed = call("recipes").stdout.splitlines()
    parsing = [line for line in listed if line.startswith("table4/")]
    assert len(parsing) == 2
    assert all(" parsing, " in line for line in parsing)


def test_show_as_json_is_one_object(call):
    shown = json.loads(call("recipes", "show", "table3/A-h1", "--json").stdout)
    assert shown["name"] == "table3/A-h1"
    settings = {setting.pop("setting"): setting for setting in shown["settings"]}
    assert settings["architecture.heads"] == {
        "value": 1,
        "default": 8,
        "section": "6.2",
        "says": "row A-h1 of Table 3: h = 1",
    }
    assert settings["architecture.layers"]["says"] == "N = 6 identical layers in each stack"


def test_set_changes_settings_and_the_name_says_so(call):
    shown = call(
        "recipes", "show", "table3/base", "--set", "training.steps=2_000",
        "--set", "architecture.positions=learned", "--json",
    )  # fmt: skip
    recipe = json.loads(shown.stdout)
    assert recipe["name"] == (
        "table3/base with training.steps=2_000, architecture.positions=learned"
    )
    assert recipe["parameters"] == 63_045_632 + 2 * 1024 * 512


def test_settings_that_depend_on_each_other_change_together(call):
    ended = call(
        "recipes", "show", "table3/base",
        "--set", "data.shared_vocabulary=false", "--set", "architecture.tie_embeddings=target",
    )  # fmt: skip
    assert ended.code == 0


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        ("training.stepps=3", "error: unknown setting 'training.stepps'\nhint: did you mean tra"),
        (
            "training.steps",
            "error: --set training.steps: no value\nhint: --set training.steps=VALUE",
        ),
        ("training.steps=x", "error: training.steps must be a whole number, not 'x'\n"),
        (
            "architecture.tie_embeddings=some",
            "error: architecture.tie_embeddings is one of all, target, none, not",
        ),
    ],
)
def test_a_change_that_means_nothing_is_refused(call, change, answer):
    ended = call("recipes", "show", "tiny", "--set", change)
    assert ended.code == 2
    assert ended.stderr.startswith(answer)


def test_a_recipe_may_be_a_file(call, tmp_path):
    (tmp_path / "mine.toml").write_text('start = "tiny"\n[training]\nsteps = 3\n')
    ended = call("recipes", "diff", "tiny", str(tmp_path / "mine.toml"), "--json")
    assert json.loads(ended.stdout) == {"setting": "training.steps", "first": 20, "second": 3}


def test_a_long_name_of_a_text_does_not_widen_a_table(call):
    name = ("--set", f"data.corpus=your own: {'a' * 90}.tsv")
    assert "a" * 28 + "…  (wmt14-en-de)" in call("recipes", "show", "table3/base", *name).stdout


def test_a_folder_is_no_recipe_file(call, tmp_path):
    fact, hint = call("recipes", "show", tmp_path).stderr.splitlines()
    assert fact == f"error: {tmp_path}: is a folder, no recipe file"
    assert "transduce recipes show FOLDER" not in hint, "it is what was typed"


def test_an_unknown_recipe_is_answered_with_the_nearest(call):
    ended = call("recipes", "show", "table3/B-dk61")
    assert ended.code == 2
    assert ended.stderr.startswith("error: unknown recipe 'table3/B-dk61'\nhint: did you mean ")


def test_diff_shows_both_values_and_both_counts(call):
    lines = call("recipes", "diff", "table3/base", "table3/C-N2").stdout.splitlines()
    assert [line.split() for line in lines] == [
        ["setting", "table3/base", "table3/C-N2"],
        ["architecture.layers", "6", "2"],
        ["parameters", "63_045_632", "33_644_544"],
    ]


def test_diff_of_equals_says_so_and_is_empty(call):
    ended = call("recipes", "diff", "table3/base", "table2/base-en-de")
    assert (ended.code, ended.stdout, ended.stderr) == (0, "", "no setting differs\n")


def test_show_says_where_other_systems_differ_when_asked(call):
    alone, beside = (call("recipes", "show", "table3/base", *more) for more in ((), ("--peers",)))
    assert "elsewhere" not in alone.stdout
    assert "        elsewhere: pre in T2T v2 and v3, " in beside.stdout
    for system in ("Marian (3e-4)", "Joey NMT (2e-4)", "Sockeye (2e-4,"):
        assert system in beside.stdout


def test_show_at_a_scale_is_the_smaller_recipe(call):
    shown = call("recipes", "show", "table3/B-dk16", "--scale", "laptop").stdout
    assert shown.startswith("table3/B-dk16 at laptop: ")
    assert re.search(r"\*  architecture\.d_k +4 +\(64\)", shown)


def test_scales_say_what_they_change_cost_and_show(call):
    said = call("recipes", "scales").stdout
    laptop = said[said.index("laptop: ") : said.index("gpu-minutes: ")]
    assert "training.warmup = 1000, data.vocabulary_size = 4000," in laptop
    for word in (
        "toy: ",
        "laptop: ",
        "gpu-minutes: ",
        "gpu-hour: ",
        "paper: ",
        "a row like base takes",
        "visible",
    ):
        assert word in said
    lines = call("recipes", "scales", "--json").stdout.splitlines()
    assert [json.loads(line)["width_divisor"] for line in lines] == [16, 4, 1, 1, 1]


def test_a_model_or_a_run_is_shown_with_its_own_numbers_of_symbols(call, made):
    card = (made / "model/README.md").read_text()
    for named in ("model", "run", "model/recipe.json", "run/run.json"):
        ended = call("recipes", "show", made / named)
        assert ended.code == 0, ended.stderr
        count = ended.stdout.splitlines()[1].split(" parameters")[0]
        assert f"{count} parameters" in card or f"parameters | {count}" in card
    assert call("recipes", "diff", made / "run", made / "model").stderr == "no setting differs\n"
    shown = json.loads(call("recipes", "show", made / "model", "--json").stdout)
    assert f"{shown['parameters']:,}" in card


def test_a_change_leaves_a_model_its_learned_symbols_unless_it_asks_for_another_number(
    call, tmp_path
):
    folder = save_member(random_member(), tmp_path / "model")

    def show(*changes):
        shown = json.loads(call("recipes", "show", folder, "--json", *changes).stdout)
        return shown["symbols"], shown["parameters"]

    assert show("--set", "search.beam=5") == show()
    assert show("--set", "data.vocabulary_size=999")[0] == 999 != show()[0]


def test_a_file_named_recipe_json_without_a_model_is_a_recipe_file(call, tmp_path):
    (tmp_path / "recipe.json").write_text('{"start": "tiny", "name": "own"}')
    assert call("recipes", "show", tmp_path / "recipe.json").stdout.startswith("own: ")


def test_what_show_prints_as_json_is_refused_as_a_recipe_by_its_content(call, tmp_path):
    (tmp_path / "t.json").write_text(call("recipes", "show", "tiny", "--json").stdout)
    ended = call("recipes", "diff", tmp_path / "t.json", "tiny")
    assert ended.stderr.startswith(f"error: {tmp_path / 't.json'}: unknown setting 'parameters'")
