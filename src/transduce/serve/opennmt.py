"""Reads requests and builds answers in the shape of OpenNMT's translation server."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

from transduce.serve.fields import check_texts
from transduce.serve.limits import Limits
from transduce.serve.messages import Found, Page
from transduce.serve.refusal import bad_request, too_large


@final
@dataclass(frozen=True)
class OpenNmtItem:
    """One source text of a request, and the number of the model that is to translate it."""

    source: str = field(repr=False)
    model: int


def check_opennmt(body: object, limits: Limits) -> list[OpenNmtItem]:
    """Return the items of OpenNMT's request body; refuse other shapes and several models."""
    if not isinstance(body, list) or not body:
        raise bad_request("the body must be a list of objects with src and id")
    if len(body) > limits.texts:
        raise too_large(f"{len(body)} sources, and a request may have {limits.texts}")
    items = [read_item(one, limits) for one in body]
    if len({one.model for one in items}) > 1:
        raise bad_request("all sources of a request have one id")
    return items


def read_item(value: object, limits: Limits) -> OpenNmtItem:
    """Return one checked item; its field `id` is the model's number, by default 0."""
    if not isinstance(value, dict) or not isinstance(value.get("src"), str):
        raise bad_request("each item must be an object with a string src")
    number = value.get("id", 0)
    if isinstance(number, bool) or not isinstance(number, int):
        raise bad_request("id must be a number")
    (text,) = check_texts([value["src"]], limits)
    return OpenNmtItem(text, number)


def build_opennmt_answer(
    items: Sequence[OpenNmtItem], found: Sequence[Found | Page]
) -> list[list[dict[str, Any]]]:
    """Return OpenNMT's answer: a list that holds one list, with an object for each source."""
    best = [one for one in found if isinstance(one, Found)]
    return [
        [
            {"src": item.source, "tgt": text, "n_best": 1, "pred_score": round(score, 4)}
            | ({"lost": list(one.lost)} if one.lost else {})
            for item, one in zip(items, best, strict=True)
            for text, score, _ in one.outputs[:1]
        ]
    ]
