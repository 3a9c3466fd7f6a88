"""Beam search: the most probable outputs of a model    (section 6.1)

The search keeps W unfinished, or live, hypotheses of each sentence. One step finds their 2 W best
continuations. Those that end in END are finished; the best W without END stay live. Each hypothesis
can end in only one way, so at least W of the 2 W do not end. A beam of 1 is greedy search: each
step finds only the likeliest symbol, until that is END. In the paper W is 4, the length penalty's α
is 0.6, and an output has at most input length + 50 symbols, END not counted; in parsing W is 21, α
is 0.3, and the limit is input length + 300.

Any model that implements `StepwiseModel` can be searched. Many sentences are searched at once, as
rows of the same tensors, and no result depends on the others.
"""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar, final, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from transduce.errors import InputError, NotFiniteError
from transduce.machine.device import convert_to_lists
from transduce.packed import move_to_device
from transduce.paper.operations import PLAIN, Operations, stable_topk
from transduce.settings import Search
from transduce.vocabulary import BEGIN, END

# B sentences · W live and F finished hypotheses of each · R = B W rows, one per live hypothesis
# V symbols of the vocabulary · C candidates of a sentence · L: highest length limit, in symbols

State = TypeVar("State")


# --- What the search needs of a model, and what it finds ------------------------------------------


@runtime_checkable
class StepwiseModel(Protocol[State]):
    """A model or an ensemble that returns the log-probabilities of the next symbol, step by step.

    A model may rely on this: the first `step` has one row per source. After `reorder` each
    unfinished source has W adjacent rows. Sentences keep their order, except that the last ones may
    take the places of those that leave. A state is not used again after another was made from it.
    `concatenate` is only called with states of W rows per sentence.
    """

    @property
    def device(self) -> torch.device:
        """The device of ids and log-probabilities."""

    def start(self, sources: Sequence[Sequence[int]]) -> State:
        """Encode the sources, each closed by END; return a state with one row per source."""

    def step(self, state: State, ids: Int[Tensor, " R"]) -> tuple[Float[Tensor, "R V"], State]:
        """Append a symbol to each row; return log P (<= 0) of all next symbols and the state."""

    def reorder(self, state: State, rows: Int[Tensor, " R2"]) -> State:
        """Return the state of the given rows in the given order; rows may repeat or be left out."""

    def concatenate(self, first: State, second: State) -> State:
        """Return one state with the rows of both states, whose outputs may differ in length."""


@final
@dataclass(frozen=True)
class Hypothesis:
    """A finished output: ids without END, score with length penalty, and log P in nats."""

    ids: tuple[int, ...]
    score: float
    log_prob: float


Result = tuple[int, list[Hypothesis]]  # the index of a source and its hypotheses


def max_output_length(length: int, extra: int) -> int:
    """Return how many symbols an output may have; neither it nor `length` counts END    (6.1)"""
    return length + extra


# --- Scores: log P / divisor + reward -------------------------------------------------------------


class LengthTerms(NamedTuple):
    """The divisor and the reward of one output length, for the score log P / divisor + reward."""

    divisor: float = 1.0
    reward: float = 0.0


# The key is `search.penalty`, one of settings/search.py's `PENALTIES`. n counts the symbols of an
# output, END included.
LENGTH_TERMS: dict[str, Callable[[int, Search], LengthTerms]] = {
    "gnmt": lambda n, search: LengthTerms(divisor=((5 + n) / 6) ** search.alpha),
    "average": lambda n, _: LengthTerms(divisor=float(n)),
    "none": lambda _n, _: LengthTerms(),
    "reward": lambda n, search: LengthTerms(reward=search.gamma * n),
}


@final
@dataclass(frozen=True)
class LengthScore:
    """Tables of the divisor and the reward of each length, which turn log P into a score.

    An output's terms are read from the tables, so that its score is the same in every batch. Powers
    computed for each batch could round differently.
    """

    divisors: Float[Tensor, " lengths"]
    rewards: Float[Tensor, " lengths"]
    best_divisors: Float[Tensor, " lengths"]  # the largest divisor up to each length
    best_rewards: Float[Tensor, " lengths"]  # the largest reward up to each length

    @classmethod
    def tabulate(
        cls, search: Search, max_length: int, *, device: torch.device | None = None
    ) -> "LengthScore":
        """Build the `LengthScore` of `search.penalty` for all lengths from 0 to `max_length`."""
        terms_of = LENGTH_TERMS[search.penalty]
        terms = [terms_of(max(n, 1), search) for n in range(max_length + 1)]  # outputs have n >= 1
        tables = torch.tensor(terms, dtype=torch.float32).T
        both = torch.cat([tables, tables.cummax(dim=1).values])
        return cls(*move_to_device(both, device or both.device))

    @classmethod
    def of_sources(
        cls, model: StepwiseModel[State], sources: Sequence[Sequence[int]], search: Search
    ) -> "LengthScore":
        """Build the `LengthScore` for every length that outputs of these sources can have."""
        limits = [max_output_length(len(source) - 1, search.extra_length) + 1 for source in sources]
        return cls.tabulate(search, max(limits, default=0), device=model.device)

    def score(
        self, log_probs: Float[Tensor, "*#shape"], lengths: Int[Tensor, "*#shape"]
    ) -> Float[Tensor, "*shape"]:
        """Return the scores of outputs of these log-probabilities; their lengths include END."""
        return log_probs / self.divisors[lengths] + self.rewards[lengths]

    def upper_bound(
        self, log_probs: Float[Tensor, "*#shape"], max_lengths: Int[Tensor, "*#shape"]
    ) -> Float[Tensor, "*shape"]:
        """Return an upper bound on the final score of each live hypothesis within its length limit.

        log P is at most 0 and no further symbol raises it, so the largest divisor gives the highest
        quotient. No score exceeds log P / largest divisor + largest reward, both taken over all
        lengths up to the limit.
        """
        return log_probs / self.best_divisors[max_lengths] + self.best_rewards[max_lengths]


# --- The state of a search ------------------------------------------------------------------------


class BeamState(NamedTuple):
    """The live and finished hypotheses; the first dimension of every tensor is the sentence.

    Tokens that are not written yet are END. A slot without a hypothesis has log P -inf (dead).
    """

    sentences: Int[Tensor, " B"]  # index of each sentence in the input, from 0
    lengths: Int[Tensor, " B"]  # symbols written, the same for all hypotheses of a sentence
    max_lengths: Int[Tensor, " B"]  # symbols allowed, END included
    last_ids: Int[Tensor, "B W"]  # the symbols written last
    log_probs: Float[Tensor, "B W"]  # log P of live hypotheses; in beam search the best come first
    tokens: Int[Tensor, "B W L"]
    finished_scores: Float[Tensor, "B F"]  # in beam search the best come first
    finished_log_probs: Float[Tensor, "B F"]
    finished_tokens: Int[Tensor, "B F L"]


class StepResult(NamedTuple):
    """The result of one step: new beams, their parent rows, and which sentences leave the batch."""

    beams: BeamState
    parent_rows: Int[Tensor, " R"] | None  # the row that each new row extends; None: the same row
    is_leaving: Bool[Tensor, " B"]  # True if done; a fast `expand` may set it some steps late


@final
@dataclass(frozen=True)
class DecodingStrategy:
    """Beam search or sampling: the number of hypotheses, and the function that extends them."""

    width: int  # rows of each sentence, for live hypotheses
    initially_live: int  # how many start live; in beam search 1, since equal ones would stay equal
    finished_kept: int  # finished hypotheses stored for each sentence
    expand: Callable[[BeamState, Float[Tensor, "R V"]], StepResult]  # called with log P of symbols


# --- The steps of beam search ---------------------------------------------------------------------


def beam_search(
    model: StepwiseModel[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    *,
    nbest: int = 1,
    operations: Operations = PLAIN,
) -> list[list[Hypothesis]]:
    """Return each source's `nbest` best hypotheses, best first; sources stay in input order.

    A source may have fewer than `nbest`. Its hypotheses do not depend on the other sources.
    """
    strategy = beam_strategy(model, sources, search, nbest, operations=operations)
    found = dict(run_continuous_batching(model, sources, search, strategy))
    return [found[index] for index in range(len(sources))]


def beam_strategy(
    model: StepwiseModel[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    nbest: int = 1,
    *,
    operations: Operations = PLAIN,
) -> DecodingStrategy:
    """Return a beam search for `nbest` outputs per source.

    Raise InputError unless `nbest` is from 1 to `search.beam`.
    """
    if not 1 <= nbest <= search.beam:
        raise InputError(
            f"{nbest} best hypotheses are asked for, but the beam holds {search.beam}",
            "ask for 1 or more, and at most as many as search.beam",
        )
    expand = partial(
        expand_beams,
        length_score=LengthScore.of_sources(model, sources, search),
        operations=operations,
    )
    return DecodingStrategy(search.beam, initially_live=1, finished_kept=nbest, expand=expand)


class Candidates(NamedTuple):
    """The best one-symbol continuations of each sentence's live hypotheses.

    The best come first, except at the length limit, where they have the order of the beam.
    """

    log_probs: Float[Tensor, "B C"]  # log P of a candidate, the sum over its symbols
    parents: Int[Tensor, "B C"]  # index in the beam of the hypothesis that a candidate extends
    symbols: Int[Tensor, "B C"]  # the symbol that a candidate appends
    ends: Bool[Tensor, "B C"]  # whether that symbol is END
    lengths: Int[Tensor, "B 1"]  # symbols in each candidate of a sentence


def expand_beams(
    beams: BeamState,
    log_probs: Float[Tensor, "R V"],
    length_score: LengthScore,
    operations: Operations = PLAIN,
) -> StepResult:
    """Do one step of beam search: extend all hypotheses, keep the best, find done sentences.

    With a beam of 1 the model's rows need no reordering.
    """
    candidates = find_best_continuations(beams, log_probs, operations)
    places = torch.arange(beams.lengths.shape[0], device=log_probs.device)[:, None]  # in the batch
    if operations.is_any(candidates.ends):
        beams = update_finished(beams, candidates, places, length_score)
    beams, parents = update_live(beams, candidates, places, operations)
    width = parents.shape[1]
    parent_rows = (places * width + parents).flatten() if width > 1 else None
    return StepResult(beams, parent_rows, find_done(beams, length_score))


def find_best_continuations(
    beams: BeamState, log_probs: Float[Tensor, "R V"], operations: Operations
) -> Candidates:
    """Return the 2 W best continuations of each sentence's W hypotheses, or just one if W is 1."""
    width, symbols = beams.log_probs.shape[1], log_probs.shape[1]
    count = 1 if width == 1 else min(2 * width, width * symbols)
    totals, columns = operations.highest_sums(beams.log_probs, log_probs, count)
    lengths = beams.lengths[:, None] + 1
    at_limit = lengths == beams.max_lengths[:, None]
    # At the limit only END may follow. The first W candidates are the hypotheses with END, in
    # order; the others are dead. To mask all other symbols would write R V numbers.
    if operations.is_any(at_limit):
        ended = beams.log_probs + log_probs[:, END].view_as(beams.log_probs)
        parents = torch.arange(count, device=log_probs.device) % width
        totals = totals.where(~at_limit, pad(ended, (0, count - width), value=-torch.inf))
        columns = columns.where(~at_limit, parents * symbols + END)
    ids = columns % symbols
    return Candidates(totals, columns // symbols, ids, ids == END, lengths)


def update_finished(
    beams: BeamState,
    candidates: Candidates,
    places: Int[Tensor, "B 1"],
    length_score: LengthScore,
) -> BeamState:
    """Return beams in which candidates that end in END join the finished ones; the F best stay.

    Of two hypotheses with equal scores the older is kept. `places` are 0 to B - 1.
    """
    scores = length_score.score(candidates.log_probs, candidates.lengths)
    scores = scores.where(candidates.ends, -torch.inf)
    nbest = beams.finished_scores.shape[1]
    # `kept` indexes the F old finished hypotheses followed by the C candidates. `origins` has the
    # index of each kept one's tokens, which are those of the old hypothesis or of the candidate's
    # parent. END need not be written, since all unwritten tokens are END.
    scores, kept = stable_topk(torch.cat([beams.finished_scores, scores], dim=1), nbest)  # [B F]
    log_probs = torch.cat([beams.finished_log_probs, candidates.log_probs], dim=1)
    old = torch.arange(nbest, device=kept.device).expand_as(kept)
    origins = torch.cat([old, candidates.parents + nbest], dim=1).gather(1, kept)
    tokens = torch.cat([beams.finished_tokens, beams.tokens], dim=1)
    return beams._replace(
        finished_scores=scores,
        finished_log_probs=log_probs.gather(1, kept),
        finished_tokens=tokens[places, origins],
    )


def update_live(
    beams: BeamState, candidates: Candidates, places: Int[Tensor, "B 1"], operations: Operations
) -> tuple[BeamState, Int[Tensor, "B W"]]:
    """Return beams of the W best candidates without END, and each one's parent (index in the beam).

    If there are fewer than W such candidates, dead hypotheses fill the beam.
    """
    log_probs, parents, ids, ends, lengths = candidates
    width = beams.last_ids.shape[1]
    if operations.is_any(ends):
        log_probs = log_probs.masked_fill(ends, -torch.inf)
        order = ends.sort(dim=1, stable=True).indices  # candidates without END first
        log_probs, parents, ids = (one.gather(1, order) for one in (log_probs, parents, ids))
    log_probs, parents, ids = log_probs[:, :width], parents[:, :width], ids[:, :width]
    position = beams.lengths[:, None, None].expand(*ids.shape, 1)
    tokens = beams.tokens[places, parents].scatter_(2, position, ids[:, :, None])
    beams = beams._replace(lengths=lengths[:, 0], last_ids=ids, log_probs=log_probs, tokens=tokens)
    return beams, parents


def find_done(beams: BeamState, length_score: LengthScore) -> Bool[Tensor, " B"]:
    """Return True for each sentence whose finished hypotheses can no longer change.

    That is so at the length limit, or if no live hypothesis can beat the worst of the F finished
    ones, where F is the number of outputs asked for. The bound holds for all lengths up to the
    limit, so no better hypothesis is lost. The rule of other programs, `search.stop = "early"`, is
    in search/bounds.py.
    """
    reachable = length_score.upper_bound(beams.log_probs[:, 0], beams.max_lengths)
    beaten = reachable <= beams.finished_scores[:, -1]
    return beaten | (beams.lengths == beams.max_lengths)


# --- Continuous batching: waiting sentences take the places of finished ones ----------------------


@final
@dataclass(frozen=True)
class ActiveBatch(Generic[State]):
    """The sentences that are being decoded: the model's state and the state of their beams."""

    model_state: State
    beams: BeamState


def run_continuous_batching(
    model: StepwiseModel[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    strategy: DecodingStrategy,
    *,
    indices: Iterable[int] | None = None,
) -> Iterator[Result]:
    """Decode the longest sources first; yield (source index, hypotheses) when a source is done.

    If `indices` are given, only those sources are decoded. Waiting sources enter the batch when at
    least half of its `search.batch_size` places are free.
    """
    wanted = range(len(sources)) if indices is None else indices
    waiting = deque(sorted(wanted, key=lambda index: len(sources[index]), reverse=True))
    active: ActiveBatch[State] | None = None
    while waiting or active:
        free = search.batch_size - (len(active.beams.sentences) if active else 0)
        with torch.inference_mode():
            if waiting and free >= search.batch_size / 2:
                admitted = [waiting.popleft() for _ in range(min(free, len(waiting)))]
                fresh = start_batch(model, sources, admitted, search, strategy)
                new, results = take_first_step(model, fresh, strategy)
                active = merge_batches(model, active, new) if active and new else active or new
            else:
                assert active
                active, results = take_step(model, active, strategy)
        yield from results


def start_batch(
    model: StepwiseModel[State],
    sources: Sequence[Sequence[int]],
    sentences: Sequence[int],
    search: Search,
    strategy: DecodingStrategy,
) -> ActiveBatch[State]:
    """Build a batch of the given sentences (indices into `sources`) before their first symbol.

    The model's state has one row per sentence, since all hypotheses of a sentence start equal.
    """
    count, width, device = len(sentences), strategy.width, model.device
    chosen = [sources[sentence] for sentence in sentences]
    limits = [max_output_length(len(source) - 1, search.extra_length) + 1 for source in chosen]
    dead = torch.full((count, width + strategy.finished_kept), -torch.inf, device=device)
    tokens = torch.full((*dead.shape, max(limits)), END, device=device)
    live = torch.arange(strategy.initially_live, device=device)
    max_lengths = move_to_device(torch.tensor(limits), device)
    beams = BeamState(
        sentences=move_to_device(torch.tensor(sentences), device),
        lengths=torch.zeros_like(max_lengths),
        max_lengths=max_lengths,
        last_ids=torch.full((count, width), BEGIN, device=device),
        log_probs=dead[:, :width].index_fill(1, live, 0.0),
        tokens=tokens[:, :width],
        finished_scores=dead[:, width:],
        finished_log_probs=dead[:, width:],
        finished_tokens=tokens[:, width:],
    )
    return ActiveBatch(model.start(chosen), beams)


def take_first_step(
    model: StepwiseModel[State], batch: ActiveBatch[State], strategy: DecodingStrategy
) -> tuple[ActiveBatch[State] | None, list[Result]]:
    """Do a batch's first step; return the rest of the batch (or None) and the results.

    Before this step the model has one row per sentence, afterwards one per hypothesis.
    """
    log_probs, state = model.step(batch.model_state, batch.beams.last_ids[:, 0])
    result = strategy.expand(batch.beams, log_probs.repeat_interleave(strategy.width, dim=0))
    rows = torch.arange(len(log_probs), device=log_probs.device)
    spread = rows.repeat_interleave(strategy.width)  # all extend their sentence's only row
    return retire_done(model, state, result._replace(parent_rows=spread))


def take_step(
    model: StepwiseModel[State], batch: ActiveBatch[State], strategy: DecodingStrategy
) -> tuple[ActiveBatch[State] | None, list[Result]]:
    """Append a symbol to each hypothesis; return the rest of the batch (or None) and results."""
    log_probs, state = model.step(batch.model_state, batch.beams.last_ids.flatten())
    return retire_done(model, state, strategy.expand(batch.beams, log_probs))


def retire_done(
    model: StepwiseModel[State], state: State, step: StepResult
) -> tuple[ActiveBatch[State] | None, list[Result]]:
    """Remove done sentences; return the remaining batch, or None, and the results."""
    beams, parent_rows, is_leaving = step
    done: list[bool] = is_leaving.tolist()
    if not any(done):
        state = state if parent_rows is None else model.reorder(state, parent_rows)
        return ActiveBatch(state, beams), []
    results = collect_results(beams, [place for place, flag in enumerate(done) if flag])
    remaining = compact_sentences(done)
    if not remaining:
        return None, results
    if parent_rows is None:
        parent_rows = torch.arange(beams.last_ids.numel(), device=is_leaving.device)
    state = model.reorder(state, parent_rows.view(len(done), -1)[remaining].flatten())
    return ActiveBatch(state, select_sentences(beams, remaining)), results


def collect_results(beams: BeamState, places: Sequence[int]) -> list[Result]:
    """Return (source index, hypotheses) of the sentences at `places` in the batch.

    Raise NotFiniteError if a sentence has no hypothesis with a finite probability.
    """
    index = move_to_device(torch.tensor(places), beams.sentences.device)
    finished = (beams.finished_tokens, beams.finished_scores, beams.finished_log_probs)
    sentences, *lists = convert_to_lists([one[index] for one in (beams.sentences, *finished)])
    results = []
    for sentence, *of_sentence in zip(sentences, *lists, strict=True):
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


def compact_sentences(done: Sequence[bool]) -> list[int]:
    """Return the places of unfinished sentences, with the last ones moved to where done ones were.

    Most sentences keep their place, so that little is copied.
    """
    count = done.count(False)
    last = (place for place in range(count, len(done)) if not done[place])
    return [next(last) if done[place] else place for place in range(count)]


def merge_batches(
    model: StepwiseModel[State], first: ActiveBatch[State], second: ActiveBatch[State]
) -> ActiveBatch[State]:
    """Return one batch with the sentences of `first`, then the sentences of `second`."""
    length = max(batch.beams.tokens.shape[2] for batch in (first, second))
    both = zip(resize_tokens(first.beams, length), resize_tokens(second.beams, length), strict=True)
    return ActiveBatch(
        model.concatenate(first.model_state, second.model_state), BeamState(*map(torch.cat, both))
    )


def select_sentences(beams: BeamState, places: Sequence[int]) -> BeamState:
    """Return the beams at these places, with tokens cut to the highest length limit among them."""
    index = move_to_device(torch.tensor(places), beams.last_ids.device)
    selected = BeamState(*(tensor[index] for tensor in beams))
    return resize_tokens(selected, int(selected.max_lengths.max()))


def resize_tokens(beams: BeamState, length: int) -> BeamState:
    """Cut the tokens of all hypotheses to `length` symbols, or pad them with END."""
    change = (0, length - beams.tokens.shape[2])  # a negative pad cuts
    return beams._replace(
        tokens=pad(beams.tokens, change, value=END),
        finished_tokens=pad(beams.finished_tokens, change, value=END),
    )
