"""The other layers of Table 1, each in self-attention's place    (section 4)"""
