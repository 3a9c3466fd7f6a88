"""The Transformer of section 3: layers, attention kernels, Table 1's other layers, KV cache."""
