"""Self-attention restricted to r positions beside full attention, forward and back, as n grows."""

import time
from typing import Any

import torch

from benchmarks.figures import ratios, spread, table
from benchmarks.options import Options
from benchmarks.turns import Turn
from transduce.reproduce.layer_costs.layers import LAYER_KINDS, build_layer, build_sizes
from transduce.reproduce.layer_costs.measure import measure_peak_bytes

LENGTHS, WIDTH, NEIGHBOURHOOD = (512, 1_024, 2_048, 4_096, 8_192), 128, 129
FULL = 4_096  # full attention's longest: at twice this its scores take gigabytes
WAYS = {"restricted": "self-attention (restricted)", "full": "self-attention"}


def measure(options: Options) -> dict[str, Any]:
    """Milliseconds and MiB of one layer on one sentence, all layers of a length in turn."""
    torch.set_num_threads(options.threads)
    kinds = {kind.name: kind for kind in LAYER_KINDS}
    found: dict[int, dict[str, list[Turn]]] = {}
    for n in LENGTHS[:1] if options.quick else LENGTHS:
        updates = {
            way: build_layer(n, build_sizes(kind, WIDTH, 3, NEIGHBOURHOOD)).build_update()
            for way, kind in ((way, kinds[name]) for way, name in WAYS.items())
            if way != "full" or n <= FULL
        }
        memory = {way: measure_peak_bytes(update) >> 20 for way, update in updates.items()}
        found[n] = {way: [] for way in updates}
        for number in range(options.rounds + 1):  # round 0 warms up
            for way in list(updates)[:: 1 if number % 2 else -1]:
                began = time.perf_counter()
                updates[way]()
                ms = 1_000 * (time.perf_counter() - began)
                if number:
                    found[n][way].append({"ms": ms, "MiB": memory[way]})
    return {"lengths": found}


def page(found: dict[str, Any]) -> list[str]:
    """Lines of the page."""
    rows = []
    for n, turns in found["lengths"].items():
        cells = [
            f"{spread([one['ms'] for one in turns[way]], 1)}, {turns[way][0]['MiB']:,}"
            if way in turns
            else "not measured"
            for way in WAYS
        ]
        faster = ratios(turns, "restricted", lambda turn: 1 / turn["ms"]).get("full")
        rows.append([f"{int(n):,}", *cells, spread(faster, 2) if faster else ""])
    return [
        f"One layer of {WIDTH} numbers and 8 heads on a sentence of n positions, forward and back "
        f"in float32; restricted to r = {NEIGHBOURHOOD} positions.",
        "",
        *table(["n", "restricted: ms, MiB", "full: ms, MiB", "times as fast"], rows),
    ]
