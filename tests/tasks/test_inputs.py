"""Where pairs come from."""

from transduce.tasks.inputs import Generated


def test_a_corpus_of_another_grammar_has_another_fingerprint(monkeypatch):
    sentences, toy = Generated("phrasebook", "train", 10), Generated("toy-copy", "train", 10)
    before = sentences.fingerprint(), toy.fingerprint()
    monkeypatch.setattr("transduce.corpus.phrasebook.VERSION", 2)
    assert sentences.fingerprint() != before[0]
    assert toy.fingerprint() == before[1]
