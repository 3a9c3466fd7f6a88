"""Corpora that anyone can have, with the paper's model and schedule at their size.

Some are fetched by their names; of the others the user has the files and names them.
"""

from dataclasses import replace

from transduce.settings import Architecture, Data, Recipe, Training

TINY = Architecture(layers=4, d_model=128, d_ff=256, heads=4, d_k=32, d_v=32, dropout=0.3)
SMALL = Architecture(layers=3, d_model=256, d_ff=1024, heads=4, d_k=64, d_v=64, dropout=0.2)
DATA = Data(vocabulary_size=10_000, source_tokens=4_096, target_tokens=4_096)
FEW = Training(steps=8_000, warmup=1_000, snapshot_every=100, average_last=10, validate_every=500)
MORE = Training(steps=20_000, snapshot_every=400, average_last=5)


def captions(target: str) -> Recipe:
    """One sentence a picture."""
    return Recipe(
        name=f"multi30k-en-{target}",
        about="image captions, 29,000 pairs; "
        "sizes and updates of Wu et al. 2021 (Transformer-Tiny)",
        architecture=TINY,
        data=replace(DATA, corpus="multi30k", target_language=target),
        training=FEW,
        because="a small corpus wants a small model, more dropout, fewer and smaller updates; "
        "about an epoch lies between two of the averaged snapshots",
    )


def sentences(language: str, target: str, pairs: str) -> Recipe:
    """Short everyday sentences by volunteers."""
    return Recipe(
        name=f"tatoeba-en-{target}",
        about=f"everyday sentences, English to {language}, {pairs} pairs",
        architecture=SMALL,
        data=replace(DATA, corpus=f"tatoeba-en-{target}", target_language=target),
        training=MORE,
        because="a model, a vocabulary and updates of a size that fits short sentences",
    )


TALKS = Recipe(
    name="iwslt14-de-en",
    about="subtitles of talks, German to English, 160,000 pairs",
    architecture=replace(SMALL, dropout=0.3),
    data=replace(DATA, corpus="iwslt14-de-en", source_language="de", target_language="en"),
    training=MORE,
    because="a model, a vocabulary and updates of a size that fits some hours of talk",
)


def own_files(name: str, about: str, architecture: Architecture, training: Training) -> Recipe:
    """A corpus that no address is known of: --source and --target, or --pairs, name it."""
    return Recipe(
        name=name,
        about=f"{about}; name its files",
        architecture=architecture,
        data=replace(DATA, corpus=name, target_language=name.rsplit("-", 1)[1]),
        training=training,
        because="a model, a vocabulary and updates of a size that fits the corpus",
    )


OWN_FILES = (
    own_files(
        "wmt-news-en-de", "test sets of many years as training text, 60,000 pairs", TINY, FEW
    ),
    own_files("libreoffice-help-en-de", "the help of an office program, 30,000 pairs", TINY, FEW),
    own_files("canada-laws-en-fr", "acts and regulations, 300,000 pairs", SMALL, MORE),
    own_files("open-en-de", "all open English-German text together, 250,000 pairs", SMALL, MORE),
)
OPEN = (
    captions("de"),
    captions("fr"),
    sentences("German", "de", "164,000"),
    sentences("French", "fr", "160,000"),
    TALKS,
    *OWN_FILES,
)
