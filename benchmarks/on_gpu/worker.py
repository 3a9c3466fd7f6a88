"""A worker: the cases of a part, each on a line as soon as it is measured.

Arguments: part, scale, seconds of a measurement; for the part "reading" a model folder and a text.

A case that fails says so and leaves the others alone; a worker that dies leaves the lines it wrote.
"""

import gc
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import Any

import torch

from benchmarks.on_gpu.scale import FULL, REHEARSAL

CASES: Mapping[str, str] = MappingProxyType(  # the function that yields a part's cases
    {
        "agreement": "agreeing.cases",
        "products": "products.cases",
        "update": "ladder.cases",
        "big": "ladder.cases_of_big",
        "attention": "attending.cases",
        "loss": "losing.cases",
        "kernels": "kernels.cases",
        "search": "searching.cases",
        "peers": "peers.cases",
        "ctranslate2": "by_ctranslate2.cases",
        "reading": "reading.cases",
    }
)


def main(part: str, scale: str, seconds: str, *text: str) -> None:
    """Measure."""
    chosen = replace(REHEARSAL if scale == "rehearsal" else FULL, seconds=float(seconds))
    if text:
        chosen = replace(chosen, text=(text[0], text[1]))
    torch.manual_seed(1)
    if chosen.rehearsed:
        replace_varlen_kernel()
    module, function = CASES[part].split(".")
    cases = getattr(import_module(f"benchmarks.on_gpu.{module}"), function)
    for name, work in cases(chosen):
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
    from transduce.fast import varlen as variable_length

    def same_shape(
        query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *_: object, **__: object
    ) -> torch.Tensor:
        return query + key.mean() + value.mean()

    variable_length.import_varlen_kernel = lambda: same_shape


if __name__ == "__main__":
    main(*sys.argv[1:])
