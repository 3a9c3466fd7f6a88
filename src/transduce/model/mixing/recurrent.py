"""A recurrent layer: an LSTM along each sentence    (Table 1)"""

from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from transduce.model.decoding.layer_cache import LayerCache
from transduce.model.mixing.sentence_layout import SentenceLayout

# T tokens of a whole batch, end to end · R rows


@final
class RecurrentLayer(nn.Module):
    """d_model numbers of state; to see both sides, half of them run from each end."""

    def __init__(self, d_model: int, *, causal: bool) -> None:
        super().__init__()
        width = d_model if causal else d_model // 2
        self.lstm = nn.LSTM(d_model, width, bidirectional=not causal)
        self.kept, self.reach = (1, d_model, d_model), 1  # h and c of the step before

    def forward(
        self, x: Float[Tensor, "T d_model"], sentences: SentenceLayout
    ) -> Float[Tensor, "T d_model"]:
        """The states h of every sentence; torch's own packing has no padding either."""
        states, _ = self.lstm(PackedSequence(sentences.by_step(x), sentences.rows))
        return sentences.end_to_end(states.data)

    def step(self, x: Float[Tensor, "R d_model"], past: LayerCache) -> Float[Tensor, "R d_model"]:
        """One symbol more in every row."""
        before = [past.rows(side, 1) for side in (past.keys, past.values)]
        h, c = torch.lstm_cell(x, before, *self.lstm.all_weights[0])
        past.keep(h[:, None], c[:, None])
        return h

    if TYPE_CHECKING:
        __call__ = forward
