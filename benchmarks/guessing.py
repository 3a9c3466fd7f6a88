"""How many tokens of a greedy translation one pass of the decoder gives if it also checks guesses.

    python -m benchmarks.guessing MODEL FILE [LINES]

Jacobi decoding (Santilli et al. 2023): a pass computes the next token and, beside it, the tokens
after `width` guessed ones; the guesses are what the last pass computed for these positions. Guesses
that a pass finds right are kept, so that the output is the greedy one. This counts passes; it does
not time them.
"""

import sys
from itertools import islice
from pathlib import Path

import torch

import transduce
from transduce.packed import Packed
from transduce.paper.model import Transformer
from transduce.text.clean import normalise
from transduce.vocabulary import BEGIN, END

WIDTHS = (2, 4, 8)
MAX_LENGTH = 200


@torch.inference_mode()
def predict(
    model: Transformer, sources: list[list[int]], inputs: list[list[int]]
) -> list[list[int]]:
    """Return the most probable next token after every token of every input."""
    states = model.decode(
        Packed.from_sentences(inputs), model.encode(Packed.from_sentences(sources))
    )
    best = model.logits(states).argmax(dim=-1)
    return [one.tolist() for one in best.split([len(each) for each in inputs])]


def count_right(guesses: list[int], computed: list[int]) -> int:
    """Return how many tokens of a pass are certain: the first, and one after each right guess."""
    right = 1
    while right <= len(guesses) and guesses[right - 1] == computed[right - 1]:
        right += 1
    return right


def decode_by_guesses(
    model: Transformer, sources: list[list[int]], width: int
) -> tuple[list[list[int]], int]:
    """Return the greedy outputs of sentences, and how many passes each took, added up."""
    outputs: list[list[int]] = [[] for _ in sources]
    guesses: list[list[int]] = [[] for _ in sources]
    passes, active = 0, list(range(len(sources)))
    while active:
        inputs = [[BEGIN, *outputs[n], *guesses[n]] for n in active]
        for n, computed in zip(
            active, predict(model, [sources[n] for n in active], inputs), strict=True
        ):
            fresh = computed[len(outputs[n]) :]
            right = count_right(guesses[n], fresh)
            outputs[n] += fresh[:right]
            rest = fresh[right:]
            guesses[n] = (rest + [fresh[-1]] * width)[:width]
        passes += len(active)
        active = [n for n in active if END not in outputs[n] and len(outputs[n]) < MAX_LENGTH]
    return [cut_at_end(output) for output in outputs], passes


def cut_at_end(output: list[int]) -> list[int]:
    """Return an output up to its first END, END included."""
    return output[: output.index(END) + 1] if END in output else output


def main(path: str, file: str, lines: str = "200") -> None:
    """Print the tokens that a pass gives, for each number of guesses."""
    translator = transduce.load(path)
    (model,) = translator.models
    with Path(file).open(encoding="utf-8") as texts:
        cleaned = [normalise(line) for line in islice(texts, int(lines))]
    sources = translator.task.encode_sources(cleaned)
    greedy, steps = decode_by_guesses(model, sources, 0)
    print(f"{len(sources)} sentences, {steps:,} tokens, greedy")
    for width in WIDTHS:
        outputs, passes = decode_by_guesses(model, sources, width)
        same = sum(one == other for one, other in zip(outputs, greedy, strict=True))
        print(f"{width} guesses a pass: {steps / passes:.3f} tokens a pass, {same} outputs equal")


if __name__ == "__main__":
    main(*sys.argv[1:])
