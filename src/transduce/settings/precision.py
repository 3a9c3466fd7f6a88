"""The number format of inference; `training.precision` is that of training."""

from enum import StrEnum
from typing import final


@final
class InferencePrecision(StrEnum):
    """The number format of inference, chosen by `load(…, precision=)` or `--precision`."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    INT8 = "int8"  # weights and the inputs of products in 8 bits, all else in float32


AUTO = "auto"  # the fastest precision whose quality was shown on this kind of processor
INFERENCE_PRECISIONS = (*(precision.value for precision in InferencePrecision), AUTO)
