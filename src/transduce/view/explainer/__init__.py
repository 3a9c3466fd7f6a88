"""The explainer: one page in which a small trained model runs, every step visible."""
