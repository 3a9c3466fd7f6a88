"""Training: updates, validation, checkpoints, and several processes    (section 5)"""
