"""What the paper prints in the tables that are reproduced."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final


@final
@dataclass(frozen=True)
class Printed:
    """A row of Table 3: perplexity a piece and BLEU on newstest2013, parameters in millions."""

    perplexity: float
    bleu: float
    millions: int | None = None  # printed only where they differ from the row above


TABLE_3: Mapping[str, Printed] = MappingProxyType(
    {
        "base": Printed(4.92, 25.8, 65),
        "A-h1": Printed(5.29, 24.9),
        "A-h4": Printed(5.00, 25.5),
        "A-h16": Printed(4.91, 25.8),
        "A-h32": Printed(5.01, 25.4),
        "B-dk16": Printed(5.16, 25.1, 58),
        "B-dk32": Printed(5.01, 25.4, 60),
        "C-N2": Printed(6.11, 23.7, 36),
        "C-N4": Printed(5.19, 25.3, 50),
        "C-N8": Printed(4.88, 25.5, 80),
        "C-d256": Printed(5.75, 24.5, 28),
        "C-d1024": Printed(4.66, 26.0, 168),
        "C-ff1024": Printed(5.12, 25.4, 53),
        "C-ff4096": Printed(4.75, 26.2, 90),
        "D-drop0.0": Printed(5.77, 24.6),
        "D-drop0.2": Printed(4.95, 25.5),
        "D-ls0.0": Printed(4.67, 25.3),
        "D-ls0.2": Printed(5.47, 25.7),
        "E-learned": Printed(4.92, 25.7),
        "big": Printed(4.33, 26.4, 213),
    }
)
