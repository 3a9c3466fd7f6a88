"""Text that nobody would write: one line in is one line out, in order, alone or together (T17)."""

from random import Random

import pytest
from tests.faults.strangers.folders import GOLDEN

import transduce
from transduce.text.files import read_lines

SEED = 31
PARTS = (
    "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r", "\t", "\ufeff",
    "\u202e", "\u2066", "\u200d", "\u0301" * 40, "\U0001f468\u200d\U0001f469", "\uffff", "\x1b[2J",
    "</s>", "<s>", "<script>alert(1)</script>", "%s%n", "${x}", "../", "'; --", "", " ", "\xa0",
    "a dog", "9" * 30, "ß", "ﬁ", "Ω", "\U000e0001", "�",
)  # fmt: skip


def odd_lines(count, seed=SEED):
    """Lines of a few odd parts each; some are empty."""
    draw = Random(seed)
    return ["".join(draw.choices(PARTS, k=draw.randrange(5))) for _ in range(count)]


@pytest.fixture(scope="module")
def model():
    loaded = transduce.load(GOLDEN / "byte-pair", on_warning=lambda _: None)
    return loaded.searching(beam=2, extra_length=2)


@pytest.mark.parametrize("count", [60, pytest.param(10_000, marks=pytest.mark.soak)])
def test_every_odd_line_has_one_output_in_its_place(model, tmp_path, record, count):
    lines = odd_lines(count)
    path = tmp_path / "odd"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    read = list(read_lines(path))
    assert len(read) == count
    outputs = list(model.translate_lines(read))
    assert len(outputs) == count
    assert all("\n" not in output for output in outputs)
    for number in Random(SEED).sample(range(count), 12):
        assert model(read[number]) == outputs[number]
    record(lines=count, outputs=len(outputs), seeds=[SEED])


def test_the_control_that_splits_as_python_does_is_caught(record):
    lines = odd_lines(60)
    found = "".join(f"{line}\n" for line in lines).splitlines()
    assert len(found) > len(lines)
    record(lines=len(lines), found=len(found))
