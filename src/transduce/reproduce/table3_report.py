"""The report of Table 3: the measured rows beside the printed numbers    (section 6.2)"""

from transduce.recipes.printed import TABLE_3 as PRINTED
from transduce.recipes.scale import scale_by_name, scaled
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
from transduce.reproduce.table import Claim, ResultTable, compare_claims, describe_significance
from transduce.settings.recipe import Value, with_changes

COUNTS = (
    "The paper prints parameters in millions for its own vocabulary; 41,004 to 41,208 symbols give "
    "all its counts but big's. PPL is a piece, without label smoothing."
)
COLUMNS = {
    "N": "architecture.layers",
    "d_model": "architecture.d_model",
    "d_ff": "architecture.d_ff",
    "h": "architecture.heads",
    "d_k": "architecture.d_k",
    "d_v": "architecture.d_v",
    "P_drop": "architecture.dropout",
    "ε_ls": "training.label_smoothing",
    "steps": "training.steps",
    "positions": "architecture.positions",
}
CLAIMS = (
    Claim("one head is worse than eight", "base", "A-h1"),
    Claim("32 heads are worse than eight", "base", "A-h32"),
    Claim("smaller keys are worse", "base", "B-dk16"),
    Claim("two layers are worse than six", "base", "C-N2"),
    Claim("half the width is worse", "base", "C-d256"),
    Claim("twice the width is better", "C-d1024", "base"),
    Claim("half the feed-forward width is worse", "base", "C-ff1024"),
    Claim("twice the feed-forward width is better", "C-ff4096", "base"),
    Claim("no dropout is worse", "base", "D-drop0.0"),
    Claim("no label smoothing is worse", "base", "D-ls0.0", "BLEU"),
    Claim("yet no label smoothing has the lower perplexity", "D-ls0.0", "base", "PPL"),
    Claim("learned positions are as good as sinusoids", "base", "E-learned", equal=True),
    Claim("the big model is better", "big", "base"),
)
FIGURES = {
    "BLEU": {name: row.bleu for name, row in PRINTED.items()},
    "PPL": {name: row.perplexity for name, row in PRINTED.items()},
}


def build_report(table: ResultTable) -> Report:
    """Build the report of Table 3: its rows, the paper's claims, records and a plot."""
    scale, found = f"the scale {table.scale}", compare_claims(table, CLAIMS, FIGURES)
    return Report(
        name="table3",
        title=f"Table 3 at {scale}",
        conditions=[
            *describe_conditions(table),
            "last weights, nothing averaged; the paper: on newstest2013",
            f"beside the paper's figures: {describe_comparability(table, table.runs[0])}",
        ],
        parts=[
            (f"Rows at {scale}", COUNTS, build_cells(table)),
            (f"What the paper found, at {scale}", describe_significance(table), found),
        ],
        rows=[build_record(run) | find_printed(run.row) for run in table.runs],
        picture=build_plot(table),
    )


def find_printed(row: str) -> dict[str, float]:
    """Return a row's "printed_perplexity" and "printed_bleu"; {} if the paper lacks the row."""
    paper = PRINTED.get(row)
    if paper is None:
        return {}
    return {"printed_perplexity": paper.perplexity, "printed_bleu": paper.bleu}


def build_cells(table: ResultTable) -> Cells:
    """Return Table 3's cells: header, then each row's changes from base, scores, printed scores."""
    small = scaled(table.recipes["base"], scale_by_name(table.scale))
    base = with_changes(small, table.changes).flat_settings()
    paper_heads = ["BLEU-paper"] if any(row.paper_bleu for row in table.rows.values()) else []
    measures = ("PPL", "BLEU", *paper_heads, "params ×10⁶")
    lines = [("row", *COLUMNS, *measures, "PPL printed", "BLEU printed", "params")]
    for row in table.rows.values():
        run, paper = row.runs[0], PRINTED.get(row.name)
        own = run.recipe.flat_settings()
        cells = [
            format_setting(own[path]) if row.name == "base" or own[path] != base[path] else ""
            for path in COLUMNS.values()
        ]
        lines.append(
            (
                row.name,
                *cells,
                row.perplexity.format(2),
                row.bleu.format(2),
                *(row.paper_bleu.format(2) if row.paper_bleu else "" for _ in paper_heads),
                f"{run.parameters / 1e6:.2f}",
                f"{paper.perplexity:.2f}" if paper else "",
                f"{paper.bleu:.1f}" if paper else "",
                str(paper.millions) if paper and paper.millions else "",
            )
        )
    return lines


def format_setting(value: Value) -> str:
    """Format the value of a setting, with commas in an integer of 10,000 or more."""
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)


def build_plot(table: ResultTable) -> Plot:
    """Build the plot of BLEU and perplexity of each row, printed and measured."""
    ours = f"ours, {table.scale}"
    panels = [
        Panel("BLEU, the paper", wrap_single_values(FIGURES["BLEU"])),
        Panel(f"BLEU, {ours}", {name: row.bleu for name, row in table.rows.items()}),
        Panel("PPL, the paper", wrap_single_values(FIGURES["PPL"])),
        Panel(f"PPL, {ours}", {name: row.perplexity for name, row in table.rows.items()}),
    ]
    corpus = table.runs[0].recipe.data.corpus
    title = f"Table 3: the paper on newstest2013, ours at the scale {table.scale} on {corpus}"
    return Plot(title, list({**PRINTED, **table.rows}), panels, table.other_settings)
