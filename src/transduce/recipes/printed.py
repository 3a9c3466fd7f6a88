"""The numbers that the paper prints in its Tables 2, 3 and 4, digit by digit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Table2Row:
    """A row of the printed Table 2: BLEU on newstest2014 and training cost in operations."""

    model: str
    bleu: Mapping[str, str]  # the printed BLEU by language pair; a pair may be missing
    cost: Mapping[str, str]  # the printed training operations by language pair
    source: str = ""  # the publication of the system
    row: str = ""  # name of the row of `reproduce table2` for this model; "" if none


def _build_row(
    model: str, german: tuple[str, str], french: tuple[str, str], source: str = "", row: str = ""
) -> Table2Row:
    """Build a row from (BLEU, cost) for each language pair; "" stands for what is not printed."""
    both = {"en-de": german, "en-fr": french}
    bleu = {pair: figure for pair, (figure, _) in both.items() if figure}
    return Table2Row(
        model, bleu, {pair: figure for pair, (_, figure) in both.items() if figure}, source, row
    )


_GNMT, _CONV = "Wu et al. 2016", "Gehring et al. 2017"
TABLE_2 = (
    _build_row("ByteNet", ("23.75", ""), ("", ""), "Kalchbrenner et al. 2016"),
    _build_row("Deep-Att + PosUnk", ("", ""), ("39.2", "1.0e20"), "Zhou et al. 2016"),
    _build_row("GNMT + RL", ("24.6", "2.3e19"), ("39.92", "1.4e20"), _GNMT),
    _build_row("ConvS2S", ("25.16", "9.6e18"), ("40.46", "1.5e20"), _CONV),
    _build_row("MoE", ("26.03", "2.0e19"), ("40.56", "1.2e20"), "Shazeer et al. 2017"),
    _build_row("Deep-Att + PosUnk Ensemble", ("", ""), ("40.4", "8.0e20"), "Zhou et al. 2016"),
    _build_row("GNMT + RL Ensemble", ("26.30", "1.8e20"), ("41.16", "1.1e21"), _GNMT),
    _build_row("ConvS2S Ensemble", ("26.36", "7.7e19"), ("41.29", "1.2e21"), _CONV),
    _build_row("Transformer (base model)", ("27.3", "3.3e18"), ("38.1", "3.3e18"), row="base"),
    _build_row("Transformer (big)", ("28.4", "2.3e19"), ("41.8", "2.3e19"), row="big"),
)


@final
@dataclass(frozen=True)
class Table3Row:
    """A row of the printed Table 3: perplexity, BLEU on newstest2013, parameters in millions."""

    perplexity: float
    bleu: float
    millions: int | None = None  # millions of parameters; not printed if equal to base's


TABLE_3: Mapping[str, Table3Row] = {
    "base": Table3Row(4.92, 25.8, 65),
    "A-h1": Table3Row(5.29, 24.9),
    "A-h4": Table3Row(5.00, 25.5),
    "A-h16": Table3Row(4.91, 25.8),
    "A-h32": Table3Row(5.01, 25.4),
    "B-dk16": Table3Row(5.16, 25.1, 58),
    "B-dk32": Table3Row(5.01, 25.4, 60),
    "C-N2": Table3Row(6.11, 23.7, 36),
    "C-N4": Table3Row(5.19, 25.3, 50),
    "C-N8": Table3Row(4.88, 25.5, 80),
    "C-d256": Table3Row(5.75, 24.5, 28),
    "C-d1024": Table3Row(4.66, 26.0, 168),
    "C-ff1024": Table3Row(5.12, 25.4, 53),
    "C-ff4096": Table3Row(4.75, 26.2, 90),
    "D-drop0.0": Table3Row(5.77, 24.6),
    "D-drop0.2": Table3Row(4.95, 25.5),
    "D-ls0.0": Table3Row(4.67, 25.3),
    "D-ls0.2": Table3Row(5.47, 25.7),
    "E-learned": Table3Row(4.92, 25.7),
    "big": Table3Row(4.33, 26.4, 213),
}


@final
@dataclass(frozen=True)
class Table4Row:
    """A row of the printed Table 4: labelled F1 on section 23 of the Wall Street Journal."""

    parser: str
    training: str
    f1: str


_WSJ_ONLY, _SEMI = "WSJ only, discriminative", "semi-supervised"
TABLE_4 = (
    Table4Row("Vinyals & Kaiser et al. (2014)", _WSJ_ONLY, "88.3"),
    Table4Row("Petrov et al. (2006)", _WSJ_ONLY, "90.4"),
    Table4Row("Zhu et al. (2013)", _WSJ_ONLY, "90.4"),
    Table4Row("Dyer et al. (2016)", _WSJ_ONLY, "91.7"),
    Table4Row("Transformer (4 layers)", _WSJ_ONLY, "91.3"),
    Table4Row("Zhu et al. (2013)", _SEMI, "91.3"),
    Table4Row("Huang & Harper (2009)", _SEMI, "91.3"),
    Table4Row("McClosky et al. (2006)", _SEMI, "92.1"),
    Table4Row("Vinyals & Kaiser et al. (2014)", _SEMI, "92.1"),
    Table4Row("Transformer (4 layers)", _SEMI, "92.7"),
    Table4Row("Luong et al. (2015)", "multi-task", "93.0"),
    Table4Row("Dyer et al. (2016)", "generative", "93.3"),
)
