"""Files and folders that are written completely or not at all, with checksums to detect damage."""
