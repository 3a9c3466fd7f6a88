"""The tables of the paper, measured and compared to the printed numbers, and its other claims.

`table1` to `table4` each reproduce a table, `claims` measures sentences that are in none; torch is
imported when one is called.
"""

from transduce.reproduce.tables import TableOptions, claims, table1, table2, table3, table4

__all__ = ["TableOptions", "claims", "table1", "table2", "table3", "table4"]
