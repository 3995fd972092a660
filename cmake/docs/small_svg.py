#!/usr/bin/env python3
"""Makes pictures of gnuplot small, in place, and keeps their look: a sixth of the lines.

    small_svg.py PICTURE...

The svg terminal writes 15 lines for a tic with its grid line, and all points of a curve. This drops what draws
nothing, and the points that are closer than TOLERANCE to the line without them.
"""

import math
import pathlib
import re
import sys
import textwrap

TOLERANCE = 0.1  # pixels
CANVAS = '<g id="gnuplot_canvas">'


def distance(point, start, end):
    """From the point to the line between the other two."""
    across, down = end[0] - start[0], end[1] - start[1]
    square = across ** 2 + down ** 2
    along = ((point[0] - start[0]) * across + (point[1] - start[1]) * down) / square if square else 0
    along = min(1, max(0, along))
    return math.hypot(point[0] - start[0] - along * across, point[1] - start[1] - along * down)


def thinned(points):
    kept, since = points[:1], []
    for point in points[1:]:
        if any(distance(skipped, kept[-1], point) > TOLERANCE for skipped in since):
            kept.append(since[-1])
            since = []
        since.append(point)
    return kept + since[-1:]


def curve(found):
    """A path of lines, or a polygon, with the points that it needs."""
    words = []
    for line in found[2].split("M"):
        points = thinned([(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", line)])
        if len(points) > 1:  # a single point draws nothing
            move, to = "ML" if "M" in found[2] else ("", "")
            words += [f"{to if i else move}{round(x, 1):g},{round(y, 1):g}" for i, (x, y) in enumerate(points)]
    return f" {found[1]}" + textwrap.fill(" ".join(words), 110, subsequent_indent="\t\t") + "'"


def small(text):
    if CANVAS not in text:
        return text  # it is small
    if not re.search("<use [^>]*color=", text):
        text = re.sub("<defs>.*</defs>\n", "", text, flags=re.DOTALL)  # symbols of points
    # Values that are the default, and colours of groups: each path has its own.
    text = re.sub(' color="black" stroke="currentColor"| stroke-(linecap="butt"|linejoin="miter"|width="1.00")| stroke="none"', "", text)
    font = re.search(' font-family="[^"]*" font-size="[^"]*" ', text)[0]
    text = text.replace(font, "").replace('<g fill="none"', "<g").replace(CANVAS, f'{CANVAS[:-1]} fill="none"{font}>')
    text = re.sub(r"rgb\( *(\d+), *(\d+), *(\d+)\)", lambda rgb: "#%02x%02x%02x" % tuple(map(int, rgb.groups())), text)
    # Empty groups and labels, and titles, which a browser would show.
    text = re.sub(r"<g[^>]*>\n</g>\n|\t*<g[^>]*>\n\t*<text></text>\n\t*</g>\n", "", text)
    text = re.sub(r'( id="gnuplot_plot_\w+" )?(>?)<title>.*</title>\n', r"\2", text)
    # A curve or a label on one line, and a tic with its grid line.
    text = re.sub(r"\n*\t*(<text|<path s|</g>)", r"\1", text)
    text = re.sub(r"(<g( stroke-width=\"[^\"]*\")?>|</g>)\n\t*(?=<g transform)", r"\1", text)
    text = re.sub(r' class="gridline" (.*)\n', r"\1", text)
    return re.sub(r"\s+(d='|points = ')([-\d.,\sLM]+)'", curve, text).replace("\n\n", "\n")


for name in sys.argv[1:]:
    picture = pathlib.Path(name)
    picture.write_text(small(picture.read_text(encoding="utf-8")), encoding="utf-8")
