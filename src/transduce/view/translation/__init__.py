"""The page of the translation server: a text, its translation, and alternatives for each word."""
