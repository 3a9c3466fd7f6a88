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
PRECISIONS = ("float32", "bfloat16")
PEERS = {
    "torch.nn.Transformer, as people run it": ("torch", "plain"),
    "Hugging Face Marian": ("marian", "plain"),
    "Hugging Face Marian, with our allocator switch": ("marian", "kept"),
}
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
            variants.append(Variant("ceiling", "ceiling", (precision,)))
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
    lines = [
        f"Updates of at most {TOKENS:,} real tokens a side, sentences of about 13, V = {V:,}, "
        "dropout 0.1, label smoothing 0.1, Adam with weights in float32; the peers' bfloat16 is "
        "torch's autocast. GFLOP/s counts the operations that real tokens need. Memory is the peak "
        "above what the imports took.",
        "",
        *([found["without peers"], ""] if found["without peers"] else []),
    ]
    for shape, turns in found["shapes"].items():
        name = shape.split(",")[0]
        lines += [f"### {shape}: {sizes(SHAPES[name])}", "", *build_table(name, turns, OURS)]
    return lines


def page_kernels(found: dict[str, Any]) -> list[str]:
    """Lines of the page."""
    lines = []
    for shape, turns in found["shapes"].items():
        lines += [f"### {shape}", "", *build_table(shape, turns, next(iter(KERNELS)))]
    return lines


def sizes(one: Architecture) -> str:
    """The columns of Table 3 that matter here."""
    return f"N {one.layers}, d_model {one.d_model}, d_ff {one.d_ff}, h {one.heads}"


def build_table(shape: str, turns: dict[str, list[Turn]], ours: str) -> list[str]:
    """A table of one shape."""
    trained = {name: some for name, some in turns.items() if name != "ceiling"}
    faster = ratios(trained, ours, rate)
    header = ["", "target tokens/s", "GFLOP/s", "memory, GB", f"{ours} is faster, times"]
    body = [
        [
            name,
            spread([rate(turn) for turn in some]),
            f"{median(gflops(shape, turn) for turn in some):,.0f}",
            f"{max(turn['memory'] for turn in some) / 1e9:.2f}",
            "" if name == ours else spread(faster[name], 2),
        ]
        for name, some in trained.items()
    ]
    if "ceiling" in turns:
        products = [turn["operations"] / turn["seconds"] / 1e9 for turn in turns["ceiling"]]
        body.append(["a large matrix product", "", f"{median(products):,.0f}", "", ""])
    return table(header, body)


def rate(turn: Turn) -> float:
    """Real target tokens a second."""
    return turn["target_tokens"] / turn["seconds"]


def gflops(shape: str, turn: Turn) -> float:
    """Useful work a second."""
    needed = operations(SHAPES[shape], turn["source_tokens"], turn["target_tokens"])
    return needed / turn["seconds"] / 1e9
