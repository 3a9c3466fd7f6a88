"""The paper's BLEU: tokenised, compounds split, German only."""

import json

import pytest
from tests.reference.bleu_by_definition import bleu_by_definition

from transduce.errors import InputError
from transduce.scores.paper_bleu import split_compounds
from transduce.scores.scoring import compute_score

PLAIN = ["Die EU-Kommission sagte: „Ja“.", "Das 3:2-Spiel, so heißt's, war gut!", "Er kam nicht."]
OUTPUT = ["Die EU-Kommission sagte „Ja“.", "Das 3:2-Spiel war, so heißt's, gut!", "Er kam nie."]
TOKENISED = [
    "Die EU-Kommission sagte : „ Ja &quot; .",
    "Das 3 : 2-Spiel , so heißt &apos; s , war gut !",
    "Er kam nicht .",
]
OUTPUT_SPLIT = [
    "Die EU ##AT##-##AT## Kommission sagte „ Ja &quot; .",
    "Das 3 : 2 ##AT##-##AT## Spiel war , so heißt &apos; s , gut !",
    "Er kam nie .",
]
TOKENISED_SPLIT = [
    "Die EU ##AT##-##AT## Kommission sagte : „ Ja &quot; .",
    "Das 3 : 2 ##AT##-##AT## Spiel , so heißt &apos; s , war gut !",
    "Er kam nicht .",
]


def test_the_output_is_tokenised_and_compounds_are_split_on_both_sides():
    found = compute_score("bleu-paper", OUTPUT, TOKENISED, language="de")
    assert found.value == pytest.approx(bleu_by_definition(OUTPUT_SPLIT, TOKENISED_SPLIT))
    assert 30 < found.value < 90


def test_a_plain_reference_is_tokenised_as_the_output_is():
    found = compute_score("bleu-paper-plain", OUTPUT, PLAIN, language="de")
    assert found.value == compute_score("bleu-paper", OUTPUT, TOKENISED, language="de").value


def test_the_signature_says_what_was_done_to_either_side():
    for metric, reference, done in (
        ("bleu-paper", TOKENISED, "compounds"),
        ("bleu-paper-plain", PLAIN, "punctuation+moses2017de+compounds"),
    ):
        signature = compute_score(metric, OUTPUT, reference, language="de").signature
        assert signature.startswith("nrefs:1|case:mixed|eff:no|tok:none|smooth:none|version:")
        assert (
            "|blanks:ascii|output:punctuation+moses2017de+compounds"
            f"|reference:{done}|sacremoses:" in signature
        )


def test_plain_german_to_a_figure_equals_the_programs_and_the_definition(facts):
    text = (facts / "mt/tokenize.de.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.removesuffix("\n").split("\n")][:220]
    others = rows[1:] + rows[:1]  # the reference of a line is the line after it
    references = [
        f"{row['tok_2017']} {other['tok_2017']}" for row, other in zip(rows, others, strict=True)
    ]
    found = compute_score("bleu-paper", [row["in"] for row in rows], references, language="de")
    by_programs = [row["replace_tok_atat_2017"] for row in rows]
    assert found.value == pytest.approx(
        bleu_by_definition(by_programs, [split_compounds(line) for line in references])
    )
    assert 10 < found.value < 90


@pytest.mark.parametrize("metric", ["bleu-paper", "bleu-paper-plain"])
@pytest.mark.parametrize(("language", "given"), [("fr", "'fr'"), ("", "not given")])
def test_it_is_refused_for_any_language_but_german(metric, language, given):
    with pytest.raises(InputError) as error:
        compute_score(metric, OUTPUT, PLAIN, language=language)
    assert str(error.value) == (
        f"{metric} is for German only, and the language of this text is {given}\n"
        'hint: language="de" if it is German; metrics=["bleu"] is for any language'
    )


@pytest.mark.parametrize(
    ("metric", "output", "reference", "fact", "hint"),
    [
        ("bleu-paper", OUTPUT, PLAIN, "the reference is plain text, and", "bleu-paper-plain"),
        ("bleu-paper", OUTPUT_SPLIT, TOKENISED, "the output is tokenised already, and", "bleu-tok"),
        (
            "bleu-paper-plain",
            OUTPUT_SPLIT,
            PLAIN,
            "the output is tokenised already, and",
            "bleu-tok",
        ),
        ("bleu-paper-plain", OUTPUT, TOKENISED, "the reference is tokenised", "bleu-paper takes"),
    ],
)
def test_text_in_the_wrong_form_is_refused(metric, output, reference, fact, hint):
    with pytest.raises(InputError) as error:
        compute_score(metric, output, reference, language="de")
    assert error.value.fact.startswith(fact)
    assert f"--metric {hint}" in error.value.hint
