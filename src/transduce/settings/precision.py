"""The number format in which a trained model computes; training has `training.precision`."""

from enum import StrEnum
from typing import final


@final
class InferencePrecision(StrEnum):
    """The number format of inference, chosen by `load(…, precision=)` or `--precision`."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


INFERENCE_PRECISIONS = tuple(precision.value for precision in InferencePrecision)
