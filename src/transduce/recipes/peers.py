"""How other systems differ from the paper, setting by setting, according to their source code.

T2T is tensor2tensor. Its preset v1 is the paper's model; later `transformer_base` came to mean v3.
"""

from collections.abc import Mapping
from types import MappingProxyType

PEERS: Mapping[str, str] = MappingProxyType(
    {
        "architecture.layers": "6 in T2T's parsing presets, where section 6.3 has 4",
        "architecture.d_ff": "8,192 in T2T's big model for English to French",
        "architecture.tie_embeddings": "no matrix is shared in T2T's big model for English to "
        "French",
        "architecture.norm": "pre in T2T v2 and v3, OpenNMT-py, eole, Sockeye, Joey NMT's configs",
        "architecture.d_k": "tied to d_model / h in fairseq, Marian, Joey NMT, Sockeye",
        "architecture.d_v": "tied to d_model / h in fairseq, Marian, Joey NMT, Sockeye",
        "architecture.attention_dropout": "0.1 in T2T v2 and v3, OpenNMT-py, Sockeye; that of the "
        "residuals in Joey NMT",
        "architecture.feed_forward_dropout": "0.1 in T2T v2 and v3, Sockeye",
        "architecture.positions": "[sin | cos] in halves in T2T, fairseq, Marian, Sockeye",
        "data.corpus": "News Commentary v13 in T2T, v12 in fairseq, in place of v9",
        "data.source_tokens": "one budget for the longer side, padding counted, in all of them",
        "data.target_tokens": "one budget for the longer side, padding counted, in all of them",
        "training.warmup": "8,000 in T2T v2 and v3, 16,000 in Marian",
        "training.learning_rate_factor": "2 in T2T v2 and v3, OpenNMT-py; a peak rate in its place "
        "in fairseq "
        "(7e-4 and 5e-4; the paper's are 6.99e-4 and 4.94e-4), Marian (3e-4), Joey NMT (2e-4) and "
        "Sockeye (2e-4, falling on plateaus)",
        "training.beta2": "0.997 in T2T v3, 0.998 in OpenNMT-py and Marian's big, 0.999 in Sockeye",
        "training.epsilon": "1e-8 in fairseq, OpenNMT-py, Sockeye, Joey NMT",
        "training.smoothing_form": "over the V - 1 other symbols in T2T and fairseq, "
        "V - 2 in Joey NMT",
        "training.average_last": "the best in Joey NMT, a running mean in Marian and eole",
        "search.beam": "5 in fairseq, OpenNMT-py and eole, 12 in Marian",
        "search.alpha": "log P / |Y|^alpha in fairseq, Marian, OpenNMT-py; 1.0 in Joey NMT",
        "search.penalty": "log P / |Y| in fairseq, OpenNMT-py, eole, Sockeye",
        "search.extra_length": "100 in T2T; a limit of 200 in fairseq, 250 in OpenNMT-py; "
        "x 3 in Marian",
    }
)
