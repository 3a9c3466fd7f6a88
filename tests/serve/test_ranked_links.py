"""Word links of a translated sentence, in the order in which they place its tags."""

from typing import Any

from transduce.inference.outputs import Alignment
from transduce.serve.messages import SentenceOutputs
from transduce.serve.translate import rank_links


def test_links_of_equal_weight_have_the_order_of_the_library():
    links, weights = ((0, 1), (1, 0), (2, 2)), (0.5, 0.9, 0.5)
    alignment = Alignment(links, weights)
    details: Any = alignment.as_json()
    found = SentenceOutputs(1, (), details=details)
    assert rank_links(found) == list(alignment.rank_links()) == [(1, 0), (0, 1), (2, 2)]
