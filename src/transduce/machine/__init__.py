"""The machine's properties and limits: device, memory, cores, threads, speed."""
