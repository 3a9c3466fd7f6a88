from transduce import search, vocabulary


def test_the_search_and_the_vocabulary_mean_the_same_symbols():
    assert (search.END, search.BEGIN) == (vocabulary.END, vocabulary.BEGIN)
