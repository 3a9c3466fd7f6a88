"""Figures of processors with other instructions are kept apart."""

import pytest
from benchmarks.machine import name_instructions, slug

from benchmarks import machine
from transduce.machine.processor import Processor


@pytest.mark.parametrize(
    ("features", "name"),
    [
        ({"amx_tile", "avx512f", "avx2"}, "AMX"),
        ({"avx512f", "avx2"}, "AVX512"),
        ({"avx2", "fma"}, "AVX2"),
        (set(), "other"),
    ],
)
def test_a_processor_is_named_by_its_widest_instructions(monkeypatch, features, name):
    processor = Processor("GenuineIntel", frozenset(features))
    assert name_instructions(processor) == name
    monkeypatch.setattr(machine, "read_processor", lambda: processor)
    monkeypatch.setattr(machine, "cpu_model_name", lambda: "Intel(R) Xeon(R) Processor")
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert slug() == f"intel-xeon-processor-{name.lower()}-2"
