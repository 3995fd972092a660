#!/usr/bin/env python3
"""Doxygen's input filter: turns the comments of a header, which are plain text, into doxygen's form.

    plain_comments.py HEADER      prints the header

The comment at the head of a file becomes the file's page. In C headers, comments before a declaration and behind a field become
its documentation. The filter escapes the characters that doxygen takes for a command or a tag. Line numbers do not change.
"""

import pathlib
import re
import sys

# Text between backticks is code. In other text, doxygen interprets these characters.
SPECIAL = re.compile(r"`[^`]*`|[\\@<>#%]|&(?=\w+;)|\.(?=\.)|(?<=\.)\.")
# A paragraph with such a line is a table or a piece of code, which must keep its line breaks.
COLUMNS = re.compile(r"^[\[{}\]|]|\S {3,}\S|^ {3,}\S")
C_COMMENT = re.compile(r"^([^\n]*?)/\*(.*?)\*/", re.DOTALL | re.MULTILINE)


def escaped(text):
    return SPECIAL.sub(lambda found: found[0] if found[0][0] == "`" else "&amp;" if found[0] == "&" else "\\" + found[0], text)


def formatted(lines):
    """Yields lines of plain text for doxygen: paragraphs in columns verbatim, the others escaped."""
    paragraphs = []
    for line in lines:
        if not paragraphs or not line.strip() or not paragraphs[-1][-1].strip():
            paragraphs.append([])
        paragraphs[-1].append(line)
    for paragraph in paragraphs:
        if paragraph[0].startswith("  ") or any(map(COLUMNS.search, paragraph)):
            paragraph[0] = "@verbatim " + paragraph[0]
            paragraph[-1] += " @endverbatim"
            yield from paragraph
        else:
            yield from map(escaped, paragraph)


def file_comment(lines):
    """A comment of the file, from the lines of its head without their comment marks."""
    return "/**" + "\n".join(formatted(lines)) + " @file */"


def cpp(text):
    """Changes the form of the comment at the head. The `///` comments are Markdown already. They are escaped, and tables and formulas
    are indented further, as Markdown wants it."""
    lines = text.split("\n")
    head = next(i for i, line in enumerate([*lines, ""]) if not line.startswith("//"))
    result = [file_comment([line[2:].removeprefix(" ") for line in lines[:head]])] if head else []
    before = ""  # the comment of the line before
    for line in lines[head:]:
        code, marks, comment = re.fullmatch(r"(.*?)(///<?|$)(.*)", line).groups()
        if marks == "///" and re.match(r" {3}\S", comment) and (not before.strip() or before.startswith("     ")):
            comment = "  " + comment
        before = comment
        result.append(code + marks + escaped(comment))
    return "\n".join(result)


def c(text):
    def documented(found):
        before, comment = found.groups()
        if comment.startswith(" ----"):  # the title of a section, not of a declaration
            return found[0]
        if found.start() == 0:
            return file_comment([re.sub(r"^ (\* ?)?", "", line) for line in comment.split("\n")])
        return before + ("/**<" if before.strip() else "/**") + escaped(comment) + "*/"
    return C_COMMENT.sub(documented, text)


def main():
    path = pathlib.Path(sys.argv[1])
    text = path.read_text(encoding="utf-8")
    sys.stdout.write(c(text) if path.suffix == ".h" else cpp(text))


if __name__ == "__main__":
    main()
