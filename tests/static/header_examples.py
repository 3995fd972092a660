#!/usr/bin/env python3
"""Compiles the code examples in the comments of headers, for their syntax.

    header_examples.py ROOT [HEADER...] -- COMPILER OPTIONS...

HEADERs are paths below ROOT; without them it takes all headers in ROOT/include/takt. An error names the header and the line in it.
Without any example the check fails.

An example is a run of comment lines that are indented behind their `//` or `///`, the least indented by five spaces. Blank comment
lines may separate its parts. Tables and formulas have another indent, usually three. A line that is only `...` is dropped.

The headers of one folder of ROOT/include/takt are compiled together. Each example is the body of a function in a namespace of its
own. The names of takt, of the header's namespace and of std::chrono_literals are known there. header_examples.preludes, beside this
script, adds the declarations that an example takes from its surroundings:

    == include/takt/app/bus.hpp 1      for the first example of the header; with `1+2` for the first two, joined into one
    #include "takt/can/frame.hpp"      goes to the head of the file
    can::Frame frame;                  goes before the example

A line `<example>` in a prelude takes the place of the function and its body, to put the example into a class, for example. Before
it, a line `<until TEXT>` takes only the next lines of the example, up to the first that begins with TEXT. Lines before the first
`==` are a comment.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

PRELUDES = pathlib.Path(__file__).resolve().with_suffix(".preludes")
STANDARD = ("array", "chrono", "cstddef", "cstdint", "functional", "optional", "span", "string", "string_view", "system_error", "thread",
            "tuple", "utility", "variant", "vector")

CODE_INDENT, LEAST_INDENT = 5, 3
COMMENT = re.compile(r"\s*///?(?P<indent> *)(?P<text>.*)")
NAMESPACE = re.compile(r"^namespace (takt(?:::(?!detail)\w+)*)", re.MULTILINE)
ENTRY = re.compile(r"== (?P<header>\S+) (?P<numbers>\d+(?:\+\d+)*)")
PLACE = re.compile(r"<(?:example|until (?P<end>.+))>")

Line = collections.namedtuple("Line", "file number text")
Example = collections.namedtuple("Example", "header namespaces prelude lines")


# ---- reading ----

def paragraphs_in(header, text):
    """The runs of indented comment lines: the indent of the least indented, and the lines. Other text between them is None."""
    indents, lines = [], []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        comment = COMMENT.fullmatch(line)
        if comment and comment["text"] and len(comment["indent"]) >= LEAST_INDENT:
            indents.append(len(comment["indent"]))
            lines.append(Line(header, number, comment["indent"][CODE_INDENT:] + comment["text"]))
            continue
        if lines:
            yield min(indents), lines
        indents, lines = [], []
        if not comment or comment["text"]:
            yield None, []


def examples_in(header, text):
    """The lines of each example of a header."""
    examples, is_open = [], False  # is_open: no text has followed the last example
    for indent, lines in paragraphs_in(header, text):
        begins = indent == CODE_INDENT and not is_open
        is_open = begins or (is_open and indent is not None and indent >= CODE_INDENT)
        if begins:
            examples.append([])
        if is_open:
            examples[-1] += [line for line in lines if line.text.strip() != "..."]
    return examples


def read_preludes():
    """The lines of each prelude, by header and numbers of its examples."""
    preludes, lines = {}, None
    for number, text in enumerate(PRELUDES.read_text(encoding="utf-8").split("\n"), start=1):
        if entry := ENTRY.fullmatch(text):
            key = entry["header"], tuple(map(int, entry["numbers"].split("+")))
            if key in preludes:
                sys.exit(f"{PRELUDES}:{number}: a second prelude of this example")
            lines = preludes[key] = []
        elif text.startswith("=="):
            sys.exit(f"{PRELUDES}:{number}: '== HEADER NUMBER' is expected")
        elif lines is not None:
            lines.append(Line(PRELUDES.as_posix(), number, text))
    return preludes


def complete_examples(root, header, preludes):
    """The examples of a header with their preludes. Takes these out of `preludes`."""
    text = (root / header).read_text(encoding="utf-8")
    parts = NAMESPACE.search(text)[1].split("::") if NAMESPACE.search(text) else ["takt"]
    namespaces = ["::".join(parts[:n]) for n in range(1, len(parts) + 1)]
    lines = {(number,): example for number, example in enumerate(examples_in(header, text), start=1)}
    for numbers in [numbers for file, numbers in preludes if file == header and all((n,) in lines for n in numbers)]:
        lines[numbers] = [line for n in numbers for line in lines.pop((n,))]
    return [Example(header, namespaces, preludes.pop((header, numbers), []), example) for numbers, example in sorted(lines.items())]


# ---- writing ----

def numbered(lines):
    """The text of lines, with directives that tell the compiler where they come from."""
    parts, last = [], None
    for line in lines:
        if not last or (line.file, line.number) != (last.file, last.number + 1):
            parts.append(f'#line {line.number} "{line.file}"')
        parts.append(line.text)
        last = line
    return "".join(part + "\n" for part in parts)


def with_place(prelude, example):
    """A prelude that says where its example stands: by default in a function, at whose ends errors name the example's ends."""
    if any(line.text == "<example>" for line in prelude):
        return prelude
    first, last = example[0], example[-1]
    return [*prelude, first._replace(text="void example() {"), first._replace(text="<example>"), last._replace(text="}")]


def with_example(prelude, example):
    """The lines of a prelude, with those of the example at their places."""
    rest = list(example)
    for line in prelude:
        place = PLACE.fullmatch(line.text)
        if not place:
            yield line
            continue
        count = len(rest)
        if place["end"]:
            count = next((i for i, l in enumerate(rest, start=1) if l.text.startswith(place["end"])), None)
        if count is None:
            sys.exit(f"{line.file}:{line.number}: no line of the example begins with '{place['end']}'")
        yield from rest[:count]
        del rest[:count]


def is_include(line):
    return line.text.startswith("#include")


def unit_of(root, examples):
    """The file to compile with these examples."""
    parts = [f"#include <{name}>\n" for name in STANDARD]
    parts += [f'#include "{(root / header).as_posix()}"\n' for header in dict.fromkeys(e.header for e in examples)]
    parts += [numbered([line]) for example in examples for line in example.prelude if is_include(line)]
    for i, example in enumerate(examples):
        prelude = with_place([line for line in example.prelude if not is_include(line)], example.lines)
        parts.append(f"namespace example_{i} {{\nusing namespace std::chrono_literals;\n")
        parts += [f"using namespace {name};\n" for name in example.namespaces]
        parts += [numbered(with_example(prelude, example.lines)), "}\n"]
    return "".join(parts)


# ---- checking ----

def mistakes_in(unit, compiler):
    """What the compiler says about a file; nothing if it is right."""
    command = [*compiler, "-Wno-unused", "-Wno-missing-field-initializers", "-fsyntax-only", "-x", "c++", "-"]
    result = subprocess.run(command, input=unit, text=True, stderr=subprocess.PIPE, check=False)
    return result.stderr if result.returncode != 0 else ""


def main():
    split = sys.argv.index("--")
    root, headers, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:split], sys.argv[split + 1:]
    preludes, folders, count = read_preludes(), collections.defaultdict(list), 0
    for header in headers or sorted(path.relative_to(root).as_posix() for path in root.glob("include/takt/**/*.hpp")):
        examples = complete_examples(root, header, preludes)
        folders["/".join(header.split("/")[:3])] += examples
        count += len(examples)
    if preludes and not headers:
        sys.exit(f"{PRELUDES}: there is no example " + ", ".join(f"{file} {'+'.join(map(str, n))}" for file, n in preludes))

    units = [unit_of(root, examples) for examples in folders.values() if examples]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        mistakes = list(filter(None, pool.map(lambda unit: mistakes_in(unit, compiler), units)))
    print("".join(mistakes), end="")
    print(f"{count} examples in {len(units)} files, {len(mistakes)} files with mistakes")
    return 1 if mistakes or not count else 0


if __name__ == "__main__":
    sys.exit(main())
