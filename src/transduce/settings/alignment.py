"""The layer and the heads of cross-attention that give a word alignment."""

from dataclasses import dataclass
from typing import final

from transduce.errors import short_repr
from transduce.settings.architecture import Architecture
from transduce.settings.fields import require


@final
@dataclass(frozen=True)
class AlignmentHeads:
    """The decoder layer, cross-attention heads and decoding step that give the word alignment.

    If `shifted` is true, a target piece gets its links from the step that has the piece as input,
    one after the step that outputs it (Chen et al. 2020).
    """

    layer: int  # number of the decoder layer, from 1
    heads: tuple[int, ...]  # numbers of the heads, from 1, ascending
    shifted: bool = True

    def __str__(self) -> str:
        name = "head" if len(self.heads) == 1 else "heads"
        step = "" if self.shifted else ", unshifted"
        return f"layer {self.layer}, {name} {','.join(map(str, self.heads))}{step}"

    def require_in(self, sizes: Architecture) -> None:
        """Raise InputError if a model of these sizes lacks the layer or one of the heads."""
        for name, number, most in (
            ("layer", self.layer, sizes.decoder_depth),
            ("head", self.heads[-1], sizes.heads),
        ):
            require(
                number <= most,
                f"there is no {name} {number} of the decoder's attention to the source",
                f"this model has {most:,}",
            )


def build_alignment_heads(layer: object, heads: object, shifted: object) -> AlignmentHeads:
    """Build `AlignmentHeads` from unchecked values such as JSON; sort heads, refuse bad values."""
    require(is_positive_integer(layer), f"a layer is a number from 1, not {short_repr(layer)}")
    numbers = heads if isinstance(heads, tuple | list) else ()
    are_heads = bool(numbers) and all(map(is_positive_integer, numbers))
    require(are_heads, f"heads are numbers from 1, such as (1, 4), not {short_repr(heads)}")
    require(isinstance(shifted, bool), f"shifted is True or False, not {shifted!r}")
    assert isinstance(layer, int)
    return AlignmentHeads(layer, tuple(sorted(set(numbers))), shifted=bool(shifted))


def is_positive_integer(value: object) -> bool:
    """Return whether a value is an int of at least 1; a bool or a float is not."""
    return type(value) is int and value > 0


def build_default_heads(sizes: Architecture) -> AlignmentHeads:
    """Return the default heads for word alignment: all heads of the middle decoder layer."""
    return AlignmentHeads((sizes.decoder_depth + 1) // 2, list_head_numbers(sizes))


def list_head_numbers(sizes: Architecture) -> tuple[int, ...]:
    """Return (1, …, h), all heads of an attention layer as counted from 1."""
    return tuple(range(1, sizes.heads + 1))
