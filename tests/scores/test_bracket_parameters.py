"""EVALB's parameter files, and tags that are copied from gold trees."""

import re

import pytest

from transduce.errors import InputError
from transduce.scores.brackets.counting import copy_tags
from transduce.scores.brackets.parameters import (
    NEW,
    BracketParameters,
    find_parameters,
    read_parameters,
)
from transduce.scores.scoring import compute_score

JOHN = "(TOP (S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog))) (. .)))"


def test_gold_tags_are_copied_to_an_output_whose_leaves_are_xx():
    output = "(TOP (S (NP (XX John)) (VP (XX has) (NP (XX a) (XX dog)) (XX .))))"
    own_tags = "brackets-own-tags"
    assert (
        compute_score(own_tags, [output], [JOHN]).value == 0.0
    )  # the full stop is a word too many
    tagged = copy_tags(output, JOHN)
    assert tagged == "(TOP (S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog)) (. .))))"
    assert compute_score(own_tags, [tagged], [JOHN]).value == 100.0
    trace = "(S (NP (NNP John)) (VP (VBZ has) (NP (-NONE- *T*-1)) (NP (DT a) (NN dog))) (. .))"
    assert copy_tags(output, trace) == tagged


def test_the_metric_brackets_scores_with_the_tags_of_the_reference():
    output = JOHN.replace("(. .)", "(XX .)")
    assert compute_score("brackets-own-tags", [output], [JOHN]).value == 0.0
    score = compute_score("brackets", [output, "(S (XX Jane))", ""], [JOHN] * 3)
    assert score.value == pytest.approx(200 * 4 / (12 + 4))
    assert (score.details["failed"], score.details["skipped"]) == (1, 1)
    assert score.signature.endswith("|tags:reference")
    with pytest.raises(InputError, match="an output has 1 lines, and its reference 2"):
        compute_score("brackets", [JOHN], [JOHN, JOHN])


def test_tags_are_not_copied_between_different_words():
    assert copy_tags("(S (XX a) (XX b))", "(S (NN a) (NN c))") == "(S (XX a) (XX b))"
    assert copy_tags("(S (XX a))", "(S (NN a) (NN c))") == "(S (XX a))"


def test_a_parameter_file_is_read_as_evalb_reads_it(tmp_path):
    file = tmp_path / "mine.prm"
    file.write_text(
        "# a comment\n\nDEBUG 0\nMAX_ERROR   7\nCUTOFF_LEN 20\nLABELED 0\nDELETE_LABEL TOP\n"
        "DELETE_LABEL -NONE-  \nDELETE_LABEL_FOR_LENGTH -NONE-\nQUOTE_LABEL POS\n"
        "EQ_LABEL ADVP PRT\nEQ_WORD This this\n",
        encoding="utf-8",
    )
    assert find_parameters(str(file)) == BracketParameters(
        "mine",
        labelled=False,
        cutoff=20,
        max_errors=7,
        deleted_labels=("TOP", "-NONE-"),
        labels_without_length=("-NONE-",),
        quote_labels=("POS",),
        equal_labels=(("ADVP", "PRT"),),
        equal_words=(("This", "this"),),
    )
    assert find_parameters("new") is NEW


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DELETE_LABLE TOP", "line 1: unknown keyword 'DELETE_LABLE'"),
        ("EQ_LABEL ADVP", "line 1: EQ_LABEL takes two values, not 'ADVP'"),
        ("MAX_ERROR many", "line 1: MAX_ERROR takes a number, not 'many'"),
        ("DELETE_LABEL", "line 1: DELETE_LABEL has no value"),
    ],
)
def test_a_line_that_evalb_does_not_know_is_refused(tmp_path, line, message):
    (tmp_path / "bad.prm").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        read_parameters(tmp_path / "bad.prm")


def test_unknown_parameters_are_refused_with_those_that_there_are():
    with pytest.raises(InputError, match="did you mean COLLINS"):
        find_parameters("COLLIN")
    with pytest.raises(InputError, match="unknown parameters"):
        find_parameters("a" * 300)  # no file system has so long a name
