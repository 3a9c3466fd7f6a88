"""The findings on the measured Table 1 as sentences, such as where it differs from the paper."""

from collections.abc import Iterator

from transduce.reproduce.layer_costs.measure import LayerRow, LayerTable

MAX_DEVIATION = 0.25  # larger differences between powers of time and operations are reported


def describe_findings(table: LayerTable) -> list[str]:
    """Return the findings on a measured Table 1, each a sentence with numbers."""
    return [
        describe_agreement(table),
        describe_windows(table),
        describe_paths(table),
        *describe_operation_powers(table),
        describe_projections(table),
        describe_lstm_comparison(table),
        *describe_time_growth(table),
    ]


def describe_agreement(table: LayerTable) -> str:
    """Return a sentence on how far torch's counts of operations differ from the formulas'."""
    differ = [
        abs(p.with_projections / (p.by_hand + p.projections_by_hand) - 1)
        for row in table.rows
        if not row.kind.restricted
        for p in row.points
    ]
    return (
        f"operations counted from the running layers and by hand differ by at most "
        f"{max(differ):.2%}, over {len(differ)} layers and sizes without restricted attention"
    )


def describe_windows(table: LayerTable) -> str:
    """Return a sentence on how many times r scores a position restricted attention computes."""
    row = next(row for row in table.rows if row.kind.restricted)
    times = ", ".join(f"{p.operations / p.by_hand:.1f} (n = {p.n})" for p in row.points_by("n"))
    return (
        f"{row.kind.name} is the kernel of models. It computes {times} times the r = "
        f"{table.plan.r} scores a position that are counted by hand: neighbours share a "
        "window, and short sentences are not cut"
    )


def describe_paths(table: LayerTable) -> str:
    """Return a sentence on how many measured maximum path lengths match Table 1's formulas."""
    all_paths = [path for row in table.rows for path in row.paths]
    wrong = sum(path.length != path.by_hand for path in all_paths)
    side = (
        "m is how many positions a layer sees on a side: (r - 1) / 2, or (k - 1) / 2 in the encoder"
    )
    return (
        f"{len(all_paths) - wrong} of {len(all_paths)} path lengths are those of the formula; "
        f"{side} and k - 1 in the decoder, which sees one side only"
    )


def describe_operation_powers(table: LayerTable) -> Iterator[str]:
    """Yield a sentence for each layer whose powers of n and d differ from those in Table 1."""
    for row in table.rows:
        in_n, in_d = (row.fit_power(letter, lambda p: p.operations) for letter in "nd")
        n, d = row.kind.printed.powers
        if abs(in_n.power - n) > 0.01 or (d is not None and abs(in_d.power - d) > 0.01):
            yield (
                f"{row.kind.name}: operations grow as n^{in_n} d^{in_d}, where the paper has "
                f"{row.kind.printed.operations}"
            )


def describe_projections(table: LayerTable) -> str:
    """Return a sentence on the share of the projections in self-attention's operations."""
    row = next(row for row in table.rows if row.kind.name == "self-attention")
    n, _ = row.plan.middle
    at = next(p for p in row.points_by("n") if p.n == n)
    share = at.projections / at.with_projections
    return (
        f"the paper's O(n² · d) leaves out the projections Q, K, V and O, which are O(n · d²): "
        f"{share:.0%} of a self-attention layer's operations at n = {at.n}, d = {at.d}"
    )


def describe_lstm_comparison(table: LayerTable) -> str:
    """Return a sentence on the sentence lengths at which self-attention is faster than the LSTM."""
    times = [
        {p.n: p for p in row.points_by("n")}
        for row in table.rows
        if row.kind.name in ("self-attention", "recurrent (LSTM)")
    ]
    ours, theirs = times
    d = table.plan.middle[1]
    quicker = [n for n in ours if ours[n].seconds < theirs[n].seconds]
    fewer = [n for n in ours if ours[n].operations < theirs[n].operations]
    return (
        f"self-attention against the LSTM at d = {d}: quicker at n = {format_list(quicker)}, fewer "
        f"operations without its projections at n = {format_list(fewer)} (the paper: when n < d)"
    )


def format_list(numbers: list[int]) -> str:
    """Format numbers separated by commas; return "none of them" if there are none."""
    return ", ".join(map(str, numbers)) or "none of them"


def describe_time_growth(table: LayerTable) -> Iterator[str]:
    """Yield a sentence on layers whose time and operations grow differently, if there are any."""
    rows = [(row.kind.name, list(format_power_differences(row))) for row in table.rows]
    deviating = [f"{name}: {', '.join(differ)}" for name, differ in rows if differ]
    if deviating:
        yield (
            "time does not grow here as all operations of a layer do, for calls, memory and what "
            f"is not counted take time, too: {'; '.join(deviating)}"
        )


def format_power_differences(row: LayerRow) -> Iterator[str]:
    """Yield the powers of time and operations where they differ, for n and then for d.

    In "n^0.60 ± 0.05 for n^1.00" the first power is that of time, with its standard error, and the
    second that of operations.
    """
    for letter in "nd":
        counted = row.fit_power(letter, lambda p: p.with_projections)
        timed = row.fit_power(letter, lambda p: p.seconds)
        if abs(counted.power - timed.power) > MAX_DEVIATION:
            yield f"{letter}^{timed} ± {timed.error:.2f} for {letter}^{counted}"
