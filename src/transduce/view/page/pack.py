"""Packs a page's script and JSON into one compressed block, which a short script unpacks."""

import json
import zlib
from collections.abc import Sequence

from transduce.view.page.data import DataBlock, base64_block

UNPACK = "page/unpack.js"
JSON = "application/json"


def pack_blocks(data: Sequence[DataBlock], script: str) -> list[DataBlock]:
    """Return a page's data blocks with the JSON ones and the script packed into one, the last.

    The packed block is a JSON list, compressed by zlib: type, id and text of each script element
    that `unpack.js` adds to the page, the script last.
    """
    values = [one for one in data if one.media_type == JSON]
    elements = [[one.media_type, one.identifier, one.text] for one in values]
    text = json.dumps([*elements, ["", "", script]], ensure_ascii=False, separators=(",", ":"))
    packed = base64_block("packed", zlib.compress(text.encode("utf-8"), 9))
    return [*(one for one in data if one.media_type != JSON), packed]
