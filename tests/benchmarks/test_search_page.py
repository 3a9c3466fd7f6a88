"""The table of ways of searching compares like with like and says whose outputs differ."""

from benchmarks.search import build_table


def measured(outputs=None, **seconds):
    turns = {
        name: [{"tokens": 60, "seconds": one, "memory": 1e9} for one in some]
        for name, some in seconds.items()
    }
    return {"turns": turns, "equal outputs": dict.fromkeys(turns, "2 of 2") | (outputs or {})}


def test_each_row_is_compared_with_our_fastest_way_in_its_precision():
    found = measured(
        **{
            "transduce, float32": [4, 4],
            "transduce, float32, two processes of one thread": [2, 2],
            "transduce, int8": [1, 1],
            "CTranslate2, float32, 1 × 2 threads": [3, 1],
            "CTranslate2, int8, 2 × 1 threads": [2, 2],
        }
    )
    rows = build_table({"": found})[2:7]
    last = [row.split(" | ")[-1].removesuffix(" |") for row in rows]
    assert last == ["2.00", "", "", "1.00 (0.50..1.50)", "2.00"]


def test_outputs_that_differ_are_named():
    found = measured({"transduce, int8": "1 of 2"}, **{"transduce, int8": [1]})
    assert build_table({"base": found})[-2] == (
        "Outputs equal ours in float32 but for these. How many are equal: "
        "base: transduce, int8 (1 of 2)."
    )
