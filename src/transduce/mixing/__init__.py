"""Table 1's other layers in place of self-attention: recurrent and convolutional ones."""
