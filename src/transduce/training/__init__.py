"""From batches to weights    (section 5)"""
