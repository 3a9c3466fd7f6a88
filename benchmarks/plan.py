"""Planning an epoch: which pairs make up which update."""

import time
from typing import Any

from benchmarks.figures import spread
from benchmarks.options import Options
from benchmarks.shapes import lengths
from transduce.corpus.plan import Plan

PAIRS, TOKENS = 1_000_000, 25_000


def measure(options: Options) -> dict[str, Any]:
    """The first update of a new plan, which needs the whole epoch."""
    source, target = lengths(PAIRS // 100 if options.quick else PAIRS)
    seconds, updates = [], 0
    for seed in range(options.rounds):
        began = time.perf_counter()
        plan = Plan(source, target, source_tokens=TOKENS, target_tokens=TOKENS, seed=seed)
        plan.select_pairs(1)
        seconds.append(time.perf_counter() - began)
        updates = len(plan.epoch(1))
    return {"pairs": len(source), "seconds": seconds, "updates": updates}


def page(found: dict[str, Any]) -> list[str]:
    """Lines of the page."""
    return [
        f"An epoch of {found['pairs']:,} pairs in {found['updates']:,} updates of at most "
        f"{TOKENS:,} tokens a side: {spread(found['seconds'], 2)} s.",
        "",
    ]
