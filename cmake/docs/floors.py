"""The page of the floors, with their drawing. The table of tests/layering/check_layers.py says which room is on which floor."""

import importlib.util
from xml.sax.saxutils import escape

FLOOR, GAP, LEFT, ROOM = 64, 10, 90, 108


def layers(root):
    spec = importlib.util.spec_from_file_location("check_layers", root / "tests/layering/check_layers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def box(x, y, width, room, exists):
    style, color = ('fill="#e8f0f8" stroke="#4a6a8a"', "black") if exists else ('fill="none" stroke="#999" stroke-dasharray="5 4"', "#777")
    return (f'<rect x="{x}" y="{y}" width="{width}" height="{FLOOR - 2 * GAP}" rx="5" {style}/>'
            f'<text x="{x + width / 2}" y="{y + FLOOR / 2 - GAP + 5}" text-anchor="middle" fill="{color}">{escape(room)}</text>')


def drawing(root):
    """The floors as SVG, the highest one on top. Rooms without a folder are dashed."""
    table = layers(root)
    by_floor = {}
    for room, floor in table.FLOORS.items():
        by_floor.setdefault(floor, []).append(room)
    top = max(by_floor)
    height = (top + 1) * FLOOR + 10
    right = LEFT + max(map(len, by_floor.values())) * (ROOM + GAP)
    width = right + ROOM + 2 * GAP
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="14">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for floor, names in by_floor.items():
        y = (top - floor + 1) * FLOOR
        parts.append(f'<text x="8" y="{y + FLOOR / 2 + 5}">floor {floor}</text>')
        parts.append(f'<line x1="8" x2="{right}" y1="{y + FLOOR}" y2="{y + FLOOR}" stroke="#bbb"/>')
        parts += [box(LEFT + i * (ROOM + GAP), y + GAP, ROOM, room, (root / "include/takt" / room).is_dir()) for i, room in enumerate(names)]
    parts.append(box(LEFT, GAP, right - LEFT - GAP, "C API, programs, examples", True))
    side_top = (top - table.PLATFORM_MAY_USE) * FLOOR + GAP
    parts.append(f'<text x="{right + ROOM / 2 + GAP}" y="{side_top - GAP}" text-anchor="middle">side</text>')
    parts.append(box(right + GAP, side_top, ROOM, table.PLATFORM, True))
    return "\n".join([*parts, "</svg>", ""])


def page(root, subpages):
    sideways = "; ".join(f"`{room}` uses {', '.join(f'`{used}`' for used in sorted(uses))}" for room, uses in layers(root).SIDEWAYS.items())
    return f"""# The floors and the rooms {{#rooms}}

A room is a folder of `include/takt/`. It includes rooms on lower floors only, and a test checks that. Floors 1 and 2 are pure: no
operating system, no exceptions, no heap in a loop.

![The floors of takt](floors.svg)

Some steps sideways are allowed: {sideways}. `platform` implements concepts of floor 1 on Linux, and only the assembly includes it.
Dashed rooms are planned.

{subpages}"""
