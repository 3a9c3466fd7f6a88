"""Texts that change while they are prepared: noticed, and nothing of them stays."""

import pytest
from tests.runs.corpora import TOY

from transduce.errors import InputError
from transduce.runs.prepared_corpus import prepare_corpus
from transduce.runs.texts import FilePair

LINES = [f"a dog sees {number} cats" for number in range(60)]


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_text_that_changes_while_it_is_read_is_noticed_at_the_end(tmp_path, side):
    for name in ("source", "target"):
        text = "".join(f"{line} {name}\n" for line in LINES)
        (tmp_path / name).write_text(text, encoding="utf-8")
    pair = FilePair(tmp_path / "source", tmp_path / "target")
    reported: list[str] = []

    def append(what, _):
        if what == "encoding train" and not reported:
            reported.append(what)
            with (tmp_path / side).open("a", encoding="utf-8") as file:
                file.write("one more\n")

    with pytest.raises(InputError, match="the text changed while it was read: train"):
        prepare_corpus(tmp_path / "store", TOY.data, pair, None, append)
    assert [path.name for path in (tmp_path / "store").iterdir()] == []
