"""The colours of heads in the paper's figures: those of d3, lightened for hidden heads."""

import colorsys

CATEGORY10 = (
    "#1f77b4",
    "#ff7f0e",
    "#2ca02c",
    "#d62728",
    "#9467bd",
    "#8c564b",
    "#e377c2",
    "#7f7f7f",
    "#bcbd22",
    "#17becf",
)


def head_colour(head: int) -> str:
    """Return the colour of a head, counted from 1; after ten heads the colours repeat."""
    return CATEGORY10[(head - 1) % len(CATEGORY10)]


def lighten(colour: str) -> str:
    """Return a lighter, less saturated colour, which marks a head that the figure does not show.

    Its lightness l grows and its saturation falls, both by 0.6 (1 - l).
    """
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    change = 0.6 * (1 - light)
    channels = colorsys.hls_to_rgb(hue, light + change, max(saturation - change, 0.0))
    return "#" + "".join(f"{round(255 * one):02x}" for one in channels)
