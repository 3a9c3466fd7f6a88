"""How the matrices of a model that only answers lie in memory."""

from torch import nn

from transduce.model.transformer import Transformer


def in_columns(model: Transformer) -> None:
    """Lay every matrix out column by column: a product x Wᵀ of few rows reads W in that order.

    The same numbers in the same shapes. On a CPU a step of search takes up to a seventh less time
    (decision 0033); a GPU's products do not care.
    """
    products = [one for one in model.modules() if isinstance(one, nn.Linear)]
    for weight in (*(one.weight for one in products), model.output.weight):
        weight.data = weight.data.t().contiguous().t()
