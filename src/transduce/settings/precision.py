"""The number format of a trained model's weights; training has a setting of its own."""

from enum import StrEnum
from typing import final


@final
class InferencePrecision(StrEnum):
    """Number format in which a trained model computes: `load(…, precision=)`, `--precision`."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


INFERENCE_PRECISIONS = tuple(precision.value for precision in InferencePrecision)
