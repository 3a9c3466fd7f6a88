"""What the figures of Table 1 say, in sentences: also where they are not what the theory has."""

from collections.abc import Iterator

from transduce.reproduce.table1.measure import Row, Table

FAR = 0.25  # a power that is farther than this from that of the operations is named


def findings(table: Table) -> list[str]:
    """Each a sentence with its figures."""
    return [
        agreement(table),
        of_paths(table),
        *powers(table),
        left_out(table),
        compared(table),
        *out_of_step(table),
    ]


def agreement(table: Table) -> str:
    """Of the two ways to count."""
    differ = [
        abs((p.operations + p.around) / (p.by_hand + p.around_by_hand) - 1)
        for row in table.rows
        for p in row.points
    ]
    return (
        f"operations counted from the running layers and by hand differ by at most "
        f"{max(differ):.2%}, over {len(differ)} layers and sizes"
    )


def of_paths(table: Table) -> str:
    """Whether gradients reach as far as they should."""
    all_paths = [path for row in table.rows for path in row.paths]
    wrong = sum(path.length != path.by_hand for path in all_paths)
    side = "m is how many places a layer sees on a side: (r - 1) / 2, or (k - 1) / 2 in the encoder"
    return (
        f"{len(all_paths) - wrong} of {len(all_paths)} path lengths are those of the formula; "
        f"{side} and k - 1 in the decoder, which sees one side only"
    )


def powers(table: Table) -> Iterator[str]:
    """Whether operations grow as the paper has it."""
    for row in table.rows:
        in_n, in_d = row.in_n(lambda p: p.operations), row.in_d(lambda p: p.operations)
        n, d = row.kind.printed.powers
        if abs(in_n.power - n) > 0.01 or (d is not None and abs(in_d.power - d) > 0.01):
            yield (
                f"{row.kind.name}: operations grow as n^{in_n} d^{in_d}, where the paper has "
                f"{row.kind.printed.operations}"
            )


def left_out(table: Table) -> str:
    """The projections of attention."""
    row = next(row for row in table.rows if row.kind.name == "self-attention")
    n, _ = row.plan.middle
    at = next(p for p in row.along_n() if p.n == n)
    share = at.around / (at.around + at.operations)
    return (
        f"the paper's O(n² · d) leaves out the projections Q, K, V and O, which are O(n · d²): "
        f"{share:.0%} of a self-attention layer's operations at n = {at.n}, d = {at.d}"
    )


def compared(table: Table) -> str:
    """The paper: self-attention is faster than a recurrent layer when n is smaller than d."""
    times = [
        {p.n: p for p in row.along_n()}
        for row in table.rows
        if row.kind.name in ("self-attention", "recurrent (LSTM)")
    ]
    ours, theirs = times
    d = table.plan.middle[1]
    quicker = [n for n in ours if ours[n].seconds < theirs[n].seconds]
    fewer = [n for n in ours if ours[n].operations < theirs[n].operations]
    return (
        f"self-attention against the LSTM at d = {d}: quicker at n = {listed(quicker)}, fewer "
        f"operations without its projections at n = {listed(fewer)} (the paper: when n < d)"
    )


def listed(numbers: list[int]) -> str:
    """Numbers with commas, or none."""
    return ", ".join(map(str, numbers)) or "none of them"


def out_of_step(table: Table) -> Iterator[str]:
    """Where time grows otherwise than operations do."""
    rows = [(row.kind.name, list(differences(row))) for row in table.rows]
    said = [f"{name}: {', '.join(differ)}" for name, differ in rows if differ]
    if said:
        yield (
            "time does not grow here as all operations of a layer do, for calls, memory and what "
            f"is not counted take time, too: {'; '.join(said)}"
        )


def differences(row: Row) -> Iterator[str]:
    """The powers of time that are far from those of operations."""
    for letter, grows in (("n", row.in_n), ("d", row.in_d)):
        counted, timed = grows(lambda p: p.operations + p.around), grows(lambda p: p.seconds)
        if abs(counted.power - timed.power) > FAR:
            yield f"{letter}^{timed} ± {timed.error:.2f} for {letter}^{counted}"
