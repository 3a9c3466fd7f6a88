"""Where sentences end."""

import pytest

from transduce.text.sentences import split


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
    assert split(" ".join(sentences)) == sentences


def test_the_text_is_made_regular_first():
    assert split(" Ja.\u2028Nein.\x00\n") == ["Ja.", "Nein."]
