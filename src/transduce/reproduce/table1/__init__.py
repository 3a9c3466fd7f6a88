"""Table 1, measured: what each kind of layer costs, and how far it reaches    (section 4)"""
