"""Equal lines are searched once; samples of equal lines differ by their line numbers."""

import pytest
from tests.inference.random_models import LINES, random_translator

from transduce.inference import outputs
from transduce.search.bounds import choose_beam_strategy

TRANSLATE = random_translator()


@pytest.fixture
def searched(monkeypatch):
    """The number of sources of each search."""
    counts = []

    def count_sources(decoder, sources, *arguments, **options):
        counts.append(len(sources))
        return choose_beam_strategy(decoder, sources, *arguments, **options)

    monkeypatch.setattr(outputs, "choose_beam_strategy", count_sources)
    return counts


def test_equal_lines_of_a_block_are_searched_once_and_have_the_same_output(searched):
    expected = list(TRANSLATE.nbest_lines(LINES, 2))
    repeated = list(TRANSLATE.nbest_lines([*LINES, *reversed(LINES), "a  woman"], 2))
    assert repeated[:5] == expected
    assert repeated[5:10] == expected[::-1]
    assert repeated[10] == expected[LINES.index("a woman")]
    assert searched == [4, 4]


def test_the_prefix_tells_lines_apart(searched):
    found = TRANSLATE(["a dog"] * 4, prefix=["who", "", "who", "the"])
    assert searched == [3]
    assert found[0] == found[2]
    assert len(set(found)) == 3


def test_samples_of_equal_lines_differ(searched):
    assert len(set(TRANSLATE.sampling()(["a woman"] * 5))) > 1
    assert searched == []
