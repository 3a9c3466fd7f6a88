"""The page that compares machines has one row for each comparison, and says what was not made."""

from pathlib import Path

from benchmarks import summary


def turns(**rates):
    return {
        name: [{"tokens": 10 * rate, "target_tokens": 10 * rate, "seconds": 10} for rate in some]
        for name, some in rates.items()
    }


def machine(name, **parts):
    return {"machine": {"processor": name, "instructions": "AVX2"}, "parts": parts}


SEARCH = turns(
    **{
        "transduce, float32": [4, 4],
        "transduce, int8, two processes of one thread": [9, 6],
        "CTranslate2, float32, 1 × 2 threads": [8, 2],
        "CTranslate2, int8, 2 × 1 threads": [3, 3],
    }
)
TRAINING = turns(**{"transduce": [6, 6, 6], "Hugging Face Marian": [4, 3, 2], "ceiling": [9]})
TRAINING |= turns(**{"torch.nn.Transformer, as people run it": [1, 1, 1]})


def test_ratios_are_taken_within_rounds_between_equal_threads_and_with_the_fastest_peer():
    figures = {"shapes": {"base": {"batches": {"turns": SEARCH}}}}
    parts = {"search": {"threads": 2, "figures": figures}}
    parts["training"] = {"figures": {"shapes": {"base, float32": TRAINING}}}
    assert dict(summary.list_rows(parts)) == {
        "training, base, float32": "2.00 (1.50..3.00)",
        "search, base, batches, float32, 1 × 2 threads": "1.25 (0.50..2.00)",
        "search, base, batches, int8, 2 × 1 threads": "2.50 (2.00..3.00)",
    }


def test_columns_whose_systems_took_unequal_steps_say_so():
    shapes = {"base": {"batches": {"turns": SEARCH}}}
    equal, unequal = ({"shapes": shapes, **more} for more in ({"equal steps": True}, {}))
    machines = {
        Path(f"{name}.md"): machine(name, search={"threads": 2, "figures": figures})
        for name, figures in (("A", equal), ("B", unequal))
    }
    page = summary.page(machines, None)
    assert "| [A with AVX2](A.md) | [B with AVX2](B.md) (21 steps for 20) |" in page
    assert "CTranslate2 none" in page
    assert "CTranslate2 none" not in summary.page({Path("A.md"): machines[Path("A.md")]}, None)


def test_a_comparison_that_one_machine_lacks_is_said_to_be_not_measured():
    training = {"figures": {"shapes": {"base, float32": TRAINING}}}
    machines = {
        Path("speed/a.md"): machine("A", training=training),
        Path("speed/b.md"): machine("B"),
    }
    page = summary.page(machines, None)
    assert "|  | [A with AVX2](speed/a.md) | [B with AVX2](speed/b.md) |" in page
    assert "| 2.00 (1.50..3.00) | not measured |" in page
