"""The report of Table 2: BLEU and training cost beside the printed numbers    (section 6.1)

The rows after base and big have other layers in place of self-attention, and are trained at base's
cost.
"""

from collections.abc import Mapping
from statistics import fmean

from transduce.recipes.printed import TABLE_2 as PUBLISHED
from transduce.recipes.printed import Table2Row
from transduce.reproduce.report import (
    Cells,
    Panel,
    Plot,
    Report,
    build_record,
    describe_comparability,
    describe_conditions,
    wrap_single_values,
)
from transduce.reproduce.table import (
    Claim,
    ResultTable,
    TableRow,
    compare_claims,
    describe_significance,
)

COSTS = (
    "Costs are operations. Estimated: time x devices x sustained rate, as in the paper. Counted: "
    "products of matrices, forward and backward; other layers in attention's place take as many "
    "steps as base's counted cost allows. BLEU-paper: of words as the paper cuts them, where the "
    "test set is the paper's."
)
COMPARABILITY = {
    "en-de": "beside the paper may stand BLEU-paper at the scale paper on newstest2014-filtered "
    "(2,737 lines: --test-source, --test-target) with a reference that others have tokenised; with "
    "a plain one it is near. BLEU counts other words, and the test set of wmt14-en-de is all 3,003 "
    "lines of newstest2014: neither may",
    "en-fr": "no figure here may stand beside the paper's, for it does not say how it cut French "
    "into words",
}
CLAIMS = (
    Claim("the big model is better", "big", "base"),
    Claim("at one cost attention is better than recurrent layers", "base", "recurrent"),
    Claim("at one cost attention is better than convolutions", "base", "convolution"),
    Claim("at one cost attention is better than separable ones", "base", "separable"),
)
MEASURED = ("BLEU", "BLEU-paper", "PPL", "params ×10⁶", "averaged", "steps", "minutes")
NOT_COMPARABLE = "no BLEU here may stand beside the paper's, which are of other languages"
PrintedRows = Mapping[str, Table2Row]  # by our row's name; if we have none, by the paper's model
COUNTED = ("estimated", "counted", "of base's")


def build_report(table: ResultTable) -> Report:
    """Build the report of Table 2: its rows, the paper's claims, records and a plot."""
    data = table.runs[0].recipe.data
    pair = f"{data.source_language}-{data.target_language}"  # such as en-de
    scale = f"the scale {table.scale}"
    title = f"Table 2, {pair}, at {scale}"
    printed = {one.row or one.model: one for one in PUBLISHED if pair in one.bleu}
    bleu = {name: float(one.bleu[pair]) for name, one in printed.items()}
    found = compare_claims(table, CLAIMS, {"BLEU": bleu})
    return Report(
        name="table2",
        title=title,
        conditions=[
            *describe_conditions(table),
            "the mean of the last snapshots; the paper: on newstest2014",
            COMPARABILITY.get(pair, NOT_COMPARABLE),
        ],
        parts=[
            (f"BLEU and cost, {pair}, ours at {scale}", COSTS, build_cells(table, printed, pair)),
            (f"Comparisons at {scale}", describe_significance(table), found),
        ],
        rows=[build_record(run) | find_printed(printed.get(run.row), pair) for run in table.runs],
        picture=build_plot(table, title, printed, pair),
    )


def find_printed(one: Table2Row | None, pair: str) -> dict[str, str | None]:
    """Return a printed row's "printed_bleu" and "printed_cost" for a pair; None without a row."""
    return {"printed_bleu": one and one.bleu[pair], "printed_cost": one and one.cost[pair]}


def build_cells(table: ResultTable, printed: PrintedRows, pair: str) -> Cells:
    """Return the cells of Table 2: a header, the paper's rows with our scores, our other rows."""
    head = ("model", "BLEU printed", "cost printed", *MEASURED, *COUNTED, "beside the paper")
    blank = ("",) * (len(MEASURED) + len(COUNTED))
    lines: list[tuple[str, ...]] = [head]
    for name, one in printed.items():
        model = f"{one.model}: {one.row}" if one.row else one.model
        start = (model, one.bleu[pair], one.cost.get(pair, ""))
        if name in table.rows:
            lines.append((*start, *format_row(table, table.rows[name])))
        else:
            lines.append((*start, *blank, one.source or "not measured here"))
    for name, row in table.rows.items():
        if name not in printed:
            lines.append((f"{name} in attention's place", "", "", *format_row(table, row)))
    return lines


def format_row(table: ResultTable, row: TableRow) -> tuple[str, ...]:
    """Return a measured row's cells: scores, sizes, steps, time, cost and comparability."""
    run, base = row.runs[0], table.rows.get("base")
    counted, base_counted = row.cost("counted"), base and base.cost("counted")
    share = f"{counted / base_counted:.2f}" if counted and base_counted else ""
    return (
        row.bleu.format(2),
        row.paper_bleu.format(2) if row.paper_bleu else "",
        row.perplexity.format(2),
        f"{run.parameters / 1e6:.2f}",
        str(len(run.averaged)),
        f"{run.updates:,}",
        f"{fmean(one.seconds for one in row.runs) / 60:.1f}",
        *(  # as the paper prints them: 3.3e18
            f"{cost:.1e}".replace("e+", "e") if cost else ""
            for cost in (row.cost("estimated"), counted)
        ),
        share,
        describe_comparability(table, run),
    )


def build_plot(table: ResultTable, title: str, printed: PrintedRows, pair: str) -> Plot:
    """Build the plot of each row's BLEU and cost, printed and measured."""
    scores = {name: float(one.bleu[pair]) for name, one in printed.items()}
    costs = {name: float(one.cost[pair]) for name, one in printed.items() if pair in one.cost}
    counted = {name: row.cost("counted") for name, row in table.rows.items()}
    ours = f"ours, {table.scale}"
    panels = [
        Panel("BLEU, the paper", wrap_single_values(scores)),
        Panel(f"BLEU, {ours}", {name: row.bleu for name, row in table.rows.items()}),
        Panel("operations, the paper's estimate", wrap_single_values(costs), is_logarithmic=True),
        Panel(
            f"operations counted, {ours}",
            wrap_single_values({name: cost for name, cost in counted.items() if cost}),
            is_logarithmic=True,
        ),
    ]
    return Plot(
        title, list(dict.fromkeys((*printed, *table.recipes))), panels, table.other_settings
    )
