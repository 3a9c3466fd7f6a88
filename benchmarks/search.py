"""Beam search with the same weights and steps: ours, Hugging Face's generate, CTranslate2."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.figures import ratios, spread, table
from benchmarks.options import Options, leave_out_slow
from benchmarks.search_input import load_search_input
from benchmarks.shapes import V
from benchmarks.training import sizes
from benchmarks.turns import Turn, Variant, measure_in_turns

LENGTH = 20  # symbols of every output, and steps of every system
ALONE = "one sentence alone"
WAYS = {  # shape, sentences a turn, sentences at once
    "d256": {"batches of 64": (128, 64), ALONE: (6, 1)},
    "base": {"batches of 32": (64, 32), ALONE: (3, 1)},
}
PRECISIONS = ("float32", "bfloat16", "int8")
EXACT = "transduce, float32"
ABOUT = (
    f"*Search*: beam 4, V = {V:,}, the same random weights for all, {LENGTH} symbols an output. "
    '"Ours is faster" compares our fastest way in a row\'s precision with the row. `1 × 2 threads` '
    "is one process of two threads."
)
PAIR = "two processes of one thread"


def measure(options: Options) -> dict[str, Any]:
    """Measure every shape, in batches and one sentence at a time."""
    found: dict[str, Any] = {}
    for shape, ways in WAYS.items():
        found[shape] = {}
        for way, (count, at_once) in ways.items():
            if options.quick:
                count, at_once = min(count, 4), min(at_once, 2)
            chosen = variants(options, shape, str(count), str(at_once), str(LENGTH))
            turns = measure_in_turns(chosen, options.rounds, options.threads)
            found[shape][way] = {"turns": turns, "equal outputs": count_equal_outputs(turns)}
    return {"shapes": found, "without peers": options.no_peers, "equal steps": True}


def measure_model(options: Options) -> dict[str, Any]:
    """A trained model, whose hypotheses soon agree on how they began, and whose outputs end."""
    assert options.model
    assert options.text
    model, sources = load_search_input(str(options.model), str(options.text))
    what = (str(options.model.absolute()), str(options.text.absolute()), "64", "0")
    chosen = [one for one in variants(options, *what) if one.module != "search_peers"]
    turns = measure_in_turns(chosen, options.rounds, options.threads)
    return {
        "sizes": sizes(model.sizes),
        "symbols": len(model.output.weight),
        "lines": len(sources),
        "source tokens": sum(map(len, sources)),
        "without peers": options.no_peers,
        "turns": turns,
        "equal outputs": count_equal_outputs(turns),
    }


def variants(options: Options, shape: str, count: str, at_once: str, length: str) -> list[Variant]:
    """List the variants; batches also run in two processes, single sentences in one thread."""
    what = (shape, count, at_once, length)
    chosen: list[Variant] = []
    precisions = leave_out_slow(PRECISIONS)
    for precision in precisions:
        ours = f"transduce, {precision}"
        chosen.append(Variant(ours, "search_ours", (*what, precision, "0/1")))
        if int(at_once) > 1:
            chosen.append(Variant(f"{ours}, {PAIR}", "search_pair", (*what, precision)))
        else:
            whole = (*what, precision, "0/1")
            chosen.append(Variant(f"{ours}, one thread", "search_ours", whole, threads=1))
    if options.no_peers:
        return chosen
    for precision in precisions:
        if precision == "int8":
            continue  # generate has no such products on a CPU
        name = f"Hugging Face generate, {precision}"
        chosen.append(Variant(name, "search_peers", (*what, precision), peer=True))
    for precision, workers, threads in list_ctranslate2_variants(options.threads, int(at_once)):
        name = f"CTranslate2, {precision}, {workers} × {threads} threads"
        arguments = (*what, precision, str(workers), str(threads))
        chosen.append(Variant(name, "search_ctranslate2", arguments, peer=True))
    return chosen


def list_ctranslate2_variants(threads: int, at_once: int) -> list[tuple[str, int, int]]:
    """List CTranslate2's (precision, workers, threads); its int8 is slow with many threads."""
    if at_once > 1:
        return [("float32", 1, threads), ("float32", threads, 1), ("int8", threads, 1)]
    return [("float32", 1, threads), ("float32", 1, 1), ("int8", 1, 1)]


def count_equal_outputs(turns: dict[str, list[Turn]]) -> dict[str, str]:
    """Count the outputs equal to our float32 ones, and remove them from the turns."""
    popped = {name: [turn.pop("outputs") for turn in some] for name, some in turns.items()}
    every = {name: some[0] for name, some in popped.items()}
    return {
        name: f"{sum(map(int.__eq__, every[EXACT], theirs))} of {len(theirs)}"
        for name, theirs in every.items()
    }


def page(found: dict[str, Any]) -> list[str]:
    """Lines of the page."""
    lines = [
        name_steps(found),
        "",
        *([found["without peers"], ""] if found["without peers"] else []),
    ]
    shapes = found["shapes"]
    for alone in (False, True):
        columns = {
            f"{shape}, {way}": measured
            for shape, ways in shapes.items()
            for way, measured in ways.items()
            if (way == ALONE) is alone
        }
        lines += build_table(columns)
    return lines


def name_steps(found: Mapping[str, Any]) -> str:
    """Return a sentence about the steps that each system took."""
    if took_equal_steps(found):
        return f"All take {LENGTH} steps, none for END."
    return (
        f"CTranslate2 took {LENGTH} steps, transduce and Hugging Face {LENGTH + 1}, one of them "
        "for END: transduce is up to a twentieth faster beside CTranslate2 than these figures say."
    )


def took_equal_steps(found: Mapping[str, Any]) -> bool:
    """Return whether all systems took as many steps: CTranslate2 took one less until 2026-11-26."""
    return "equal steps" in found


def page_model(found: dict[str, Any]) -> list[str]:
    """Lines of the page."""
    mean = found["source tokens"] / found["lines"]
    return [
        f"Beam 4, {found['sizes']}, V = {found['symbols']:,}, weights of a training run, "
        f"{found['lines']:,} lines of {mean:.0f} tokens on average, batches of 64. Outputs end "
        "where they end, and the two programs weigh length a little differently; tokens are those "
        "of each one's own outputs.",
        "",
        *([found["without peers"], ""] if found["without peers"] else []),
        *build_table({"": found}),
    ]


def build_table(columns: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Build a table with a row for each variant and three columns for each way of searching.

    A sentence about the outputs that differ from ours in float32 ends it.
    """
    header = [""]
    body = {name: [name] for measured in columns.values() for name in measured["turns"]}
    for column, measured in columns.items():
        turns = measured["turns"]
        faster = compare_within_precision(turns)
        begin = f"{column}: " if column else ""
        header += [f"{begin}output tokens/s", "memory, GB", "ours is faster, times"]
        for name, row in body.items():
            some = turns.get(name)
            row += [
                spread([rate(turn) for turn in some]) if some else "",
                f"{max(turn['memory'] for turn in some) / 1e9:.2f}" if some else "",
                spread(faster[name], 2) if name in faster else "",
            ]
    return [*table(header, list(body.values())), describe_outputs(columns), ""]


def describe_outputs(columns: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a sentence that names the variants whose outputs are not all ours in float32."""
    found = []
    for column, measured in columns.items():
        unequal = [
            f"{name} ({equal})"
            for name, equal in measured["equal outputs"].items()
            if (halves := equal.split(" of "))[0] != halves[1]
        ]
        if unequal:
            found.append(f"{column}: {'; '.join(unequal)}" if column else "; ".join(unequal))
    if not found:
        return "Outputs equal ours in float32."
    return f"Outputs equal ours in float32 but for these. How many are equal: {'. '.join(found)}."


def compare_within_precision(turns: Mapping[str, Sequence[Turn]]) -> dict[str, list[float]]:
    """Return how many times as fast as each variant our fastest way in its precision is."""
    measured = [p for p in PRECISIONS if f"transduce, {p}" in turns]
    return {
        name: ratio
        for precision in measured
        for ours in [find_fastest(turns, precision)]
        for name, ratio in ratios(turns, ours, rate).items()
        if f", {precision}" in name and name != ours
    }


def find_fastest(turns: Mapping[str, Sequence[Turn]], precision: str) -> str:
    """Return the name of our fastest variant in a precision."""
    ours = [name for name in turns if name.startswith(f"transduce, {precision}")]
    return min(ours, key=lambda name: sum(turn["seconds"] for turn in turns[name]))


def rate(turn: Turn) -> float:
    """Return output tokens a second, without END."""
    return turn["tokens"] / turn["seconds"]
