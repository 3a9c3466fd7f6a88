"""Self-contained HTML pages and SVG drawings of models, of training, and of the paper's code."""
