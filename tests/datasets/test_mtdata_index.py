"""Lines of mtdata's index that no index has."""

import pytest

from transduce.datasets.mtdata import read_entries
from transduce.errors import InputError


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        (b"x" * (3 << 20), "has a line of more than 1,048,576 bytes"),
        (b'\xff"-deu-eng"', "is no line of mtdata's index"),
    ],
)
def test_an_index_line_that_is_no_text_or_endless_has_a_sentence(tmp_path, line, fact):
    (tmp_path / "mtdata.index.9.jsonl").write_bytes(line)
    with pytest.raises(InputError, match=fact):
        list(read_entries(tmp_path / "mtdata.index.9.jsonl", "deu-eng"))
