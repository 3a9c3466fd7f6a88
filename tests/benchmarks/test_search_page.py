"""The table of a way of searching compares like with like."""

from benchmarks.search import build_table


def turns(**seconds):
    return {
        name: [{"tokens": 60, "seconds": one, "memory": 1e9} for one in some]
        for name, some in seconds.items()
    }


def test_each_row_is_compared_with_our_fastest_way_in_its_precision():
    found = turns(
        **{
            "transduce, float32": [4, 4],
            "transduce, float32, two processes of one thread": [2, 2],
            "transduce, int8": [1, 1],
            "CTranslate2, float32, 1 × 2 threads": [3, 1],
            "CTranslate2, int8, 2 × 1 threads": [2, 2],
        }
    )
    rows = build_table(found, dict.fromkeys(found, "2 of 2"))[2:-1]
    last = [row.split(" | ")[-1].removesuffix(" |") for row in rows]
    assert last == ["2.00", "", "", "1.00 (0.50..1.50)", "2.00"]
