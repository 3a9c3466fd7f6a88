"""The model card."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from transduce.checkpoint.card import CardFacts, format_model_card
from transduce.scores.score import Score
from transduce.settings import Recipe
from transduce.settings.data import ModelDescription
from transduce.settings.recipe import with_changes

BASE = Recipe(name="base")
TRANSLATION = ModelDescription(
    pipeline_tag="translation",
    languages=("en", "de"),
    title="en to de",
    purpose="translates en to de",
    files=("input.en", "output.de"),
)
FACTS = CardFacts(
    description=TRANSLATION, parameters=63_000_000, updates=100_000, pairs_read=4_500_000
)


def lines_of(card, heading):
    """The lines under a heading."""
    return card.split(f"## {heading}\n\n")[1].split("\n\n## ")[0].splitlines()


def test_a_hub_can_read_its_front_matter():
    card = format_model_card(BASE, FACTS)
    assert card.startswith(
        "---\nlibrary_name: transduce\npipeline_tag: translation\n"
        'language:\n- "en"\n- "de"\n---\n\n# base: en to de\n'
    )


FIRST_WEIGHTS = (
    "| architecture.initialisation | glorot | by-depth | the paper is silent; ours: "
    "Glorot's rule, and the last matrix of each sub-layer is divided by √(sub-layers of its "
    "stack); glorot leaves that out, as tensor2tensor does, and learns later |"
)


def differences_of(recipe):
    return lines_of(
        format_model_card(recipe, FACTS), "Where it differs from the paper's base model"
    )


def test_our_base_model_differs_from_the_authors_in_its_first_weights_only():
    glorot = with_changes(BASE, {"architecture.initialisation": "glorot"})
    assert differences_of(glorot)[-1].startswith("Nowhere: every setting is that of the paper's")
    assert differences_of(BASE)[2:] == [FIRST_WEIGHTS]


def test_every_setting_that_differs_is_in_the_ledger_with_the_papers_words():
    recipe = with_changes(
        Recipe(name="mine", because="It has to fit."),
        {"architecture.layers": 2, "training.steps": 7_000, "data.max_length_ratio": 3.0,
         "data.drop_identical": False},
    )  # fmt: skip
    assert differences_of(recipe) == [
        "> It has to fit.",
        "",
        "| setting | base model | here | source |",
        "| --- | --- | --- | --- |",
        "| architecture.layers | 6 | 2 | section 3.1: N = 6 identical layers in each stack |",
        FIRST_WEIGHTS,
        "| data.max_length_ratio | 9.0 | 3.0 | the paper is silent; ours: "
        "pairs with a larger ratio of their lengths in characters are dropped |",
        "| data.drop_identical | yes | no | the paper is silent; ours: "
        "drop pairs with equal sides, which teach copying |",
        "| training.steps | 100,000 | 7,000 | section 5.2: "
        "number of updates; the base models had 100,000 |",
    ]


def test_the_pairs_are_counted_before_and_after_each_filter():
    facts = CardFacts(
        description=TRANSLATION,
        parameters=1,
        updates=1,
        pairs_read=1_000,
        left_out={"empty": 10, "too long": 200},
    )
    assert lines_of(format_model_card(BASE, facts), "Data") == [
        "Corpus by the recipe: wmt14-en-de, en to de.",
        "",
        "| pairs | left out | remain |",
        "| --- | --- | --- |",
        "| read |  | 1,000 |",
        "| empty | 10 | 990 |",
        "| too long | 200 | 790 |",
    ]


def test_trees_are_counted_as_trees():
    facts = CardFacts(description=TRANSLATION, parameters=1, updates=1, unit="tree", pairs_read=9)
    assert "| trees | left out | remain |" in lines_of(format_model_card(BASE, facts), "Data")


def test_it_says_how_it_was_trained():
    facts = CardFacts(
        description=TRANSLATION, parameters=1, updates=9_000, pairs_read=1, averaged=[1_500, 3_000],
        versions={"transduce": "0.1.0", "torch": "2.13.0"},
    )  # fmt: skip
    assert lines_of(format_model_card(BASE, facts), "Training") == [
        "- 9,000 updates of about 25,000 source and 25,000 target tokens, seed 1",
        "- the mean of 2 snapshots (section 6.1): steps 1,500, 3,000",
        "- transduce 0.1.0",
        "- torch 2.13.0",
    ]


def test_figures_stand_with_their_signatures():
    score = Score("BLEU", 27.296, "nrefs:1|case:mixed", 2_737, "newstest2014")
    facts = CardFacts(
        description=TRANSLATION, parameters=1, updates=1, pairs_read=1, figures=[score]
    )
    assert lines_of(format_model_card(BASE, facts), "Figures")[2:] == [
        "| BLEU | 27.30 | newstest2014 (2,737 lines) | `nrefs:1\\|case:mixed` |"
    ]
    assert lines_of(format_model_card(BASE, FACTS), "Figures") == ["None were taken."]


def test_it_says_how_to_use_it():
    card = format_model_card(BASE, FACTS)
    assert "$ transduce translate MODEL < input.en > output.de\n" in card
    assert 'model = transduce.load("MODEL")' in card
    assert card.endswith("```\n")


WORDS = st.text() | st.text("#|<> \n\\`-", max_size=6)


@settings(max_examples=50)
@given(WORDS, WORDS, WORDS)
def test_no_text_breaks_out_of_its_line(name, about, reason):
    recipe = Recipe(name=name, about=about, because=reason)
    facts = CardFacts(
        description=TRANSLATION, parameters=1, updates=1, pairs_read=1, left_out={reason: 1}
    )
    lines = format_model_card(recipe, facts).splitlines()
    plain = format_model_card(
        Recipe(name="x", about="x" * bool(about), because="x" * bool(reason)), FACTS
    )
    headings = [line for line in plain.splitlines() if line.startswith("## ")]
    assert [line for line in lines if line.startswith(("## ", "##\t"))] == headings
    assert sum(line.startswith("# ") for line in lines) == 1
    assert lines.count("---") == 2
    for line in lines:
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) in (4, 5)


def test_it_says_what_was_read_whatever_the_recipe_calls_it():
    facts = CardFacts(
        description=TRANSLATION, parameters=1, updates=1, pairs_read=1, text="12ab 34cd"
    )
    assert lines_of(format_model_card(BASE, facts), "Data")[:4] == [
        "Corpus by the recipe: wmt14-en-de, en to de.",
        "",
        "What was read, by its sha256 or its generator: `12ab 34cd`.",
        "",
    ]
