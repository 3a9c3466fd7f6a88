"""Which precision a model gets, and what is said about it."""

import pytest
import torch

from transduce.inference.load import choose_precision
from transduce.machine.device import Processor
from transduce.settings.search import InferencePrecision

CPU, GPU = torch.device("cpu"), torch.device("meta")
VNNI = {"avx2", "avx512f", "avx512_vnni"}
AMX = Processor("GenuineIntel", frozenset({*VNNI, "amx_tile", "amx_bf16"}))
MEASURED_IN_INT8 = [
    Processor("AuthenticAMD", frozenset({"avx2"})),
    Processor("AuthenticAMD", frozenset(VNNI)),
    Processor("GenuineIntel", frozenset(VNNI)),
]
OTHERS = [
    Processor(),
    Processor("AuthenticAMD", frozenset({"avx2", "avx512f"})),
    Processor("GenuineIntel", frozenset({"avx2"})),
]


@pytest.fixture
def obstacle(monkeypatch):
    """Set why 8-bit products are impossible; they are possible at first."""

    def set_reason(reason):
        monkeypatch.setattr("transduce.inference.load.unsupported_int8_reason", lambda: reason)

    set_reason("")
    return set_reason


@pytest.mark.usefixtures("obstacle")
@pytest.mark.parametrize("asked", ["float32", "bfloat16", "int8"])
def test_a_precision_that_can_be_had_is_taken_without_a_word(asked):
    assert choose_precision(asked, CPU) == (InferencePrecision(asked), "")


def test_int8_falls_back_with_a_sentence(obstacle):
    obstacle("no kernels")
    chosen, message = choose_precision("int8", CPU)
    assert (chosen, message) == ("float32", "float32 in place of int8: no kernels")
    obstacle("")
    assert choose_precision("int8", GPU).precision == "float32"


@pytest.mark.usefixtures("obstacle")
@pytest.mark.parametrize("processor", OTHERS)
def test_auto_is_float32_where_no_quality_was_measured(monkeypatch, processor):
    monkeypatch.setattr("transduce.inference.load.read_processor", lambda: processor)
    chosen, message = choose_precision("auto", CPU)
    assert chosen == "float32"
    assert "precision auto: float32" in message


@pytest.mark.parametrize("processor", MEASURED_IN_INT8)
def test_auto_is_int8_where_it_was_measured_and_can_be_had(obstacle, monkeypatch, processor):
    monkeypatch.setattr("transduce.inference.load.read_processor", lambda: processor)
    assert choose_precision("auto", CPU).precision == "int8"
    assert choose_precision("auto", GPU).precision == "float32"
    obstacle("no kernels")
    assert choose_precision("auto", CPU).precision == "float32"


@pytest.mark.usefixtures("obstacle")
def test_auto_is_bfloat16_with_amx_where_it_can_be_had(monkeypatch):
    monkeypatch.setattr("transduce.inference.load.read_processor", lambda: AMX)
    for is_fast, expected in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(
            "transduce.inference.load.has_fast_bfloat16", lambda _, fast=is_fast: fast
        )
        assert choose_precision("auto", CPU).precision == expected
        assert choose_precision("auto", GPU).precision == "float32"
