"""The version of this package, written here because only an installed package has metadata."""

__version__ = "0.1.0"
