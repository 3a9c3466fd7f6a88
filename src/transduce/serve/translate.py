"""Translates the texts of a request: splits them into sentences, searches, joins the outputs."""

import asyncio
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from transduce.serve.detection import Detection
from transduce.serve.dispatcher import Dispatcher
from transduce.serve.fields import TranslationFields
from transduce.serve.messages import Found, Sentence
from transduce.serve.service import Receive, Service
from transduce.text.documents.html import split_html
from transduce.text.documents.markup import SplitMarkup
from transduce.text.paragraphs import SplitText, split_text
from transduce.view.translation.page import AUTO

CutText = SplitText | SplitMarkup
FEW = 2_000  # the most characters that are split in the event loop's own thread


async def translate_texts(
    service: Service, wanted: TranslationFields, receive: Receive
) -> dict[str, Any]:
    """Translate the texts of a request; return the answer in LibreTranslate's shape."""
    cuts = await cut_texts(wanted)
    text = " ".join(one for cut in cuts for one in cut.sentences)
    model, detected = await find_model(service, wanted, text)
    n = count_outputs(wanted, model)
    orders = [
        Sentence(0, text, n, wanted.prefix, wanted.detail or has_markup_inside(cut))
        for cut in cuts
        for text in cut.sentences
    ]
    found = [one for one in await service.run(model, orders, receive) if isinstance(one, Found)]
    ends = accumulate((len(cut.sentences) for cut in cuts), initial=0)
    by_text = [found[first:end] for first, end in pairwise(ends)]
    return build_answer(wanted, cuts, by_text, detected)


async def find_model(
    service: Service, wanted: TranslationFields, text: str
) -> tuple[Dispatcher, Detection | None]:
    """Return the model for a request, and the detected source language, None if it was given."""
    if wanted.source != AUTO:
        return service.find(wanted.source, wanted.target), None
    found, *_ = await service.detector.rank_codes(text, service.list_sources(wanted.target))
    return service.find(found.language, wanted.target), found


async def cut_texts(wanted: TranslationFields) -> list[CutText]:
    """Split each text of a request into sentences, in another thread if they are long."""
    if wanted.prefix is not None:
        return [SplitText(wanted.texts, ("", ""))]
    split = split_html_inline if wanted.format == "html" else split_text
    if sum(map(len, wanted.texts)) <= FEW:
        return [split(text) for text in wanted.texts]
    return await asyncio.to_thread(lambda: [split(text) for text in wanted.texts])


def split_html_inline(text: str) -> CutText:
    """Split HTML into sentences; inline tags such as <b> do not end a sentence."""
    return split_html(text, inline=True)


def has_markup_inside(cut: CutText) -> bool:
    """Return whether a text's sentences contain tags, whose placement needs word alignments."""
    return isinstance(cut, SplitMarkup) and cut.has_inline_markup


def count_outputs(wanted: TranslationFields, model: Dispatcher) -> int:
    """Return how many outputs per sentence to search: the beam width for alternatives, else 1."""
    assert model.facts
    return model.facts.beam if wanted.alternatives else 1


def build_answer(
    wanted: TranslationFields,
    cuts: Sequence[CutText],
    found: Sequence[Sequence[Found]],
    detected: Detection | None,
) -> dict[str, Any]:
    """Return a request's answer in LibreTranslate's shape; fields are lists if the texts were."""
    pairs = list(zip(cuts, found, strict=True))
    answer: dict[str, Any] = {"translatedText": [join_rank(cut, some, 0) for cut, some in pairs]}
    if wanted.alternatives:
        answer["alternatives"] = [
            list_alternatives(cut, some, wanted.alternatives) for cut, some in pairs
        ]
    if any(one.lost for some in found for one in some):
        answer["lost"] = [[item for one in some for item in one.lost] for some in found]
    if detected:
        answer["detectedLanguage"] = [detected.as_json() for _ in cuts]
    if wanted.detail:
        answer["sentences"] = [
            [describe_sentence(text, one) for text, one in zip(cut.sentences, some, strict=True)]
            for cut, some in pairs
        ]
    return answer if wanted.is_list else {name: values[0] for name, values in answer.items()}


def join_rank(cut: CutText, found: Sequence[Found], rank: int) -> str:
    """Join the sentences' outputs of one rank (0: best) into the translation of a whole text.

    Tags inside sentences are placed by the word alignment of the best output. Only the best output
    has an alignment.
    """
    texts = [one.outputs[min(rank, len(one.outputs) - 1)][0] for one in found]
    if rank or not isinstance(cut, SplitMarkup):
        return cut.join(texts)
    return cut.join(texts, [rank_links(one) for one in found])


def rank_links(found: Found) -> list[tuple[int, int]]:
    """Return word links of a sentence and its best output as (i, j), highest weight first."""
    details = found.details or {"alignment": [], "weights": []}
    both = zip(details["weights"], details["alignment"], strict=True)
    return [(i, j) for _, (i, j) in sorted(both, reverse=True)]


def list_alternatives(cut: CutText, found: Sequence[Found], count: int) -> list[str]:
    """Return at most `count` different translations of a text, without the best one."""
    ranks = max((len(one.outputs) for one in found), default=1)
    texts = [join_rank(cut, found, rank) for rank in range(ranks)]
    return list(dict.fromkeys(texts))[1 : count + 1]


def describe_sentence(text: str, found: Found) -> dict[str, Any]:
    """Return a sentence, its outputs with scores, details and warnings, as JSON values."""
    outputs = [
        {"text": one, "score": round(score, 4), "log_prob": round(log_prob, 4)}
        for one, score, log_prob in found.outputs
    ]
    extra = found.details or {}
    return {"source": text, "outputs": outputs, **extra, "warnings": list(found.warnings)}
