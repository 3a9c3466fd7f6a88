"""The claims that the paper makes outside its tables and figures, each measured, with a verdict."""
