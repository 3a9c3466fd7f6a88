"""Runs the searches of one model in a search process; sentences join and leave at any step."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, final

import torch

from transduce.errors import InputError, TransduceError
from transduce.inference.keeping import Attempt, build_plain_attempt, list_attempts, warn_of_loss
from transduce.inference.lines import EncodedLine, Line, Pair, encode_line
from transduce.inference.outputs import (
    Alignment,
    collect_warnings,
    combine_best,
    combine_models,
    fit_batch_size,
    join_parts,
    keep_different,
)
from transduce.inference.pairs import encode_pairs, find_unscorable, token_log_probs
from transduce.inference.translator import Translator
from transduce.packed import Packed
from transduce.paper.search import Hypothesis
from transduce.search.constraints import ConstrainedModel, ConstrainedSource, ForcedPrefix
from transduce.search.running_search import RunningSearch
from transduce.serve.interface import Details
from transduce.serve.messages import (
    Alive,
    Answer,
    AttentionRequest,
    Cancel,
    Failed,
    Order,
    Page,
    Ping,
    SentenceOutputs,
    TranslationOrder,
)
from transduce.vocabulary import END

FREE = ForcedPrefix(())  # forces nothing
LONG = 1_000  # a batch of sentences of this many pieces must fit in memory


@final
@dataclass
class OpenSentence:
    """A sentence in a search, the ids of its parts, and the hypotheses found so far."""

    sentence: TranslationOrder
    attempts: Sequence[Attempt]  # the current one, then those to make if it loses URLs and the like
    line: EncodedLine
    part_ids: tuple[int, ...]  # a sentence that is too long has several parts
    found: dict[int, list[Hypothesis]] = field(default_factory=dict)


@final
class SearchWorker:
    """All searches of one model; carries out orders, and calls `send` with each answer.

    The number of sentences searched at once is limited to what fits in free memory.
    """

    def __init__(self, translator: Translator, send: Callable[[Answer], None]) -> None:
        recipe = translator.recipe
        long_sources = [range(min(LONG, recipe.data.max_length))] * recipe.search.batch_size
        fitting = fit_batch_size(translator.models, long_sources, recipe.search, recipe.search.beam)
        translator = replace(translator, recipe=replace(recipe, search=fitting))
        self.translator, self.send = translator, send
        self.model = ConstrainedModel(combine_models(translator.models))
        self.searches: dict[int, RunningSearch[Any]] = {}  # number of outputs -> search
        self.open: dict[int, OpenSentence] = {}
        self.sentence_of: dict[int, int] = {}  # id of a part -> id of its sentence
        self.part_ids = count()
        self.pages: dict[int, AttentionRequest] = {}  # attention pages still to be drawn

    @property
    def is_idle(self) -> bool:
        """Whether no search has a sentence left, and no page is to be drawn."""
        return not self.pages and all(search.is_idle for search in self.searches.values())

    def receive(self, order: Order) -> None:
        """Carry out an order: begin or cancel sentences, queue an attention page, answer a ping."""
        match order:
            case Cancel():
                self.cancel(order.ids)
            case TranslationOrder():
                self.answer_errors(order.id, lambda: self.begin(order))
            case AttentionRequest():
                self.pages[order.id] = order
            case Ping():
                self.send(Alive())

    def answer_errors(self, sentence_id: int, act: Callable[[], None]) -> None:
        """Call `act`; if it raises an error, send that as the answer to a sentence."""
        try:
            act()
        except TransduceError as error:
            is_server_fault = not isinstance(error, InputError)
            fact = error.fact.removeprefix("line 1: ")  # a request has no lines
            self.send(Failed(sentence_id, fact, is_server_fault))
        except Exception as error:  # noqa: BLE001 - one sentence must not end the others
            self.send(Failed(sentence_id, f"{type(error).__name__} in the model"))

    def begin(self, sentence: TranslationOrder) -> None:
        """Begin a sentence's first attempt, which protects URLs if the translator keeps them."""
        line = Line(1, sentence.text, sentence.prefix)
        attempts = [build_plain_attempt(line)]
        if self.translator.keeps_items:
            attempts = list_attempts(line, can_align=len(self.translator.models) == 1)
        self.attempt(sentence, attempts)

    def attempt(self, sentence: TranslationOrder, attempts: Sequence[Attempt]) -> None:
        """Encode `attempts[0].read`, the line for the model, and add its parts to a search."""
        translator = self.translator
        encoded = encode_line(attempts[0].read, translator.task, translator.recipe, strict=False)
        ids = tuple(next(self.part_ids) for _ in encoded.sources)
        self.open[sentence.id] = OpenSentence(sentence, attempts, encoded, ids)
        if not ids:
            self.finish(sentence.id)
            return
        self.sentence_of |= dict.fromkeys(ids, sentence.id)
        sources = [
            one if isinstance(one, ConstrainedSource) else ConstrainedSource(one, FREE)
            for one in encoded.sources
        ]
        self.find_search(sentence.n).add(dict(zip(ids, sources, strict=True)))

    def find_search(self, n: int) -> RunningSearch[Any]:
        """Return the search that finds `n` outputs per sentence; build it at the first call."""
        if n not in self.searches:
            recipe = self.translator.recipe
            self.searches[n] = RunningSearch(
                self.model,
                recipe.search,
                nbest=n,
                max_length=recipe.data.max_length,
                operations=self.translator.models[0].operations,
            )
        return self.searches[n]

    def cancel(self, ids: Collection[int]) -> None:
        """Remove the sentences and pages with these ids, without an answer."""
        for page_id in ids:
            self.pages.pop(page_id, None)
        gone = [self.open.pop(sentence_id) for sentence_id in ids if sentence_id in self.open]
        parts = {part for one in gone for part in one.part_ids}
        for part in parts:
            self.sentence_of.pop(part, None)
        for search in self.searches.values():
            search.drop(parts)

    def step(self) -> None:
        """Do one step of every search, send finished sentences, and draw one page if any is due."""
        for search in self.searches.values():
            try:
                results = search.step()
            except Exception as error:  # noqa: BLE001 - the process goes on with other sentences
                self.fail(search, error)
                continue
            for part, hypotheses in results:
                self.collect(part, hypotheses)
        if self.pages:
            order = self.pages.pop(min(self.pages))
            self.answer_errors(order.id, lambda: self.draw(order))

    def fail(self, search: RunningSearch[Any], error: Exception) -> None:
        """Empty a search, and send an error as the answer to each of its sentences."""
        fact = error.fact if isinstance(error, TransduceError) else type(error).__name__
        ids = {self.sentence_of.pop(part) for part in search.clear()}
        for sentence_id in ids:
            del self.open[sentence_id]
            self.send(Failed(sentence_id, fact))

    def collect(self, part: int, hypotheses: list[Hypothesis]) -> None:
        """Store the hypotheses of a part; finish the sentence once all its parts have theirs."""
        sentence_id = self.sentence_of.pop(part)
        found = self.open[sentence_id].found
        found[part] = hypotheses
        if len(found) == len(self.open[sentence_id].part_ids):
            self.answer_errors(sentence_id, lambda: self.finish(sentence_id))

    def finish(self, sentence_id: int) -> None:
        """Send a sentence's outputs; if the best one lacks a URL, begin its next attempt instead.

        A lost placeholder or address counts like a URL. The last attempt's outputs are sent in any
        case.
        """
        done = self.open.pop(sentence_id)
        attempt, sentence = done.attempts[0], done.sentence
        task, parts = self.translator.task, [done.found[one] for one in done.part_ids]
        combinations = combine_best(parts, sentence.n)
        outputs = join_parts(done.line, combinations, task)
        combinations, outputs = keep_different(combinations, outputs, sentence.n)
        is_as_read = attempt.read.text == sentence.text
        if attempt.needs_links or (sentence.is_detailed and is_as_read):
            aligned = sentence.n if attempt.needs_links else 1  # details are of the best output
            (outputs[:aligned],) = self.translator.aligner.add_alignments(
                [attempt.read], [(done.line, combinations)], [outputs[:aligned]]
            )
        finished = [attempt.restore_output(output, sentence.text) for output in outputs]
        if not finished[0][1] and len(done.attempts) > 1:
            self.attempt(sentence, done.attempts[1:])
            return
        outputs = [output for output, _ in finished]
        warnings = collect_warnings(done.line, combinations[0], task)
        if self.translator.keeps_items:
            warnings += warn_of_loss(1, outputs)
        details = None
        if sentence.is_detailed and is_as_read:
            targets = [[*part.ids, END] for part in combinations[0]]
            links = outputs[0].alignment or Alignment()
            sources = [*map(list, done.line.sources)]
            details = describe_pieces(self.translator, sources, targets, links)
        elif sentence.is_detailed:  # the model has read stand-ins instead of URLs and the like
            details = describe_pair(self.translator, sentence.text, outputs[0].text)
        best = tuple((one.text, one.score, one.log_prob) for one in outputs)
        lost = outputs[0].lost if self.translator.keeps_items else ()
        warned = tuple(one.fact for one in warnings)
        self.send(SentenceOutputs(sentence_id, best, warned, details, lost))

    def draw(self, order: AttentionRequest) -> None:
        """Send the attention page that an order asks for."""
        from transduce.view.attention.attend import attend
        from transduce.view.attention.page import build_attention_page

        page = build_attention_page(attend(self.translator, order.text, most=order.most).record)
        self.send(Page(order.id, page))


def describe_pair(translator: Translator, text: str, output: str) -> Details:
    """Return pieces, log P and word links of a text and of an output with URLs put back.

    All lists are empty if the text or the output is too long for the model.
    """
    (pair,) = encode_pairs([Pair(1, text, output)], translator.task)
    is_short = find_unscorable(pair, translator.recipe) is None
    sources, targets = ([pair.source], [pair.target]) if is_short else ([], [])
    ((alignment, _),) = translator.aligner.align_texts([Pair(1, text, output)])
    return describe_pieces(translator, sources, targets, alignment)


@torch.inference_mode()
def describe_pieces(
    translator: Translator,
    sources: Sequence[list[int]],
    targets: Sequence[list[int]],
    alignment: Alignment,
) -> Details:
    """Return pieces, log-probabilities and links of sources and targets given by ids, joined."""
    task, log_probs = translator.task, list[float]()
    if sources:
        (model,) = translator.models
        packed = Packed.from_sentences(sources), Packed.from_sentences(targets)
        log_probs = token_log_probs(model, *packed).float().cpu().tolist()
    links = alignment.as_json()
    return Details(
        source_pieces=[task.source.piece(one) for ids in sources for one in ids[:-1]],
        target_pieces=[task.target.piece(one) for ids in targets for one in ids],
        log_probs=[round(one, 4) for one in log_probs],
        alignment=links["alignment"],
        weights=links["weights"],
    )
