"""Corpora that anyone can have, with the paper's model and schedule at their size."""

from transduce.settings import Architecture, Data, Recipe, Training

MULTI30K = Recipe(
    name="multi30k-en-de",
    about="image captions, 29,000 pairs; sizes and updates of Wu et al. 2021 (Transformer-Tiny)",
    architecture=Architecture(
        layers=4, d_model=128, d_ff=256, heads=4, d_k=32, d_v=32, dropout=0.3
    ),
    data=Data(corpus="multi30k", vocabulary_size=10_000, source_tokens=4_096, target_tokens=4_096),
    training=Training(
        steps=8_000, warmup=1_000, snapshot_steps=100, snapshots=10, validate_steps=500
    ),
    because="a small corpus wants a small model, more dropout, fewer and smaller updates; "
    "about an epoch lies between two of the averaged snapshots",
)


def _tatoeba(language: str, target: str, pairs: str) -> Recipe:
    """Short everyday sentences by volunteers."""
    return Recipe(
        name=f"tatoeba-en-{target}",
        about=f"everyday sentences, English to {language}, {pairs} pairs",
        architecture=Architecture(
            layers=3, d_model=256, d_ff=1024, heads=4, d_k=64, d_v=64, dropout=0.2
        ),
        data=Data(
            corpus=f"tatoeba-en-{target}",
            target_language=target,
            vocabulary_size=10_000,
            source_tokens=4_096,
            target_tokens=4_096,
        ),
        training=Training(steps=20_000, snapshot_steps=400, snapshots=5),
        because="a model, a vocabulary and updates of a size that fits short sentences",
    )


TATOEBA_GERMAN = _tatoeba("German", "de", "164,000")
TATOEBA_FRENCH = _tatoeba("French", "fr", "160,000")

OPEN = (MULTI30K, TATOEBA_GERMAN, TATOEBA_FRENCH)
