"""Table 3 as the paper shapes it, ours beside what it prints    (section 6.2)"""

from transduce.recipes.printed import TABLE_3 as PRINTED
from transduce.recipes.scale import scale_by_name, scaled
from transduce.reproduce.findings import Finding, chance_note, findings
from transduce.reproduce.picture import Panel, Picture, alone, of_rows
from transduce.reproduce.report import Cells, Report, beside, conditions, record
from transduce.reproduce.table import Table
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
FINDINGS = (
    Finding("one head is worse than eight", "base", "A-h1"),
    Finding("32 heads are worse than eight", "base", "A-h32"),
    Finding("smaller keys are worse", "base", "B-dk16"),
    Finding("two layers are worse than six", "base", "C-N2"),
    Finding("half the width is worse", "base", "C-d256"),
    Finding("twice the width is better", "C-d1024", "base"),
    Finding("half the feed-forward width is worse", "base", "C-ff1024"),
    Finding("twice the feed-forward width is better", "C-ff4096", "base"),
    Finding("no dropout is worse", "base", "D-drop0.0"),
    Finding("no label smoothing is worse", "base", "D-ls0.0", "BLEU"),
    Finding("yet no label smoothing has the lower perplexity", "D-ls0.0", "base", "PPL"),
    Finding("learned positions are as good as sinusoids", "base", "E-learned", equal=True),
    Finding("the big model is better", "big", "base"),
)
FIGURES = {
    "BLEU": {name: row.bleu for name, row in PRINTED.items()},
    "PPL": {name: row.perplexity for name, row in PRINTED.items()},
}


def report(table: Table) -> Report:
    """The table, and what the paper found in it."""
    return Report(
        name="table3",
        title=f"Table 3 at the scale {table.scale}",
        how=[
            *conditions(table),
            "last weights, nothing averaged; the paper: on newstest2013",
            f"beside the paper's figures: {beside(table, table.runs[0])}",
        ],
        parts=[
            (f"Rows at the scale {table.scale}", COUNTS, cells(table)),
            (
                f"What the paper found, at the scale {table.scale}",
                chance_note(table),
                findings(table, FINDINGS, FIGURES),
            ),
        ],
        records=[record(run) | printed(run.row) for run in table.runs],
        picture=drawing(table),
    )


def printed(row: str) -> dict[str, float]:
    """What stands in the paper's table."""
    paper = PRINTED[row]
    return {"printed_perplexity": paper.perplexity, "printed_bleu": paper.bleu}


def cells(table: Table) -> Cells:
    """Head and rows; as in the paper a row shows only what is not as in base."""
    small = scaled(table.recipes["base"], scale_by_name(table.scale))
    base = with_changes(small, table.changes).flat()
    words = ["BLEU-paper"] if any(row.paper_bleu for row in table.rows.values()) else []
    measures = ("PPL", "BLEU", *words, "params ×10⁶")
    lines = [("row", *COLUMNS, *measures, "PPL printed", "BLEU printed", "params")]
    for row in table.rows.values():
        own, paper = row.runs[0].recipe.flat(), PRINTED[row.name]
        sizes = [
            said(own[path]) if row.name == "base" or own[path] != base[path] else ""
            for path in COLUMNS.values()
        ]
        lines.append(
            (
                row.name,
                *sizes,
                row.perplexity.shown(2),
                row.bleu.shown(2),
                *(row.paper_bleu.shown(2) if row.paper_bleu else "" for _ in words),
                f"{row.parameters / 1e6:.2f}",
                f"{paper.perplexity:.2f}",
                f"{paper.bleu:.1f}",
                "" if paper.millions is None else str(paper.millions),
            )
        )
    return lines


def said(value: Value) -> str:
    """A setting in a narrow cell."""
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)


def drawing(table: Table) -> Picture:
    """BLEU and perplexity of each row, the paper's beside ours."""
    ours = f"ours, {table.scale}"
    panels = [
        Panel("BLEU, the paper", alone(FIGURES["BLEU"])),
        Panel(f"BLEU, {ours}", of_rows(table.rows, "bleu")),
        Panel("PPL, the paper", alone(FIGURES["PPL"])),
        Panel(f"PPL, {ours}", of_rows(table.rows, "perplexity")),
    ]
    corpus = table.runs[0].recipe.data.corpus
    title = f"Table 3: the paper on newstest2013, ours at the scale {table.scale} on {corpus}"
    return Picture(title, list(PRINTED), panels)
