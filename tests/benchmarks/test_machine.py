"""Figures of processors with other instructions are kept apart."""

import pytest
from benchmarks.machine import name_instructions, name_processor, slug

from benchmarks import machine
from transduce.machine.device import Processor


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


def test_an_amd_processor_is_named_with_its_family(monkeypatch, tmp_path):
    facts = tmp_path / "cpuinfo"
    facts.write_text("vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n")
    monkeypatch.setattr(machine, "CPU_FACTS", facts)
    monkeypatch.setattr(machine, "cpu_model_name", lambda: "AMD EPYC")
    for vendor, name in (("AuthenticAMD", "AMD EPYC (family 25)"), ("GenuineIntel", "AMD EPYC")):
        processor = Processor(vendor, frozenset({"avx512f"}))
        monkeypatch.setattr(machine, "read_processor", lambda processor=processor: processor)
        assert name_processor() == name
