"""The network that is applied to each position alike    (section 3.3)"""

from typing import TYPE_CHECKING, final

from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.dropout import dropout
from transduce.settings import Architecture


@final
class FeedForward(nn.Module):
    """FFN(x) = max(0, x W1 + b1) W2 + b2    (equation 2)"""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.inner = nn.Linear(sizes.d_model, sizes.d_ff)
        self.outer = nn.Linear(sizes.d_ff, sizes.d_model)
        self.dropout = sizes.feed_forward_dropout

    def forward(self, x: Float[Tensor, "T d_model"]) -> Float[Tensor, "T d_model"]:
        """Two linear maps with a ReLU between."""
        hidden = self.inner(x).relu_()
        return self.outer(dropout(hidden, self.dropout, training=self.training))

    if TYPE_CHECKING:
        __call__ = forward
