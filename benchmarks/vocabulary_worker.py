"""A worker: learn a vocabulary and encode by it. Arguments: file of lines, size, whose."""

import io
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.turns import Turn, serve

ODD = (
    "plain words",
    "  blanks  at  both  ends  ",
    "tab\tand\u00a0no-break blank",
    "",
    "Ünïcödé und Straße",
    "e\u0301 decomposed",
    "漢字かな混じり文",
    "👩‍👩‍👧 and 🏳️‍🌈",
    "\u2581 the mark of others",
    "</s> <s> <unk> ▁",
    "\u200bzero width\u200d",
    "مرحبا بالعالم",
    "a" * 300,
    "\ufeffmark \ufffd",
)
Pair = tuple[Callable[[Sequence[str]], list[list[int]]], Callable[[list[int]], str]]


def ours(file: Path, lines: list[str], size: int) -> Pair:  # noqa: ARG001 - as the others
    """transduce."""
    from transduce.vocabulary.learn import learn_vocabulary

    vocabulary = learn_vocabulary(lines, size)
    return vocabulary.encode_batch, vocabulary.decode


def tokenizers(file: Path, lines: list[str], size: int) -> Pair:  # noqa: ARG001
    """Hugging Face tokenizers, as its tutorial has it, on bytes."""
    from tokenizers import ByteLevelBPETokenizer

    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(lines, size, show_progress=False)
    return (
        lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(list(texts))],
        lambda ids: str(tokenizer.decode(ids)),
    )


def sentencepiece(file: Path, lines: list[str], size: int) -> Pair:  # noqa: ARG001
    """SentencePiece's byte-pair encoding, told to change nothing and to know every byte."""
    from sentencepiece import (
        SentencePieceProcessor,
        SentencePieceTrainer,
    )

    model = io.BytesIO()
    SentencePieceTrainer.train(
        input=str(file),
        model_writer=model,
        vocab_size=size,
        model_type="bpe",
        byte_fallback=True,
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        num_threads=2,
        minloglevel=2,
    )
    processor = SentencePieceProcessor(model_proto=model.getvalue())
    return (
        lambda texts: processor.encode(list(texts), num_threads=2),
        lambda ids: str(processor.decode(ids)),
    )


def main(file: str, size: str, whose: str) -> None:
    """Serve turns."""
    path = Path(file)
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    learned = {"ours": ours, "tokenizers": tokenizers, "sentencepiece": sentencepiece}[whose]

    def turn(_: int) -> Turn:
        began = time.perf_counter()
        encode, decode = learned(path, lines, int(size))
        known = time.perf_counter()
        pieces = sum(map(len, encode(lines)))
        encoded = time.perf_counter()
        return {
            "learning": known - began,
            "encoding": encoded - known,
            "pieces": pieces,
            "lines": len(lines),
            "back": sum(decode(encode([text])[0]) == text for text in ODD),
        }

    serve(turn)


if __name__ == "__main__":
    main(*sys.argv[1:])
