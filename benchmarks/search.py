"""Beam search: ours and Hugging Face's generate with the same weights, the same steps."""

from typing import Any

from benchmarks.figures import ratios, spread, table
from benchmarks.options import Options
from benchmarks.shapes import V
from benchmarks.training import sizes
from benchmarks.turns import Turn, Variant, in_turns

LENGTH = 20  # symbols of every output, then END
WAYS = {  # shape, sentences a turn, sentences at once
    "d256": {"batches of 64": (64, 64), "one sentence alone": (6, 1)},
    "base": {"batches of 32": (32, 32), "one sentence alone": (3, 1)},
}
OURS, PEER = "transduce", "Hugging Face generate"


def measure(options: Options) -> dict[str, Any]:
    """Every shape, in batches and alone."""
    found: dict[str, Any] = {}
    for shape, ways in WAYS.items():
        found[shape] = {}
        for way, (count, at_once) in ways.items():
            if options.quick:
                count, at_once = min(count, 4), min(at_once, 4)
            arguments = (shape, str(count), str(at_once), str(LENGTH))
            variants = [Variant(OURS, "search_ours", arguments)]
            if not options.no_peers:
                variants.append(Variant(PEER, "search_peers", arguments, peer=True))
            turns = in_turns(variants, options.rounds, options.threads)
            found[shape][way] = {"turns": turns, "equal outputs": equal_outputs(turns)}
    return {"shapes": found, "without peers": options.no_peers}


def equal_outputs(turns: dict[str, list[Turn]]) -> str:
    """How many outputs of one round are the same for all; takes them out of the turns."""
    every = [[turn.pop("outputs") for turn in some] for some in turns.values()]
    same = [len(set(outputs)) == 1 for outputs in zip(*(some[0] for some in every), strict=True)]
    return f"{sum(same)} of {len(same)}"


def page(found: dict[str, Any]) -> list[str]:
    """Lines of the page."""
    lines = [
        f"Beam 4, V = {V:,}, float32, random weights, the same ones for both. Every output is "
        f"held to {LENGTH} symbols and END, so that both take the same steps.",
        "",
        *([found["without peers"], ""] if found["without peers"] else []),
    ]
    for shape, ways in found["shapes"].items():
        lines += [f"### {shape}: {sizes(shape)}", ""]
        for way, measured in ways.items():
            lines += [f"{way}; equal outputs: {measured['equal outputs']}", ""]
            lines += rows(measured["turns"])
    return lines


def rows(turns: dict[str, list[Turn]]) -> list[str]:
    """A table of one way."""
    faster = ratios(turns, OURS, rate)
    header = ["", "output tokens/s", "sentences/s", "memory, GB", f"{OURS} is faster, times"]
    body = [
        [
            name,
            spread([rate(turn) for turn in some]),
            spread([turn["sentences"] / turn["seconds"] for turn in some], 1),
            f"{max(turn['memory'] for turn in some) / 1e9:.2f}",
            "" if name == OURS else spread(faster[name], 2),
        ]
        for name, some in turns.items()
    ]
    return table(header, body)


def rate(turn: Turn) -> float:
    """Output tokens a second, END among them."""
    return turn["tokens"] / turn["seconds"]
