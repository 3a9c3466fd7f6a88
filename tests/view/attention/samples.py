"""Attention views with made-up weights, which look like those of a trained model."""

import numpy as np

from transduce.view.attention.record import (
    AttentionView,
    ModelName,
    NextPiece,
    OutputStep,
    PieceSequence,
    Word,
)

LINES = """\
The Law will never be perfect , but its application should be just
Das Gesetz wird nie perfekt sein , aber seine Anwendung soll recht sein
"""
ENGLISH, GERMAN = map(str.split, LINES.splitlines())


def make_sequence(pieces, first="", last="</s>"):
    """Return a sequence in which every piece is a word."""
    named = [*([first] if first else []), *pieces, *([last] if last else [])]
    words = [Word(i, i, piece) for i, piece in enumerate(named)]
    return PieceSequence(tuple(named), tuple(words), " ".join(pieces))


def make_weights(rng, layers, heads, rows, columns, *, causal=False):
    """Return softmax weights of local and random scores; heads differ in sharpness."""
    scores = rng.normal(size=(layers, heads, rows, columns))
    distance = np.abs(np.arange(rows)[:, None] - np.arange(columns))
    sharpness = np.linspace(0.5, 3, heads)[:, None, None]
    scores = sharpness * (scores - 0.3 * distance)
    if causal:
        scores = np.where(np.tri(rows, columns, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


def make_view(source=ENGLISH, output=GERMAN, *, layers=6, heads=8, kinds=None, seed=1):
    """Return a view of a sentence pair with made-up weights."""
    rng = np.random.default_rng(seed)
    rows, columns = len(output) + 1, len(source) + 1
    weights = {
        "encoder": make_weights(rng, layers, heads, columns, columns),
        "decoder": make_weights(rng, layers, heads, rows, rows, causal=True),
        "cross": make_weights(rng, layers, heads, rows, columns),
    }
    steps = [
        OutputStep(NextPiece(piece, 0.7), (NextPiece(piece, 0.7), NextPiece("other", 0.12345678)))
        for piece in [*output, "</s>"]
    ]
    return AttentionView(
        model=ModelName("made-up", "0" * 64, layers, heads),
        task="translation",
        source=make_sequence(source),
        input=make_sequence(output, first="<s>", last=""),
        output=make_sequence(output),
        layers=tuple(range(1, layers + 1)),
        weights={kind: weights[kind] for kind in kinds or weights},
        steps=tuple(steps),
        is_given=False,
    )
