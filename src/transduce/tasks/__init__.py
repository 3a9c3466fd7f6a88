"""Tasks as values: how text becomes ids, ids become text, and how good the text is."""
