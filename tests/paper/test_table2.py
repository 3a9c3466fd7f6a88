"""Table 2: the four runs; what section 5 says of each."""

import pytest

from transduce.recipes import by_name, difference


@pytest.mark.parametrize("size", ["base", "big"])
def test_english_german_is_the_model_of_table_3(size):
    assert difference(by_name(f"table3/{size}"), by_name(f"table2/{size}-en-de")) == []


def test_the_big_model_has_dropout_0_1_for_french_instead_of_0_3():
    """Section 6.1: the big model for English to French "used dropout rate P_drop = 0.1"."""
    assert by_name("table2/big-en-de").architecture.dropout == 0.3
    assert by_name("table2/big-en-fr").architecture.dropout == 0.1


@pytest.mark.parametrize("size", ["base", "big"])
def test_english_french_has_32_000_word_pieces(size):
    """Section 5.1: "split tokens into a 32000 word-piece vocabulary"."""
    recipe = by_name(f"table2/{size}-en-fr")
    assert (recipe.data.vocabulary, recipe.data.vocabulary_size) == ("word-piece", 32_000)
    assert (recipe.data.source_language, recipe.data.target_language) == ("en", "fr")


@pytest.mark.parametrize("size", ["base", "big"])
def test_all_else_is_as_for_german(size):
    german, french = by_name(f"table2/{size}-en-de"), by_name(f"table2/{size}-en-fr")
    differ = {path for path, *_ in difference(german, french)} - {"architecture.dropout"}
    assert differ == {
        "data.corpus", "data.target_language", "data.vocabulary", "data.vocabulary_size",
    }  # fmt: skip
    assert "section 5.1 has 32,000 word-pieces" in french.because
