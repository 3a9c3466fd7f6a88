"""The tables of the paper, measured and compared to the printed numbers.

`table1` to `table4` each reproduce a table; torch is imported when one is called.
"""

from transduce.reproduce.tables import TableOptions, table1, table2, table3, table4

__all__ = ["TableOptions", "table1", "table2", "table3", "table4"]
