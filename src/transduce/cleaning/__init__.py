"""Cleaning: rules that find bad pairs in a parallel text, and the text without these pairs."""
