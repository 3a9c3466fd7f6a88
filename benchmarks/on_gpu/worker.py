"""A worker: the cases of a part, each on a line as soon as it is measured. Arguments: part, scale.

A case that fails says so and leaves the others alone; a worker that dies leaves the lines it wrote.
"""

import gc
import json
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import torch

from benchmarks.on_gpu.scale import FULL, REHEARSAL

MODULES: Mapping[str, str] = MappingProxyType(
    {
        "agreement": "agreeing",
        "products": "products",
        "update": "ladder",
        "attention": "attending",
        "loss": "losing",
        "search": "searching",
    }
)


def main(part: str, scale: str) -> None:
    """Measure."""
    chosen = REHEARSAL if scale == "rehearsal" else FULL
    torch.manual_seed(1)
    if chosen.rehearsed:
        replace_varlen_kernel()
    for name, work in import_module(f"benchmarks.on_gpu.{MODULES[part]}").cases(chosen):
        print(json.dumps(measure_case(name, work)), flush=True)


def measure_case(name: str, work: Any) -> dict[str, Any]:  # noqa: ANN401 - a function of a part
    """Its figures, or the first line of what went wrong."""
    began = time.perf_counter()
    try:
        figures = work()
    except Exception as fault:  # noqa: BLE001 - whatever it is, the next case comes
        words = str(fault).strip().split("\n")[0][:200]
        figures = {"error": f"{type(fault).__name__}: {words}"}
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return {"name": name, **figures, "whole": round(time.perf_counter() - began, 1)}


def replace_varlen_kernel() -> None:
    """Without CUDA: something of the same shape in place of torch's kernel."""
    from transduce.model.attention import varlen as variable_length

    def same_shape(
        query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *_: object, **__: object
    ) -> torch.Tensor:
        return query + key.mean() + value.mean()

    variable_length.import_varlen_kernel = lambda: same_shape


if __name__ == "__main__":
    main(*sys.argv[1:])
