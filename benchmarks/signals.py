r"""Lists of pictures and of sounds for the task of signals, and what simple methods reach on them

    python -m benchmarks.signals digits FOLDER    # needs scikit-learn
    python -m benchmarks.signals tones FOLDER
    python -m benchmarks.signals notes FOLDER     # `drones` for notes of any phase

`digits` writes the 1,797 handwritten digits of scikit-learn (8 × 8 pixels, 17 grey levels) as PNG,
with the lists {train,dev,test}.tsv, picture to word, and {train,dev,test}-back.tsv, word to
picture; a fifth is for the test. It prints the accuracy of nearest neighbour and logistic
regression, and the bits a pixel of uniform grey levels and of a histogram for each pixel.
`tones` writes sounds that spell one to three digits, each as two sines that slide, in noise.
`notes` writes one of four notes a file, of varying pitch, loudness and length, in noise. Each
begins at phase 0, as a string that is struck does. `drones` are the same, begun at any phase.
"""

import argparse
import io
import math
import random
import wave
from functools import partial
from pathlib import Path

import numpy as np

from transduce.text.signals import write_png

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
LEVELS = 17
RATE, LENGTH = 1_000, 64  # samples of a second, and of a digit
LOW, HIGH = (70, 100, 140), (190, 250, 320, 410)  # Hz; a digit is one of each
NOTES = {"low": 60, "middle": 110, "high": 200, "top": 340}  # Hz


def write_lists(folder: Path, names: list[str], words: list[str], test: int, dev: int) -> None:
    """Write the lists of a test set, a development set and a training text, both ways."""
    parts = {"test": (0, test), "dev": (test, test + dev), "train": (test + dev, len(names))}
    for part, (first, last) in parts.items():
        pairs = list(zip(names[first:last], words[first:last], strict=True))
        (folder / f"{part}.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
        (folder / f"{part}-back.tsv").write_text("".join(f"{b}\t{a}\n" for a, b in pairs))


def write_digits(folder: Path) -> None:
    """Write the digits and their lists, and print what simple methods reach."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    found = load_digits()
    order = np.random.default_rng(1).permutation(len(found.target))
    pixels, digits = found.images[order].astype(int), found.target[order]
    names = [f"{number}.png" for number in range(len(digits))]
    for name, grey in zip(names, pixels, strict=True):
        level = np.rint(grey * 255 / (LEVELS - 1)).astype(np.uint8)
        (folder / name).write_bytes(write_png(level))
    test, dev = len(digits) // 5, 100
    write_lists(folder, names, [WORDS[digit] for digit in digits], test, dev)
    flat = pixels.reshape(len(pixels), -1)
    for name, method in (
        ("nearest neighbour", KNeighborsClassifier(1)),
        ("logistic regression", LogisticRegression(max_iter=10_000)),
    ):
        right = method.fit(flat[test + dev :], digits[test + dev :]).score(
            flat[:test], digits[:test]
        )
        print(f"{name}: {100 * right:.1f} %")
    print(f"uniform: {math.log2(LEVELS):.3f} bits a pixel")
    for name, classes in (("a pixel", 0 * digits), ("a pixel and a digit", digits)):
        counts = np.ones((10, flat.shape[1], LEVELS))  # each level was seen once more
        pixel = np.arange(flat.shape[1])
        for digit, grey in zip(classes[test + dev :], flat[test + dev :], strict=True):
            counts[digit, pixel, grey] += 1
        p = counts / counts.sum(axis=2, keepdims=True)
        each = [p[one, pixel, grey] for one, grey in zip(classes[:test], flat[:test], strict=True)]
        print(f"a histogram for {name}: {-np.log2(each).mean():.3f} bits a pixel")


def spell(digits: list[int], draw: random.Random) -> bytes:
    """Return a WAV file of 8 bits in which each digit is two sines that slide, in noise."""
    parts = []
    for digit in digits:
        length = int(LENGTH * draw.uniform(0.8, 1.2))
        time = np.arange(length) / RATE
        pair = (LOW[digit % 3], HIGH[digit // 3])
        parts.append(np.zeros(draw.randint(0, 16)))
        parts.append(
            sum(
                np.sin(2 * math.pi * (f * draw.uniform(0.96, 1.04) * time + draw.random()))
                for f in pair
            )
        )
    return write_wav(np.concatenate(parts) * draw.uniform(0.15, 0.4), draw)


def write_wav(sound: np.ndarray, draw: random.Random) -> bytes:
    """Return a sound in noise as a WAV file of 8 bits."""
    noise = np.array([draw.gauss(0, 0.08) for _ in sound])
    samples = np.clip(np.rint(128 + 127 * (sound + noise)), 0, 255).astype(np.uint8)
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setparams((1, 1, RATE, 0, "NONE", ""))
        file.writeframes(samples.tobytes())
    return stream.getvalue()


def write_tones(folder: Path, count: int = 3_000) -> None:
    """Write sounds of one to three digits, and their lists."""
    draw, words = random.Random(1), list[str]()
    for number in range(count):
        digits = [draw.randrange(10) for _ in range(draw.randint(1, 3))]
        (folder / f"{number}.wav").write_bytes(spell(digits, draw))
        words.append(" ".join(WORDS[digit] for digit in digits))
    write_lists(folder, [f"{number}.wav" for number in range(count)], words, 300, 100)


def write_notes(folder: Path, count: int = 2_400, *, any_phase: bool = False) -> None:
    """Write sounds of one note each, and their lists."""
    draw, words = random.Random(1), list[str]()
    for number in range(count):
        word, pitch = draw.choice(list(NOTES.items()))
        time = np.arange(draw.randint(40, 56)) / RATE
        phase = draw.random() if any_phase else 0.0
        turns = pitch * draw.uniform(0.95, 1.05) * time + phase
        sound = draw.uniform(0.2, 0.8) * np.sin(2 * math.pi * turns)
        (folder / f"{number}.wav").write_bytes(write_wav(sound, draw))
        words.append(word)
    write_lists(folder, [f"{number}.wav" for number in range(count)], words, 300, 100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["digits", "tones", "notes", "drones"])
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    writers = {
        "digits": write_digits,
        "tones": write_tones,
        "notes": write_notes,
        "drones": partial(write_notes, any_phase=True),
    }
    writers[chosen.what](chosen.folder)
