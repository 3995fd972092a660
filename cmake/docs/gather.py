#!/usr/bin/env python3
"""Writes the pages of takt's site: the READMEs, with links for doxygen, and the pages that are generated from the tree.

    gather.py ROOT OUT [RATIOS]    OUT/pages/*.md for doxygen, OUT/floors.svg, and OUT/html/tree: the files that pages link to.
                                   RATIOS: ratios.json of bench/run.sh, if there is one

A link to a file that does not exist is an error; the exit status is then 1.
"""

import pathlib
import re
import shutil
import sys

import customisation_points
import figures
import floors

LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s#]*)(#[^)\s]*)?\)")
FENCE = re.compile(r"^ *```")
HEADING = re.compile(r"^(#+) +(.*?)\s*$")
REFERENCE = ("include/takt/", "capi/include/")  # doxygen makes a page of each header below


def page_id(path):
    """The name of a page, from the path of its source: include/takt/core/README.md is core_README."""
    return path.removeprefix("include/takt/").removesuffix(".md").replace("/", "_").replace(".", "")


def anchor(heading):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Site:
    def __init__(self, root, out):
        self.root, self.out, self.mistakes = root, out, []
        found = [p for pattern in ("*.md", "*/README.md", "include/takt/*/*.md", "src/*/*/README.md", ".github/*.md", "cmake/docs/*.md")
                 for p in sorted(root.glob(pattern))]
        self.sources = {p.relative_to(root).as_posix(): p.read_text(encoding="utf-8") for p in found}

    def rooms(self):
        return [path.split("/")[2] for path in self.sources if path.startswith("include/takt/") and path.endswith("/README.md")]

    def target(self, source, link, fragment):
        """A link of a page as doxygen wants it."""
        path = (self.root / source).parent / link if link else self.root / source
        if not path.exists():
            self.mistakes.append(f"{source}: the link {link} leads nowhere")
            return link
        relative = path.resolve().relative_to(self.root).as_posix()
        page = relative if relative in self.sources else f"{relative}/README.md"
        if page in self.sources:
            if not fragment:
                return f"@ref {page_id(page)}"
            headings = {anchor(m[2]) for m in map(HEADING.match, self.sources[page].splitlines()) if m}
            if fragment[1:] not in headings:
                self.mistakes.append(f"{source}: {page} has no heading {fragment}")
            return f"@ref {page_id(page)}_{fragment[1:]}"
        if relative.startswith(REFERENCE) and path.suffix in (".hpp", ".h"):
            return f"@ref {relative.split('include/')[1]}"
        copy = self.out / "html/tree" / relative
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            copy.mkdir(exist_ok=True)
            for file in filter(pathlib.Path.is_file, path.iterdir()):
                shutil.copy(file, copy)
        else:
            shutil.copy(path, copy)
        return f"tree/{relative}"

    def page(self, source):
        """The text of a README for doxygen: with names for its headings, and with the site's links."""
        lines, is_code, has_title = [], False, False
        for line in self.sources[source].splitlines():
            is_code ^= bool(FENCE.match(line))
            heading = HEADING.match(line) if not is_code else None
            if heading:
                name = page_id(source) if not has_title else f"{page_id(source)}_{anchor(heading[2])}"
                line, has_title = f"{heading[1]} {heading[2]} {{#{name}}}", True
            elif not is_code:
                line = LINK.sub(lambda m: m[0] if "://" in m[2] else f"{m[1]}{self.target(source, m[2], m[3])})", line)
            lines.append(line)
        return "\n".join(lines) + "\n"

    def write(self, name, text):
        (self.out / "pages").mkdir(parents=True, exist_ok=True)
        (self.out / "pages" / name).write_text(text, encoding="utf-8")


def main():
    root, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    shutil.rmtree(out / "pages", ignore_errors=True)
    site = Site(root, out)
    for source in site.sources:
        site.write(page_id(source) + ".md", site.page(source))
    rooms = "".join(f"- @subpage {page_id(f'include/takt/{room}/README.md')}\n" for room in site.rooms())
    site.write("rooms.md", floors.page(root, rooms))
    (out / "floors.svg").write_text(floors.drawing(root), encoding="utf-8")
    site.write("customisation_points.md", customisation_points.page(root))
    site.write("figures.md", figures.page(root / "bench", pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None))
    for mistake in site.mistakes:
        print(mistake, file=sys.stderr)
    return 1 if site.mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
