"""Training speed and memory: ours, torch.nn.Transformer and Marian on the same tokens."""

from statistics import median
from typing import Any

from benchmarks.figures import ratios, spread, table
from benchmarks.options import Options, leave_out_slow
from benchmarks.shapes import SHAPES, TOKENS, V, operations
from benchmarks.turns import Turn, Variant, measure_in_turns
from transduce.settings import Architecture

UPDATES = {"tiny": 6, "small": 3, "base": 1}  # a turn
OURS = "transduce"
CEILING = "ceiling"
PRECISIONS = ("float32", "bfloat16")
PEERS = {
    "torch.nn.Transformer, as people run it": ("torch", "plain"),
    "Hugging Face Marian": ("marian", "plain"),
    "Hugging Face Marian, with our allocator switch": ("marian", "kept"),
}
ABOUT = (
    f"*Training*: updates of at most {TOKENS:,} real tokens a side, sentences of about 13, "
    f"V = {V:,}, dropout 0.1, label smoothing 0.1, Adam with weights in float32; the peers' "
    "bfloat16 is torch's autocast. GFLOP/s counts the operations that real tokens need, beside "
    "those of a large matrix product. Memory is the peak above what the imports took."
)
KERNELS = {"grouped (ours)": "grouped", "one sentence at a time": "plain", "torch's own": "torch"}


def measure(options: Options) -> dict[str, Any]:
    """Every shape in both precisions, every variant."""
    found = {}
    for shape, updates in shapes(options).items():
        for precision in leave_out_slow(PRECISIONS):
            what = (shape, str(updates), precision)
            variants = [Variant(OURS, "training_ours", (*what, "grouped"))]
            if not options.no_peers:
                variants += [
                    Variant(name, "training_peers", (*what, *how), peer=True)
                    for name, how in PEERS.items()
                ]
            variants.append(Variant(CEILING, "ceiling", (precision,)))
            found[f"{shape}, {precision}"] = measure_in_turns(
                variants, options.rounds, options.threads
            )
    return {"shapes": found, "without peers": options.no_peers}


def measure_kernels(options: Options) -> dict[str, Any]:
    """Ours with each way to compute attention."""
    return {
        "shapes": {
            shape: measure_in_turns(
                [
                    Variant(name, "training_ours", (shape, str(updates), "float32", kernel))
                    for name, kernel in KERNELS.items()
                ],
                options.rounds,
                options.threads,
            )
            for shape, updates in shapes(options).items()
            if shape != "base"  # where attention is a small part
        }
    }


def shapes(options: Options) -> dict[str, int]:
    """What is trained, and how many updates a turn has."""
    return {"tiny": 1} if options.quick else UPDATES


def page(found: dict[str, Any]) -> list[str]:
    """Lines of the page."""
    without = [found["without peers"], ""] if found["without peers"] else []
    return [*without, *build_table(found["shapes"], OURS)]


def page_kernels(found: dict[str, Any]) -> list[str]:
    """Lines of the page."""
    return build_table(found["shapes"], next(iter(KERNELS)))


def sizes(one: Architecture) -> str:
    """The columns of Table 3 that matter here."""
    return f"N {one.layers}, d_model {one.d_model}, d_ff {one.d_ff}, h {one.heads}"


def build_table(shapes: dict[str, dict[str, list[Turn]]], ours: str) -> list[str]:
    """A row for each shape: ours, and how many times as fast as each other variant it is."""
    others = [
        name
        for name in dict.fromkeys(name for turns in shapes.values() for name in turns)
        if name not in (ours, CEILING)
    ]
    header = [f"{ours}:", "target tokens/s", "GFLOP/s", "of a matrix product's", "GB"]
    header += [cell for name in others for cell in (f"times as fast as {name}", "its GB")]
    body = []
    for shape, turns in shapes.items():
        mine = turns[ours]
        reached = median(gflops(shape.split(",")[0], turn) for turn in mine)
        row = [shape, spread([rate(turn) for turn in mine]), f"{reached:,.0f}"]
        row += [f"{reached / product:.0%}" if (product := measure_ceiling(turns)) else ""]
        row += [peak(mine)]
        faster = ratios({name: turns[name] for name in turns if name != CEILING}, ours, rate)
        for name in others:
            row += [spread(faster[name], 2), peak(turns[name])] if name in turns else ["", ""]
        body.append(row)
    return table(header, body)


def measure_ceiling(turns: dict[str, list[Turn]]) -> float:
    """The GFLOP/s of a large matrix product; 0.0 if it was not measured."""
    found = [turn["operations"] / turn["seconds"] / 1e9 for turn in turns.get(CEILING, ())]
    return median(found) if found else 0.0


def peak(turns: list[Turn]) -> str:
    """The most memory of any round in GB."""
    return f"{max(turn['memory'] for turn in turns) / 1e9:.2f}"


def rate(turn: Turn) -> float:
    """Real target tokens a second."""
    return turn["target_tokens"] / turn["seconds"]


def gflops(shape: str, turn: Turn) -> float:
    """Useful work a second."""
    needed = operations(SHAPES[shape], turn["source_tokens"], turn["target_tokens"])
    return needed / turn["seconds"] / 1e9
