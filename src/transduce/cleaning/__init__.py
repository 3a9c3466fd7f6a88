"""Cleaning: rules that find bad pairs in a parallel text, and the text without these pairs."""

WORST = 0.05  # the share of the pairs that is dropped where models rate them
