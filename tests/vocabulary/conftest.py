"""A small vocabulary that all tests of this room share."""

import pytest
from tests.vocabulary.lines import LINES

from transduce.vocabulary import Vocabulary, learn


@pytest.fixture(scope="session")
def small() -> Vocabulary:
    return learn(LINES, 330)


@pytest.fixture(params=["learned", "loaded"])
def vocabulary(request, small) -> Vocabulary:
    """As it was learned, and after it was saved and loaded."""
    return small if request.param == "learned" else Vocabulary.from_bytes(small.to_bytes())
