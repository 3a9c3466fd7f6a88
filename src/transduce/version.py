"""The version of this package, which it knows without being installed."""

__version__ = "0.1.0"
