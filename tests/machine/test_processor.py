"""The kind of processor, from the system's own description."""

from transduce.machine import device
from transduce.machine.device import Processor, parse_processor, read_processor

TWO_CORES = """processor\t: 0
vendor_id\t: AuthenticAMD
model name\t: AMD EPYC
flags\t\t: fpu sse2 avx2 fma

processor\t: 1
vendor_id\t: other
flags\t\t: none
"""
ARM = "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd\n"


def test_vendor_and_features_are_those_of_the_first_core():
    found = parse_processor(TWO_CORES)
    assert found == Processor("AuthenticAMD", frozenset({"fpu", "sse2", "avx2", "fma"}))


def test_a_processor_that_the_system_does_not_describe_is_unknown(monkeypatch, tmp_path):
    assert parse_processor(ARM) == Processor()
    monkeypatch.setattr(device, "CPU_FACTS", tmp_path / "missing")
    read_processor.cache_clear()
    assert read_processor() == Processor()
    read_processor.cache_clear()
