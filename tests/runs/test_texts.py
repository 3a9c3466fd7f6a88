"""Where pairs come from."""

from transduce.runs.texts import GeneratedCorpus


def test_a_corpus_of_another_grammar_has_another_fingerprint(monkeypatch):
    sentences, toy = (
        GeneratedCorpus("phrasebook", "train", 10),
        GeneratedCorpus("toy-copy", "train", 10),
    )
    before = sentences.fingerprint(), toy.fingerprint()
    monkeypatch.setattr("transduce.phrasebook.VERSION", 2)
    assert sentences.fingerprint() != before[0]
    assert toy.fingerprint() == before[1]
