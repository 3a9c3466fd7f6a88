"""Continuous batching: sentences that wait replace finished sentences in the batch."""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

import torch

from transduce.errors import NotEnoughMemoryError, NotFiniteError, is_out_of_memory
from transduce.machine.device import read_tensors
from transduce.packed import move_to_device
from transduce.search.beam_state import (
    ActiveBatch,
    BeamState,
    DecodingStrategy,
    StepResult,
    max_output_length,
    merge_batches,
    select_sentences,
    start_batch,
)
from transduce.search.decoder import END, Decoder, State
from transduce.search.length_score import LengthScore
from transduce.settings import Search

TOO_LITTLE = "there is not enough memory to search a single sentence"
TOO_LITTLE_HINT = "try a smaller beam, shorter lines, or fewer --workers"


@final
@dataclass(frozen=True)
class Hypothesis:
    """A finished output: ids without END, score with length penalty, and log P in nats."""

    ids: tuple[int, ...]
    score: float
    log_prob: float


Result = tuple[int, list[Hypothesis]]  # the index of a source and its hypotheses


def tabulate_length_score(
    decoder: Decoder[State], sources: Sequence[Sequence[int]], search: Search
) -> LengthScore:
    """Build the length score for every length that outputs of these sources can have."""
    limits = [max_output_length(source, search.extra_length) + 1 for source in sources]
    return LengthScore.tabulate(search, max(limits, default=0), device=decoder.device)


def run_continuous_batching(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    strategy: DecodingStrategy,
) -> Iterator[Result]:
    """Decode all sources, long ones first; yield (source index, hypotheses) as each one ends.

    When memory runs out, the unfinished sources are decoded anew in batches of half the size.
    """
    order = sorted(range(len(sources)), key=lambda n: len(sources[n]), reverse=True)
    size = min(search.batch_size, len(order))
    while order:
        finished: set[int] = set()
        try:
            for result in run_batches(
                decoder, sources, order, replace(search, batch_size=size), strategy
            ):
                finished.add(result[0])
                yield result
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if size == 1:
                raise NotEnoughMemoryError(TOO_LITTLE, TOO_LITTLE_HINT) from None
        order = [index for index in order if index not in finished]
        size = max(1, size // 2)


def run_batches(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    order: Sequence[int],
    search: Search,
    strategy: DecodingStrategy,
) -> Iterator[Result]:
    """Decode the sources with these indices; yield (source index, hypotheses) as each one ends.

    Waiting sources enter the batch when half of its `search.batch_size` places are free.
    """
    waiting = deque(order)
    active: ActiveBatch[State] | None = None
    while waiting or active:
        free = search.batch_size - (len(active.beams.sentences) if active else 0)
        with torch.inference_mode():
            if waiting and free >= search.batch_size / 2:
                admitted = [waiting.popleft() for _ in range(min(free, len(waiting)))]
                fresh = start_batch(decoder, sources, admitted, search, strategy)
                new, results = take_first_step(decoder, fresh, strategy)
                active = merge_batches(decoder, active, new) if active and new else active or new
            else:
                assert active
                active, results = take_step(decoder, active, strategy)
        yield from results


def take_first_step(
    decoder: Decoder[State], batch: ActiveBatch[State], strategy: DecodingStrategy
) -> tuple[ActiveBatch[State] | None, list[Result]]:
    """Do a batch's first step; return the batch of unfinished sentences, if any, and the results.

    Before this step the decoder has one row per sentence, afterwards one per hypothesis.
    """
    log_probs, state = decoder.step(batch.decoder_state, batch.beams.last_ids[:, 0])
    result = strategy.expand(batch.beams, log_probs.repeat_interleave(strategy.width, dim=0))
    rows = torch.arange(len(log_probs), device=log_probs.device)
    spread = rows.repeat_interleave(strategy.width)
    return retire_done(decoder, state, result._replace(parent_rows=spread))


def take_step(
    decoder: Decoder[State], batch: ActiveBatch[State], strategy: DecodingStrategy
) -> tuple[ActiveBatch[State] | None, list[Result]]:
    """Append a symbol to each hypothesis; return the unfinished batch, if any, and new results."""
    log_probs, state = decoder.step(batch.decoder_state, batch.beams.last_ids.flatten())
    return retire_done(decoder, state, strategy.expand(batch.beams, log_probs))


def retire_done(
    decoder: Decoder[State], state: State, step: StepResult
) -> tuple[ActiveBatch[State] | None, list[Result]]:
    """Remove the sentences that a step has finished; return the remaining batch and the results."""
    beams, rows, is_done = step
    done: list[bool] = is_done.tolist()  # waits for the device
    if not any(done):
        return ActiveBatch(state if rows is None else decoder.reorder(state, rows), beams), []
    results = collect_results(beams, [sentence for sentence, flag in enumerate(done) if flag])
    remaining = compact_sentences(done)
    if not remaining:
        return None, results
    rows = torch.arange(beams.last_ids.numel(), device=is_done.device) if rows is None else rows
    state = decoder.reorder(state, rows.view(len(done), -1)[remaining].flatten())
    return ActiveBatch(state, select_sentences(beams, remaining)), results


def compact_sentences(done: Sequence[bool]) -> list[int]:
    """Return the unfinished sentences' indices, the last of them moved to finished ones' places.

    Most unfinished sentences keep their index, so that few rows are copied.
    """
    count = done.count(False)
    last = (sentence for sentence in range(count, len(done)) if not done[sentence])
    return [next(last) if done[slot] else slot for slot in range(count)]


def collect_results(beams: BeamState, done: Sequence[int]) -> list[Result]:
    """Copy the results of the finished sentences, given as row indices `done`, from the device."""
    rows = move_to_device(torch.tensor(done), beams.sentences.device)
    finished = (beams.finished_tokens, beams.finished_scores, beams.finished_log_probs)
    sentences, *finished_lists = read_tensors([one[rows] for one in (beams.sentences, *finished)])
    results = []
    for sentence, *of_sentence in zip(sentences, *finished_lists, strict=True):
        found = [
            Hypothesis(tuple(ids[: ids.index(END)]), score, log_prob)
            for ids, score, log_prob in zip(*of_sentence, strict=True)
            if score > -math.inf
        ]
        if not found:
            raise NotFiniteError(
                f"no translation of sentence {sentence + 1} has a finite probability",
                "the weights are damaged: verify the model, or take an older checkpoint",
            )
        results.append((sentence, found))
    return results
