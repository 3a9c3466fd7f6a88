"""What the machine is and allows: device, memory, cores, limits, threads, measured rate."""
