"""Where sentences and clauses end."""

import pytest

from transduce.text.clean import normalise
from transduce.text.sentences import split_clauses, split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["Das ist gut.", "Das auch!", "Wirklich?", "Ja…", "Nun gut."],
        ["Mr. Smith met Dr. Jones at 5 p.m. Greenwich time.", "They left."],
        ["Wir kommen am 3. Mai, z. B. mit Hr. Meier bzw. Frau Kurz.", "Ihr auch?"],
        ["Er sagte z.B. Folgendes, d.h. Unsinn.", "Gut."],
        ["Mme. Dupont et M. Durand sont là.", "Ah !", "Oui."],
        ["J. S. Bach wrote it.", "It is old."],
        ['"Go!"', '"No."', "(He went.)", "«Oui.»", "„Nein.“", "Schluss."],
        ["It was in 1990.", "Then came 1991.", "3 years later it ended."],
        ["Wait...", "What?!", "No."],
        ["Version 2.5 of x.y is e.g. old, etc. and so on."],
        ["I said no.", "Give it to me.", "The sun. it shines."],
        ["Привет.", "Как дела?", "שלום.", "עולם."],
        ["One.", "–Two?", "–No."],
        ["no end"],
        [],
    ],
)
def test_sentences_are_parted_where_a_reader_would(sentences):
    assert split_sentences(" ".join(sentences)) == sentences


def test_a_text_that_was_normalised_has_no_blank_or_invisible_ends():
    assert split_sentences(normalise(" Ja.\u2028Nein.\x00\n")) == ["Ja.", "Nein."]


@pytest.mark.parametrize(
    "clauses",
    [
        ["Er kam,", "sah;", "und siegte:", "dreimal."],
        ["He came –", "late –", "and left —", "at last -", "alone."],
        ["No mark in here."],
        ["The others (tall, thin; and old - all of them),", "stayed."],
        ["He said:", '"No,"', "and left."],
        ["An open (bracket,", "never closed,", "hides nothing."],
        ["A closed) bracket,", "never opened."],
        ["[a (b, c) d, e],", "f"],
        ["3.5 well-known e-mails cost 1,000 euros,", "not 1:2."],
        ["the end,"],
        [],
    ],
)
def test_clauses_are_parted_at_commas_semicolons_colons_and_dashes_outside_brackets(clauses):
    assert split_clauses(" ".join(clauses)) == clauses


def test_ten_thousand_nested_brackets_take_no_quadratic_time():
    deep = " ".join(["(a,"] * 10_000 + ["b)"] * 10_000 + ["c,", "d"])
    assert split_clauses(deep)[1:] == ["d"]
