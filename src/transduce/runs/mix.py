"""`transduce.mix`: mix several texts into one, each with a share of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from transduce.corpus.mixture import Share
from transduce.errors import short_repr
from transduce.runs.choice import Texts, open_texts
from transduce.runs.texts import FilePair, MixedPairs, MixedText, Pairs, TaskFiles, decode_name
from transduce.settings import Data
from transduce.settings.fields import require

HIGHEST_WEIGHT = 1_000_000
LAST_UPDATE = 10**15  # the highest number of an update
Weight = float | int | tuple[float | int, int, int]  # alone, or with its first and last update
Weights = Mapping[str | PathLike[str], Weight]


def mix(
    texts: Texts | Weights, synthetic: Weights | None = None, *, tag_synthetic: bool = False
) -> Pairs:
    """Return a mix of files by weight, in which each synthetic file has a given share of the pairs.

    `texts` are one text, or files with weights: with `{"a.tsv": 3, "b.tsv": 1}` three of four pairs
    that updates read are of `a.tsv`. The weight 0 for all of them reads every pair equally often.
    `synthetic` are files of pairs such as back-translations, each with its share of all pairs that
    are read, such as `{"back.tsv": 0.4}`. `(0.4, 1, 8000)` in place of a number also names the
    first and the last update that reads the file; 0 stands for the last of the training. With
    `tag_synthetic` the sources of synthetic pairs begin with a symbol that no text can spell, so
    that the model learns to tell them apart.

        text = transduce.mix({"a.tsv": 3, "b.tsv": 1}, {"back.tsv": (0.4, 1, 8000)})
    """
    if isinstance(texts, Mapping):
        main = open_weighted(texts)
    else:
        main = [MixedText(open_texts("texts", texts, Data()), Share(name=""))]
    return mix_texts(main, open_weighted(synthetic or {}), tag_synthetic=tag_synthetic)


def open_weighted(files: Weights) -> list[MixedText]:
    """Return texts for {file: weight or (weight, first update, last update)}; refuse others."""
    hint = '{"a.tsv": 3}, or {"a.tsv": (3, 1, 8000)} with its first and last update'
    fact = f"files with weights are a dictionary, not {short_repr(files)}"
    require(isinstance(files, Mapping), fact, hint)
    opened = []
    for file, how in files.items():
        weight, *updates = how if isinstance(how, tuple) and len(how) == 3 else (how, 1, 0)
        fits = type(weight) in (int, float) and {*map(type, updates)} == {int}
        require(fits, f"{short_repr(how)} is no weight of {short_repr(file)}", hint)
        first, last = updates
        # weights out of range are refused later
        weight = float(max(-1, min(weight, HIGHEST_WEIGHT + 1)))
        share = Share(name="", weight=weight, start=first, stop=last)
        opened.append(MixedText(open_texts("texts", file, Data()), share))
    return opened


def mix_texts(
    main: Sequence[MixedText], synthetic: Sequence[MixedText], *, tag_synthetic: bool
) -> Pairs:
    """Return one text: `main` texts by weight, `synthetic` texts at given shares of all pairs read.

    A single text with neither a weight nor a range of updates is returned as it is.
    """
    require(bool(main), "there is no text to mix others into", '{"a.tsv": 3, "b.tsv": 1}')
    weights, shares = ([one.share.weight for one in some] for some in (main, synthetic))
    require(
        all(weights) or not any(weights),
        "some texts have weights, and others have none",
        "give each of them one, such as 3 and 1",
    )
    require(
        not any(weights) or all(1 / HIGHEST_WEIGHT <= one <= HIGHEST_WEIGHT for one in weights),
        f"a weight is at least 1 / {HIGHEST_WEIGHT:,} and at most {HIGHEST_WEIGHT:,}",
        "weights are relative: 3 and 1, or 0.75 and 0.25",
    )
    require(
        all(0 < share < 1 for share in shares) and sum(shares) < 1,
        f"shares of {', '.join(f'{share:g}' for share in shares)} leave nothing to other pairs",
        "shares of synthetic pairs and their sum lie between 0 and 1, such as 0.4",
    )
    require(bool(synthetic) or not tag_synthetic, "there are no synthetic pairs to tag")
    mixed = [
        MixedText(one.pairs, replace(one.share, name=name))
        for one, name in zip(main, name_texts(main), strict=True)
    ]
    for one, name in zip(synthetic, name_texts(synthetic), strict=True):
        share = replace(
            one.share,
            name=f"synthetic {name}",
            weight=one.share.weight / (1 - sum(shares)),
            is_tagged=tag_synthetic,
            is_added=True,
        )
        mixed.append(MixedText(one.pairs, share))
    require_text_for_every_update([one.share for one in mixed])
    is_plain = len(mixed) == 1 and mixed[0].share == Share(name=mixed[0].share.name)
    return mixed[0].pairs if is_plain else MixedPairs(tuple(mixed))


def require_text_for_every_update(shares: Sequence[Share]) -> None:
    """Raise InputError if a text's range of updates is empty, or if no text covers some update."""
    for share in shares:
        is_range = share.start >= 1 and (share.stop >= share.start or not share.stop)
        is_range &= max(share.start, share.stop) <= LAST_UPDATE
        last = f"{share.stop:,}" if share.stop else "the last"
        fact = f"{share.name} is read from update {share.start:,} to {last}"
        hint = f"the first is at least 1, and the last not before it, nor above {LAST_UPDATE:,}"
        require(is_range, fact, hint)
    for step in (1, *(share.stop + 1 for share in shares if share.stop)):
        is_read = any(share.is_read(step) for share in shares)
        fact = f"update {step:,} has no text to read"
        require(is_read, fact, "let the range of one text include it")


def name_texts(texts: Sequence[MixedText]) -> list[str]:
    """Return short names of texts, those of their files, with the folder if names are equal."""
    names = [name_pairs(one.pairs) for one in texts]
    return [
        name if names.count(name) == 1 else name_pairs(one.pairs, parts=2)
        for one, name in zip(texts, names, strict=True)
    ]


def name_pairs(pairs: Pairs, parts: int = 1) -> str:
    """Return the last `parts` of the paths of a text's files, or "main" if it has no files."""
    files = list[Path]()
    match pairs:
        case FilePair():
            files = [pairs.source, pairs.target]
        case TaskFiles():
            files = [pairs.path]
    return " and ".join(decode_name(file, parts) for file in files) or "main"
