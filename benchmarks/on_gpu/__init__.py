"""How fast transduce is on a GPU, and what stands in its way: `benchmarks/gpu`."""
