"""The tables of the paper, measured and compared to the printed numbers, and its other claims.

`table1` to `table4` each reproduce a table, and `claims` measures what the paper claims outside
its tables. The first call of a function imports torch.
"""

from transduce.reproduce.tables import TableOptions, claims, table1, table2, table3, table4

__all__ = ["TableOptions", "claims", "table1", "table2", "table3", "table4"]
