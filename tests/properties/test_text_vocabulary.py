"""Any text at all comes back from the vocabulary."""

from hypothesis import given
from hypothesis import strategies as st
from tests.vocabulary.lines import LINES
from tests.vocabulary.odd import ODD

from transduce.text.clean import normalise
from transduce.vocabulary import BEGIN, END, Vocabulary, learn

LEARNED = learn(LINES, 330)
LOADED = Vocabulary.from_bytes(LEARNED.to_bytes())

anything = st.text()
parts = st.sampled_from([*(text for text in ODD if len(text) < 100), "Hund", " the", "\u0301"])
odd = st.lists(parts).map("".join)


@given(anything | odd)
def test_text_comes_back_without_loss(text):
    ids = LOADED.encode(text)
    assert LOADED.decode(ids) == text
    assert ids == LEARNED.encode(text)
    assert not {END, BEGIN} & set(ids)


@given(st.lists(anything | odd, max_size=8))
def test_company_in_a_batch_does_not_matter(texts):
    assert LOADED.encode_batch(texts) == [LOADED.encode(text) for text in texts]


@given(st.lists(st.integers(0, len(LOADED) - 1)))
def test_any_ids_are_some_text_that_can_be_made_regular(ids):
    text = LOADED.decode(ids)
    assert "\n" not in normalise(text)
    assert LOADED.decode(LOADED.encode(text)) == text
