"""Measure Table 1: operations, time, memory and path length of each kind of layer (section 4)."""
