"""The page of all customisation points: the concepts and the interfaces of the public headers."""

import re

CONCEPT = re.compile(r"^concept (\w+) =", re.MULTILINE)
CLASS = re.compile(r"^(?:class|struct) (\w+)(?: final)?(?: : [^{;]*)? \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
NAMESPACE = re.compile(r"^(?:namespace ([\w:]+) \{$|\}  // namespace)", re.MULTILINE)
FORWARD = re.compile(r"^namespace [\w:]+ \{\n(?:(?:class|struct) \w+;\n)+\}", re.MULTILINE)
PURE = re.compile(r"^  (?:\[\[nodiscard\]\] )?virtual [^;{]*= 0;", re.MULTILINE)


def comment_before(text, position):
    """The `///` comment above a declaration, without its marks."""
    lines = text[:position].splitlines()
    while lines and not lines[-1].startswith("///"):
        if not lines[-1].startswith(("template", "//")):
            return ""
        lines.pop()
    comment = []
    while lines and lines[-1].startswith("///"):
        comment.insert(0, lines.pop()[3:].strip())
    return " ".join(comment)


def first_sentence(comment):
    """Up to the first full stop, colon or list. A table of Markdown takes it."""
    sentence = re.split(r"(?<=[a-z)`])\. |(?<=\w)\.$|: | \* ", comment)[0]
    return sentence.replace("|", "\\|").replace("<", "\\<").rstrip(".:") + "."


def namespace_at(text, position):
    inner = []
    for found in NAMESPACE.finditer(FORWARD.sub("", text[:position])):
        if found[1]:
            inner.append(found[1])
        else:
            inner.pop()
    return "::".join(inner)


def found_in(root, pattern, accepts=lambda found: True):
    """(name, header, first sentence, is internal) of all declarations that match."""
    for header in sorted((root / "include/takt").rglob("*.hpp")):
        text = header.read_text(encoding="utf-8")
        for found in filter(accepts, pattern.finditer(text)):
            namespace = namespace_at(text, found.start())
            name = f"{namespace}::{found[1]}"
            comment = comment_before(text, found.start())
            is_internal = "detail" in namespace.split("::")
            if not comment and not is_internal:
                raise SystemExit(f"{header}: {name} has no comment")
            yield name, header.relative_to(root / "include").as_posix(), first_sentence(comment) if comment else "", is_internal


def table(rows):
    lines = [f"| {name.removeprefix('takt::')} | [{header.removeprefix('takt/')}](@ref {header}) | {sentence} |"
             for name, header, sentence, _ in rows]
    return "\n".join(["| name | header | what it stands for |", "| --- | --- | --- |", *lines])


def page(root):
    concepts = list(found_in(root, CONCEPT))
    interfaces = [row for row in found_in(root, CLASS, lambda found: PURE.search(found[2])) if not row[3]]
    internal = ", ".join(f"`{row[0]}`" for row in concepts if row[3])
    return f"""# Customisation points {{#customisation_points}}

takt takes your clock, bus, drive or transport in place of its own. {len(concepts)} concepts and {len(interfaces)} interfaces say what such a
type must have. This page is generated from the headers. Names are in the namespace `takt`.

## Concepts {{#customisation_concepts}}

A type that has the functions satisfies the concept. It needs no base class. Floors 1 and 2 use only concepts.

{table(row for row in concepts if not row[3])}

Internal, for the compiler's messages: {internal}.

## Interfaces {{#customisation_interfaces}}

Where a program chooses an object at run time, derive from the interface.

{table(interfaces)}

## Specialisations {{#customisation_specialisations}}

* `TAKT_FIELDS` lists the fields of a type of yours, for shared memory and recordings: [core/fields.hpp](@ref takt/core/fields.hpp).
* `takt::NumberOf<T>` makes a class of one number such a field: [core/fields.hpp](@ref takt/core/fields.hpp).
* `takt::shm::ExchangeTraits<T>` lets a class of yours be found by name: [shm/exchange.hpp](@ref takt/shm/exchange.hpp).
* `TAKT_DRIVE_PROTOCOL` registers a drive protocol: @ref drives_README "Drives".
"""
