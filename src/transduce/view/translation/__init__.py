"""The page of the translation server: type, see the translation, and ask what else it could be."""
