"""The Transformer of section 3: layers, attention kernels, other mixings, decoding with a cache."""
