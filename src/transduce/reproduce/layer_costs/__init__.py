"""Table 1, measured: the operations, time, memory and path lengths of each layer    (section 4)"""
