"""Results that nobody trained, for tests of what is made of them."""

from dataclasses import replace

from transduce.recipes.scale import LAPTOP, scaled
from transduce.recipes.tables import TABLE_2_ROWS, TABLE_3
from transduce.reproduce.result import RowResult
from transduce.settings.recipe import with_changes

MACHINE = {"processor": "a processor", "device": "cpu", "threads": "1"}
VERSIONS = {"transduce": "1", "torch": "2"}


def result(row: str, bleu: float, perplexity: float = 5.0, seed: int = 1, **changes) -> RowResult:
    """One run of a row of Table 3."""
    return result_of(TABLE_3[row], row, bleu, perplexity, seed, **changes)


def german(row: str, bleu: float, seed: int = 1, **changes) -> RowResult:
    """One run of a row of Table 2, English to German."""
    one = result_of(TABLE_2_ROWS["en-de"][row], row, bleu, 5.0, seed, **changes)
    return replace(
        one,
        table="table2",
        averaged=(1, 2, 3),
        cost={"estimated": 4e12, "counted": 2e12, "devices": 1},
        paper_bleu={"value": bleu - 1, "signature": "of the paper's words"},
    )


def result_of(recipe, row, bleu, perplexity, seed, **changes) -> RowResult:
    """One run of a recipe."""
    recipe = with_changes(
        scaled(recipe, LAPTOP),
        {"training.seed": seed} | {path.replace("__", "."): v for path, v in changes.items()},
    )
    return RowResult(
        table="table3",
        row=row,
        scale="laptop",
        recipe=recipe,
        parameters=3_000_000,
        perplexity={"per_piece": perplexity},
        bleu={"value": bleu, "signature": "as it was", "lines": 9, "test_set": "some lines"},
        updates=2_000,
        target_tokens=4_000_000,
        seconds=600.0,
        environment=MACHINE | VERSIONS,
        data={"train": "x", "dev": "y"},
        model=f"{row}{seed}{bleu}",
        date="2026-01-02",
    )


def elsewhere(one: RowResult, **changes) -> RowResult:
    """The same with something else."""
    return replace(one, **changes)
