"""The layers of Table 1 that can replace self-attention    (section 4)"""
