"""Any text at all comes back from the vocabulary."""

from hypothesis import given
from hypothesis import strategies as st
from tests.vocabulary.lines import LINES
from tests.vocabulary.odd import ODD

from transduce.text.clean import normalise
from transduce.vocabulary import BEGIN, END, Vocabulary
from transduce.vocabulary.kinds import KINDS
from transduce.vocabulary.learn import learn_vocabulary

LEARNED = [learn_vocabulary(LINES, 330, kind) for kind in KINDS]
LOADED = [Vocabulary.from_bytes(learned.to_bytes()) for learned in LEARNED]

anything = st.text()
parts = st.sampled_from([*(text for text in ODD if len(text) < 100), "Hund", " the", "\u0301"])
odd = st.lists(parts).map("".join)


@given(anything | odd)
def test_text_comes_back_without_loss(text):
    for learned, loaded in zip(LEARNED, LOADED, strict=True):
        ids = loaded.encode(text)
        assert loaded.decode(ids) == text
        assert ids == learned.encode(text)
        assert not {END, BEGIN} & set(ids)


@given(st.lists(anything | odd, max_size=8))
def test_other_sentences_of_a_batch_do_not_matter(texts):
    for loaded in LOADED:
        assert loaded.encode_batch(texts) == [loaded.encode(text) for text in texts]


@given(st.lists(st.integers(0, 329)))
def test_any_ids_are_some_text_that_can_be_made_regular(ids):
    for loaded in LOADED:
        text = loaded.decode(ids)
        assert "\n" not in normalise(text)
        assert loaded.decode(loaded.encode(text)) == text
