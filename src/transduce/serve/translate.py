"""Translates the texts of a request: splits them into sentences, searches, joins the outputs."""

import asyncio
from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from itertools import accumulate, pairwise
from typing import Any, cast

from transduce.serve import interface
from transduce.serve.dispatcher import Dispatcher
from transduce.serve.interface import (
    Detection,
    OpenNmtItem,
    OpenNmtOutput,
    Output,
    Refusal,
    TranslateAnswer,
    TranslateRequest,
    bad_request,
)
from transduce.serve.messages import SentenceOutputs, TranslationOrder
from transduce.serve.service import Receive, Service
from transduce.text.documents.html import split_html
from transduce.text.languages import DOUBTFUL, SURE, find_other_language, to_detected_code
from transduce.text.markup import SplitMarkup
from transduce.text.sentences import SplitText, split_text
from transduce.view.translation.page import AUTO

CutText = SplitText | SplitMarkup
FEW = 2_000  # the most characters that are split in the event loop's own thread


async def translate_texts(
    service: Service, wanted: TranslateRequest, receive: Receive
) -> TranslateAnswer:
    """Translate the texts of a request; return the answer in LibreTranslate's shape.

    Texts that are in the target language already come back unchanged, without details.
    """
    cuts = await cut_texts(wanted, wanted.source)
    text = " ".join(one for cut in cuts for one in cut.sentences)
    model, detected = await find_model(service, wanted, text)
    if model is None:
        whole = [SplitText((), (one,)) for one in wanted.texts]
        return build_answer(wanted, whole, [[]] * len(whole), detected)
    if detected:
        cuts = await cut_texts(wanted, detected["language"])
        model = service.find(detected["language"], wanted.target)  # replaced meanwhile?
    assert model.facts
    n, prefix = model.facts.beam if wanted.alternatives else 1, wanted.prefix or None
    orders = list[TranslationOrder]()
    for cut in cuts:
        # tags inside of sentences are placed by word links, which are details
        needs_links = isinstance(cut, SplitMarkup) and cut.has_inline_markup
        is_detailed = wanted.detail or needs_links
        orders += [TranslationOrder(0, one, n, prefix, is_detailed) for one in cut.sentences]
    answers = await service.run(model, orders, receive)
    found = [one for one in answers if isinstance(one, SentenceOutputs)]
    ends = accumulate((len(cut.sentences) for cut in cuts), initial=0)
    by_text = [found[first:end] for first, end in pairwise(ends)]
    warnings = list[str]()
    if wanted.detail and detected:
        taken = detected["language"]
        if other := await asyncio.to_thread(find_other_language, text, taken):
            warnings.append(f"the text reads like {other}, and is taken as {taken}")
    return build_answer(wanted, cuts, by_text, detected, warnings)


async def translate_items(
    service: Service, items: Sequence[OpenNmtItem], receive: Receive
) -> list[list[OpenNmtOutput]]:
    """Translate items of one known id, refuse others; return the answer in OpenNMT's shape."""
    number, *others = {one.id for one in items}
    models = list(service.models.values())
    if others:
        raise bad_request("all sources of a request have one id")
    if number >= len(models):
        raise Refusal(HTTPStatus.NOT_FOUND, f"no model has the id {number}")
    orders = [TranslationOrder(0, one.src) for one in items]
    answer = list[OpenNmtOutput]()
    for item, found in zip(items, await service.run(models[number], orders, receive), strict=True):
        assert isinstance(found, SentenceOutputs)
        text, score, _ = found.outputs[0]
        output = OpenNmtOutput(src=item.src, tgt=text, n_best=1, pred_score=round(score, 4))
        if found.lost:
            output["lost"] = list(found.lost)
        answer.append(output)
    return [answer]


async def find_model(
    service: Service, wanted: TranslateRequest, text: str
) -> tuple[Dispatcher | None, Detection | None]:
    """Return a request's (model, detected source language), each None if there is none.

    The model is None for a text that is in the target language already, because the request says so
    or the detection is sure.
    """
    sources, target = service.list_sources(wanted.target), wanted.target
    if wanted.source != AUTO:
        is_same = wanted.source == target not in sources
        return None if is_same else service.find(wanted.source, target), None
    found, *_ = await service.detect(text, target)
    likeliest, *_ = await service.detect(text)
    is_same = likeliest["language"] == to_detected_code(target)
    if is_same and likeliest["confidence"] >= 100 * SURE and found["confidence"] <= 100 * DOUBTFUL:
        return None, likeliest
    return service.find(found["language"], target), found


async def cut_texts(wanted: TranslateRequest, language: str) -> list[CutText]:
    """Split each text of a request into sentences; if they are long, in another thread.

    In HTML, inline tags such as <b> do not end a sentence. A text with a prefix is not split.
    """
    if wanted.prefix:
        return [SplitText(tuple(wanted.texts), ("", ""))]
    split_markup = partial(split_html, inline=True, target=wanted.target.replace("_", "-"))
    split_format = split_markup if wanted.format == "html" else split_text
    split = partial(split_format, language="" if language == AUTO else language)
    if sum(map(len, wanted.texts)) <= FEW:
        return [split(text) for text in wanted.texts]
    return await asyncio.to_thread(lambda: [split(text) for text in wanted.texts])


def build_answer(
    wanted: TranslateRequest,
    cuts: Sequence[CutText],
    found: Sequence[Sequence[SentenceOutputs]],
    detected: Detection | None,
    warnings: Sequence[str] = (),
) -> TranslateAnswer:
    """Return an answer in LibreTranslate's shape, with lists as fields if `q` was a list.

    In the details, `warnings` are added to the warnings of each sentence.
    """
    pairs = list(zip(cuts, found, strict=True))
    answer: dict[str, Any] = {"translatedText": [join_rank(cut, some, 0) for cut, some in pairs]}
    if wanted.alternatives:
        answer["alternatives"] = [
            list_alternatives(cut, some, wanted.alternatives) for cut, some in pairs
        ]
    if any(one.lost for some in found for one in some):
        answer["lost"] = [[item for one in some for item in one.lost] for some in found]
    if detected:
        answer["detectedLanguage"] = [detected] * len(cuts)
    if wanted.detail:
        answer["sentences"] = [
            [
                describe_sentence(text, one, warnings)
                for text, one in zip(cut.sentences, some, strict=True)
            ]
            for cut, some in pairs
        ]
    if not isinstance(wanted.q, list):
        answer = {name: values[0] for name, values in answer.items()}
    return cast("TranslateAnswer", answer)


def join_rank(cut: CutText, found: Sequence[SentenceOutputs], rank: int) -> str:
    """Join the sentences' outputs of one rank (0: best) into the translation of a whole text.

    Tags inside sentences are placed by the word alignment of the best output. Only the best output
    has an alignment.
    """
    texts = [one.outputs[min(rank, len(one.outputs) - 1)][0] for one in found]
    if rank or not isinstance(cut, SplitMarkup):
        return cut.join(texts)
    return cut.join(texts, [rank_links(one) for one in found])


def rank_links(found: SentenceOutputs) -> list[tuple[int, int]]:
    """Return a sentence's word links as (i, j), highest weight first; [] without details."""
    if found.details is None:
        return []
    both = zip(found.details["weights"], found.details["alignment"], strict=True)
    # in the order of `Alignment.rank_links`
    return [(i, j) for _, (i, j) in sorted(both, key=lambda pair: -pair[0])]


def list_alternatives(cut: CutText, found: Sequence[SentenceOutputs], count: int) -> list[str]:
    """Return at most `count` different translations of a text, without the best one."""
    ranks = max((len(one.outputs) for one in found), default=1)
    texts = [join_rank(cut, found, rank) for rank in range(ranks)]
    return list(dict.fromkeys(texts))[1 : count + 1]


def describe_sentence(text: str, found: SentenceOutputs, also: Sequence[str]) -> interface.Sentence:
    """Return a sentence with its outputs, the best one's details, and its warnings and `also`."""
    assert found.details
    outputs = [
        Output(text=one, score=round(score, 4), log_prob=round(log_prob, 4))
        for one, score, log_prob in found.outputs
    ]
    warnings = [*found.warnings, *also]
    return {"source": text, "outputs": outputs, **found.details, "warnings": warnings}
