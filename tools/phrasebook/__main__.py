"""Write the pairs that the package ships: `python -m tools.phrasebook`."""

import lzma
from pathlib import Path

from tools.phrasebook.splits import pairs
from transduce import phrasebook


def main() -> None:
    """Write a file for each split."""
    folder = Path(phrasebook.__file__).parent
    for split, count in phrasebook.SPLITS.items():
        text = "".join(f"{english}\t{german}\n" for english, german in pairs(split, count))
        packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
        (folder / f"{split}.tsv.xz").write_bytes(packed)


if __name__ == "__main__":
    main()
