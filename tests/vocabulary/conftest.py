"""Small vocabularies of both kinds that all tests of this room share."""

import pytest
from tests.vocabulary.lines import LINES

from transduce.vocabulary import Vocabulary
from transduce.vocabulary.kinds import KINDS
from transduce.vocabulary.learn import learn_vocabulary

EVERY = {kind: learn_vocabulary(LINES, 330, kind) for kind in KINDS}


@pytest.fixture(params=KINDS)
def small(request) -> Vocabulary:
    """Either kind."""
    return EVERY[request.param]


@pytest.fixture
def byte_pair() -> Vocabulary:
    return EVERY["byte-pair"]


@pytest.fixture
def word_piece() -> Vocabulary:
    return EVERY["word-piece"]


@pytest.fixture(params=["learned", "loaded"])
def vocabulary(request, small) -> Vocabulary:
    """As it was learned, and after it was saved and loaded."""
    return small if request.param == "learned" else Vocabulary.from_bytes(small.to_bytes())
