"""The version of this package, which is also known where the package is not installed."""

__version__ = "0.1.0"
