"""Table 2 as the paper shapes it: BLEU and cost of training, ours beside what it prints.

Below base and big stand other layers in attention's place, at base's cost    (section 6.1)
"""

from transduce.recipes.printed import TABLE_2 as PUBLISHED
from transduce.recipes.printed import Published
from transduce.reproduce.findings import Finding, chance_note, findings
from transduce.reproduce.picture import Panel, Picture, alone, of_rows
from transduce.reproduce.report import Cells, Report, beside, conditions, record
from transduce.reproduce.table import Measured, Row, Table

COSTS = (
    "Costs are operations. Estimated: time x devices x sustained rate, as in the paper. Counted: "
    "products of matrices, forward and backward; other layers in attention's place take as many "
    "steps as base's counted cost allows. BLEU-paper: of words as the paper cuts them, where the "
    "test set is the paper's."
)
BESIDE = {
    "en-de": "beside the paper may stand BLEU-paper at the scale paper on newstest2014-filtered "
    "(2,737 lines: --test-source, --test-target) with a reference that others have tokenised; with "
    "a plain one it is near. BLEU counts other words, and the test set of wmt14-en-de is all 3,003 "
    "lines of newstest2014: neither may",
    "en-fr": "no figure here may stand beside the paper's, for it does not say how it cut French "
    "into words",
}
FINDINGS = (
    Finding("the big model is better", "big", "base"),
    Finding("at one cost attention is better than recurrent layers", "base", "recurrent"),
    Finding("at one cost attention is better than convolutions", "base", "convolution"),
    Finding("at one cost attention is better than separable ones", "base", "separable"),
)
OURS = ("BLEU", "BLEU-paper", "PPL", "params ×10⁶", "averaged", "steps", "minutes")
COUNTED = ("estimated", "counted", "of base's")


def report(table: Table) -> Report:
    """The table, and what the paper found in it."""
    pair = pair_of(table)
    title = f"Table 2, {pair}, at the scale {table.scale}"
    found = findings(table, FINDINGS, {"BLEU": by_row(pair)})
    return Report(
        name="table2",
        title=title,
        how=[
            *conditions(table),
            "the mean of the last snapshots; the paper: on newstest2014",
            BESIDE[pair],
        ],
        parts=[
            (f"BLEU and cost, {pair}, ours at the scale {table.scale}", COSTS, cells(table, pair)),
            (f"Who is better, at the scale {table.scale}", chance_note(table), found),
        ],
        records=[record(run) | printed(run.row, pair) for run in table.runs],
        picture=drawing(table, title, pair),
    )


def pair_of(table: Table) -> str:
    """The two languages."""
    data = table.runs[0].recipe.data
    return f"{data.source_language}-{data.target_language}"


def published(pair: str) -> list[Published]:
    """Rows that the paper prints for these languages."""
    return [one for one in PUBLISHED if pair in one.bleu]


def by_row(pair: str) -> dict[str, float]:
    """The paper's BLEU of its own models."""
    return {one.row: float(one.bleu[pair]) for one in published(pair) if one.row}


def printed(row: str, pair: str) -> dict[str, str | None]:
    """What stands in the paper's table."""
    paper = next((one for one in published(pair) if one.row == row), None)
    return {
        "printed_bleu": paper and paper.bleu[pair],
        "printed_cost": paper and paper.cost[pair],
    }


def cells(table: Table, pair: str) -> Cells:
    """Head; what others published, as printed; rows that were trained here."""
    head = ("model", "BLEU printed", "cost printed", *OURS, *COUNTED, "beside the paper")
    blank = ("",) * (len(OURS) + len(COUNTED))
    lines: list[tuple[str, ...]] = [head]
    for one in published(pair):
        said = (one.bleu[pair], one.cost.get(pair, ""))
        if one.row not in table.rows:
            lines.append((named(one), *said, *blank, one.source or "not measured here"))
        else:
            lines.append((named(one), *said, *ours(table, table.rows[one.row])))
    others = [row for name, row in table.rows.items() if name not in by_row(pair)]
    lines += [(f"{row.name} in attention's place", "", "", *ours(table, row)) for row in others]
    return lines


def named(one: Published) -> str:
    """As printed, with our row's name."""
    return f"{one.model}: {one.row}" if one.row else one.model


def ours(table: Table, row: Row) -> tuple[str, ...]:
    """What was measured of a row."""
    run, base = row.runs[0], table.rows.get("base")
    counted, whole = row.cost("counted"), base and base.cost("counted")
    share = f"{counted / whole:.2f}" if counted and whole else ""
    return (
        row.bleu.shown(2),
        row.paper_bleu.shown(2) if row.paper_bleu else "",
        row.perplexity.shown(2),
        f"{row.parameters / 1e6:.2f}",
        str(len(run.averaged)),
        f"{run.updates:,}",
        f"{Measured([one.seconds for one in row.runs]).mean / 60:.1f}",
        *(as_printed(cost) if cost else "" for cost in (row.cost("estimated"), counted)),
        share,
        beside(table, run),
    )


def as_printed(cost: float) -> str:
    """3.3e18"""
    return f"{cost:.1e}".replace("e+", "e")


def drawing(table: Table, title: str, pair: str) -> Picture:
    """BLEU and cost of each row, the paper's beside ours."""
    names = {one.row or one.model: one for one in published(pair)}
    scores = alone({name: float(one.bleu[pair]) for name, one in names.items()})
    costs = alone({name: float(one.cost[pair]) for name, one in names.items() if pair in one.cost})
    counted = {name: row.cost("counted") for name, row in table.rows.items()}
    scale = f"ours, {table.scale}"
    panels = [
        Panel("BLEU, the paper", scores),
        Panel(f"BLEU, {scale}", of_rows(table.rows, "bleu")),
        Panel("operations, the paper's estimate", costs, is_logarithmic=True),
        Panel(
            f"operations counted, {scale}",
            alone({name: cost for name, cost in counted.items() if cost}),
            is_logarithmic=True,
        ),
    ]
    return Picture(title, list(dict.fromkeys((*names, *table.recipes))), panels)
