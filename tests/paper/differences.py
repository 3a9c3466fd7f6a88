"""By how many parameters a row of Table 3 differs from base: facts about its columns."""

FROM_BASE = {
    "A-h1": 0,
    "A-h4": 0,
    "A-h16": 0,
    "A-h32": 0,
    "B-dk16": -7_077_888,
    "B-dk32": -4_718_592,
    "C-N2": -29_401_088,
    "C-N4": -14_700_544,
    "C-N8": +14_700_544,
    "C-ff1024": -12_595_200,
    "C-ff4096": +25_190_400,
    "D-drop0.0": 0,
    "D-drop0.2": 0,
    "D-ls0.0": 0,
    "D-ls0.2": 0,
    "E-learned": 2 * 1_024 * 512,
}
