"""Training runs as library calls: prepare, train in a run folder, average, report the costs."""
