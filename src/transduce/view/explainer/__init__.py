"""The explainer, a page in which a small trained model runs, with every step shown."""
