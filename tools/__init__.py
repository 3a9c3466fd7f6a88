"""Programs that make what the package ships."""
