"""Tables 1, 2 and 3 of the paper, measured and compared to the printed figures.

`table1`, `table2` and `table3` each reproduce a table; torch is imported when one is called.
"""

from transduce.reproduce.tables import TableOptions, table1, table2, table3

__all__ = ["TableOptions", "table1", "table2", "table3"]
