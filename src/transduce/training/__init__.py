"""Training: from batches to weights    (section 5)"""
