"""A recurrent layer: an LSTM along each sentence    (Table 1)"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from transduce.model.attention.kernel import AttentionKernel
from transduce.model.decoding.layer_cache import CacheShape, LayerCache
from transduce.model.linear import fill_glorot
from transduce.model.mixing.mixing import Mixing
from transduce.model.mixing.sentence_layout import SentenceLayout

# T tokens of a whole batch, end to end · R rows, one per hypothesis


@final
class RecurrentLayer(Mixing[SentenceLayout]):
    """An LSTM of width d_model; in the encoder two of half the width, one per direction."""

    def __init__(self, d_model: int, *, causal: bool) -> None:
        super().__init__()
        width = d_model if causal else d_model // 2
        self.lstm = nn.LSTM(d_model, width, bidirectional=not causal)
        self.cache_shape, self.reach = CacheShape(1, d_model, d_model), 1  # h and c, of 1 step back

    def build_context(
        self,
        lengths: Sequence[int],
        kernel: AttentionKernel,  # noqa: ARG002 - only self-attention uses it
        device: torch.device,
    ) -> SentenceLayout:
        """Return the position of every token in its sentence, from the sentences' lengths."""
        return SentenceLayout(lengths, device)

    def forward(
        self, x: Float[Tensor, "T d_model"], layout: SentenceLayout
    ) -> Float[Tensor, "T d_model"]:
        """Run the LSTM along each sentence; return its state h at every token."""
        packed = PackedSequence(layout.sort_by_position(x), layout.batch_sizes)
        states, _ = self.lstm(packed)
        return layout.restore_order(states.data)

    def decode_step(
        self, x: Float[Tensor, "R d_model"], residual: Float[Tensor, "R d_model"], cache: LayerCache
    ) -> Float[Tensor, "R d_model"]:
        """Return residual + the next state h of each of R hypotheses; append h to the cache."""
        before = [cache.read_back(side, 1) for side in (cache.keys, cache.values)]
        h, c = torch.lstm_cell(x, before, *self.lstm.all_weights[0])
        cache.append(*map(cache.group_by_sentence, (h, c)))
        return residual + h

    def initialise(self, generator: torch.Generator) -> None:
        """Draw each gate's matrices by Glorot's rule; biases are 0, the forget gate's 1."""
        width = self.lstm.hidden_size
        for from_input, from_state, bias, other_bias in self.lstm.all_weights:
            for weight in (from_input, from_state):
                fill_glorot(weight, generator, [width] * 4)
            nn.init.zeros_(bias)
            nn.init.zeros_(other_bias)
            nn.init.ones_(bias.detach()[width : 2 * width])

    @property
    def last_matrix(self) -> None:
        """None: no matrix is scaled by depth, because the initial states of an LSTM are small."""

    if TYPE_CHECKING:
        __call__ = forward
