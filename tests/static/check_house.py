#!/usr/bin/env python3
"""Measures what can be measured of how the house reads. Each offence is FILE:LINE: reason.

    check_house.py [ROOT]             fails on offences beyond the baseline, and on a baseline that counts more than there are
    check_house.py --all [ROOT]       prints every offence
    check_house.py --update [ROOT]    writes the baseline anew, and refuses to raise a count
    check_house.py --update --force   raises counts too, and needs no readable baseline: for a merge with conflicts in it
    check_house.py --self-test        plants offences of each rule in a scratch tree and checks that each is caught

The baseline, house_baseline.json, counts the known offences by rule and file. The rules look at the files that git tracks;
where there is no git, at all files.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from house_headers import Header
from house_text import LANGUAGE, Text, paragraphs, sentences

BASELINE = "tests/static/house_baseline.json"
MOST_WORDS = 25
MOST_COLUMNS = {"c": 110, "md": 140}
MOST_LINES = 600
TYPES_OF_MANY_ROOMS = {"Errc"}  # every room has its own

# A question may begin with them.
OPENING = re.compile(r"\W*(what (?:is|are|an?)|whoever|whatever|nobody|of which|by which|but for|nothing\b.*\bbut)\b(?!.*\?$)", re.I)
RIDDLE = re.compile(
    r"\b(numbers? that (?:is|are) none|(?:that|which) (?:is|are) none|that cannot be(?=[.,;:)]|$)|but for what|nor than|good news"
    r"|nor\b.*\bthan may be|of whom|as is said|is known of|so that it be|that which|whoever)\b", re.I)

Offence = collections.namedtuple("Offence", "rule file line reason")


def check_sentences(file):
    prose = [paragraph for block in file.blocks() for paragraph in paragraphs(block)]
    for paragraph in [*prose, *file.texts()]:
        for sentence in sentences(paragraph):
            where = file.path, sentence.line
            if sentence.words > MOST_WORDS:
                yield Offence("sentence", *where, f"{sentence.words} words, more than {MOST_WORDS}: {sentence.source[:60]} ...")
            if found := OPENING.match(sentence.text) or RIDDLE.search(sentence.text):
                yield Offence("opening", *where, f"'{found[1][:40]}' is an opening or a riddle that the rules of writing ban")


def check_columns(file):
    if file.language == "md":
        numbers = {line.number for block in file.blocks() for paragraph in paragraphs(block) for line in paragraph}
    else:
        numbers = {number for comment in file.comments for number in range(comment.first, comment.last + 1)}
    most = MOST_COLUMNS[file.language]
    lines = file.text.split("\n")
    for number in sorted(numbers):
        line = lines[number - 1]
        if len(line) > most >= max(map(len, line.split())):  # a single long word cannot be wrapped
            yield Offence("columns", file.path, number, f"the comment ends in column {len(line)}, beyond {most}")


def check_length(file):
    lines = file.text.count("\n")
    if lines > MOST_LINES:
        yield Offence("length", file.path, lines, f"{lines} lines, more than {MOST_LINES}")


def check_headers(files):
    homes = collections.defaultdict(list)  # of each type: room, file and line
    for file in files:
        header = Header(file)
        for name, line in header.undocumented:
            yield Offence("undocumented", file.path, line, f"{name} has no comment directly above it or behind it")
        if file.path.startswith("capi/"):
            for line in header.anonymous_enums:
                yield Offence("anonymous", file.path, line, "an anonymous enum: no declaration can name it")
            continue
        for name, line in header.types:
            homes[name].append((file.path.split("/")[2], file.path, line))
    for name, places in homes.items():
        for room, path, line in places:
            other = next((p for p in places if p[0] != room), None)
            if other and name not in TYPES_OF_MANY_ROOMS:
                yield Offence("type", path, line, f"{name} is a type of room {other[0]} too ({other[1]}:{other[2]})")


def paths_of(root):
    if (root / ".git").exists():
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=False)
        if listed.returncode == 0:
            return sorted(path for path in listed.stdout.split("\0") if (root / path).is_file())
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith((".", "build", "__pycache__"))]
        found += [(pathlib.Path(folder) / name).relative_to(root).as_posix() for name in names]
    return sorted(found)


def is_read(path):
    """Of the texts, only CMake's are code."""
    return not path.endswith(".txt") or path.endswith("CMakeLists.txt")


def offences_in(root):
    paths = [path for path in paths_of(root) if pathlib.PurePath(path).suffix in LANGUAGE and is_read(path)]
    files = [Text(path, (root / path).read_text(encoding="utf-8", errors="replace")) for path in paths]
    found = []
    for file in files:
        found += check_sentences(file)
        if file.language in MOST_COLUMNS:
            found += check_columns(file)
        if file.language in ("c", "py"):
            found += check_length(file)
    found += check_headers([f for f in files if f.path.startswith(("include/takt/", "capi/include/")) and f.language == "c"])
    return sorted(found)


def counts_of(offences):
    counts = collections.defaultdict(dict)
    for (rule, file), count in sorted(collections.Counter((o.rule, o.file) for o in offences).items()):
        counts[rule][file] = count
    return dict(counts)


def differences(offences, baseline):
    """Two lists of (rule, file, known, found): counts above the baseline, and counts below it."""
    counts = counts_of(offences)
    both = sorted({(rule, file) for known in (counts, baseline) for rule, files in known.items() for file in files})
    changes = [(rule, file, baseline.get(rule, {}).get(file, 0), counts.get(rule, {}).get(file, 0)) for rule, file in both]
    return [c for c in changes if c[3] > c[2]], [c for c in changes if c[3] < c[2]]


def text_of(offence):
    return f"{offence.file}:{offence.line}: {offence.reason}"


def complaints(offences, baseline):
    more, less = differences(offences, baseline)
    for rule, file, known, found in more:
        yield from (text_of(o) for o in offences if (o.rule, o.file) == (rule, file))
        yield f"{file}:1: rule '{rule}': {found} offences, {known} in the baseline: mend the new ones"
    for rule, file, known, found in less:
        yield f"{file}:1: rule '{rule}': {found} offences, {known} in the baseline: run check_house.py --update"


def updated(offences, baseline):
    """The text of the new baseline, and the complaints about counts that it would raise."""
    raised = [f"{file}:1: rule '{rule}': {known} would become {found}: mend them, or use --force"
              for rule, file, known, found in differences(offences, baseline)[0]]
    return json.dumps(counts_of(offences), indent=1) + "\n", raised


# A sentence of 26 words, and one of 25, each on two lines; {0} begins the second line.
LONG, FITTING = (
    "One two three four five six seven eight nine ten eleven twelve\n{0}thirteen fourteen fifteen sixteen seventeen eighteen nineteen "
    "twenty one two three four five" + end + ".\n" for end in (" six", ""))
SOURCE, CAN, SHM, C_API = "src/can/planted.cpp", "include/takt/can/planted.hpp", "include/takt/shm/planted.hpp", "capi/include/planted.h"


def room(text):
    return "namespace takt::planted {\n" + text + "\n}\n"


PLANTED = [  # rule and line of the expected offence, its file and text, other files and texts
    ("sentence", 1, SOURCE, "// " + LONG.format("// ")),
    ("sentence", 2, SOURCE, "// Short.\n// " + LONG.format("// ")),
    ("sentence", 1, "src/can/planted.c", "/* " + LONG.format(" * ") + " */\n"),
    ("sentence", 1, SOURCE, "int x;  ///< " + LONG.format("        ///< ")),
    ("sentence", 2, "cmake/planted.sh", "#!/bin/sh\n# " + LONG.format("# ")),
    ("sentence", 1, "bench/planted.py", "# " + LONG.format("# ")),
    ("sentence", 2, "bench/planted.py", 'def f():\n    """' + LONG.format("    ") + '    """\n'),
    ("sentence", 3, "README.md", "# Title\n\n" + LONG.format("")),
    ("sentence", 2, "README.md", "- Short.\n- " + LONG.format("  ")),
    ("opening", 1, SOURCE, "// What is sent goes out.\n"),
    ("opening", 1, SOURCE, "int x;  // for whoever asks\n"),
    ("opening", 2, "README.md", "One.\nIt counts a number that is none.\n"),
    ("opening", 1, SOURCE, "// It drops stamps that cannot be.\n"),
    ("sentence", 1, SOURCE, 'auto text = "' + LONG.strip().replace("\n{0}", ' "\n            "') + '";\n'),
    ("opening", 1, SOURCE, 'fail("no {:<8} here: that is no answer. What is sent goes out");\n'),
    ("sentence", 2, "cmake/planted.cmake", "\n# " + LONG.format("# ")),
    ("sentence", 2, "CMakeLists.txt", '\nmessage(FATAL_ERROR "' + LONG.replace("\n{0}", " ").strip() + '")\n'),
    ("columns", 1, SOURCE, "//" + " wide." * 19 + "\n"),
    ("columns", 2, SOURCE, "/*\n" + " Wide." * 19 + " */\n"),
    ("columns", 1, "README.md", "Wide. " * 24 + "\n"),
    ("length", 601, SOURCE, "int x;\n" * 601),
    ("length", 601, "tests/can/planted.py", "x = 1\n" * 601),
    ("anonymous", 1, C_API, "enum { PLANTED = 1 };\n"),
    ("undocumented", 2, CAN, room("struct Bare {};")),
    ("undocumented", 2, CAN, room("template <class T>\nconcept Bare = requires(T t) { t.f(); };")),
    ("undocumented", 2, CAN, room("[[nodiscard]] constexpr int bare(int x = {}) noexcept { return x; }")),
    ("undocumented", 5, CAN, room("/// A.\nclass A {\n public:\n  int bare() const;\n};")),
    ("undocumented", 5, CAN, room("/// One.\nint one();\n\nint bare();")),
    ("undocumented", 1, C_API, "TAKT_API int32_t takt_bare(void);\n"),
]
OBEDIENT = [
    (SOURCE, "// " + FITTING.format("// ")),
    (SOURCE, "// " + FITTING.format("// ").replace("twenty", "`one word`")),
    (SOURCE, "// " + FITTING.format("// ").replace("twenty", "a = b + c")),
    (SOURCE, "// For example:\n//     " + LONG.replace("\n{0}", "\n//     ") + "// @code\n// " + LONG.format("// ") + "// @endcode\n"),
    (SOURCE, "// first   " + FITTING.format("//         ") + "// second  " + FITTING.format("//         ")),
    (SOURCE, "int x;  // no full stop\n" + "// " + FITTING.format("// ")),
    (SOURCE, 'const char* s = "// What is" R"(/* whoever */)";\nint million = 1\'000\'000;  // a number\n'),
    (SOURCE, 'plot("set x 1; plot $data " + "' + LONG.replace("\n{0}", " ").strip() + '={}");\n'),
    ("tests/can/obedient.cpp", 'TEST_CASE("whatever comes is refused by its name") {}\n'),
    ("data/obedient.txt", "What is " + LONG.format("")),
    ("README.md", "```\nWhat is " + LONG.format("") + "```\n| " + LONG.replace("\n{0}", " ") + "\nWhat is it?\n"),
    ("README.md", "A [link](https://example.org/" + "x" * 150 + ")\n"),
    ("bench/obedient.py", 'x = """What is this.\nWhoever."""\nprint("# Whoever", x)\n'),
    ("cmake/obedient.sh", "echo \"# Whoever\" '# Nobody' $#\n"),
    ("build/obedient.hpp", "// What is built is no source.\n"),
    (SOURCE, "int x;\n" * 600),
    (CAN, room("/// A.\nenum class Errc {};"), SHM, room("/// B.\nenum class Errc {};")),
    (CAN, room("/// A.\nstruct Twin {};"), SHM, room("struct Twin;\nnamespace detail {\nstruct Twin {};\n}")),
    (C_API, "/* A. */\ntypedef enum takt_a { TAKT_A = 1 } takt_a;\nTAKT_API int32_t takt_f(void);  /* Says so. */\n"),
    (CAN, room("/// Both.\nint one();\nint two(int);\n\nint two(double);\nvoid A::f() {}\nbool operator==(A, A) { return true; }")),
    (CAN, room("/// A.\nclass A {\n public:\n  A() : a_{1}, b_(2) {}\n  ~A();\n  A(const A&) = delete;\n  void g() override;\n"
               "  int a_{}, b_ = f();\n\n private:\n  int h();\n};")),
    (CAN, room("/// A.\n// clang-format off\ntemplate <class T>\nrequires requires(T t) { t.f(); }\n// clang-format on\nint f(T t) {\n}")),
]


def offences_of(files_and_texts):
    with tempfile.TemporaryDirectory() as scratch:
        for file, text in zip(files_and_texts[::2], files_and_texts[1::2]):
            path = pathlib.Path(scratch) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return offences_in(pathlib.Path(scratch))


def self_test():
    failures = []
    for rule, line, *files_and_texts in PLANTED:
        found = offences_of(files_and_texts)
        if [(o.rule, o.file, o.line) for o in found] != [(rule, files_and_texts[0], line)]:
            failures.append(f"{files_and_texts}: expected an offence of rule '{rule}' in line {line}, got {found}")
    for files_and_texts in OBEDIENT:
        if found := offences_of(files_and_texts):
            failures.append(f"{files_and_texts} is allowed, yet: {found}")
    twins = offences_of((CAN, room("/// A.\nstruct Twin {};"), SHM, room("/// B.\nclass Twin {};")))
    if [(o.rule, o.file, o.line) for o in twins] != [("type", CAN, 3), ("type", SHM, 3)]:
        failures.append(f"a type in two rooms: {twins}")
    known = counts_of(twins)
    for offences, baseline, words in ((twins, {}, "mend"), ([], known, "--update"), (twins[:1], known, "--update"), (twins, known, None)):
        found = list(complaints(offences, baseline))
        if bool(found) != bool(words) or (words and words not in found[-1]):
            failures.append(f"{offences} with the baseline {baseline}: expected a complaint with '{words}', got {found}")
    if not updated(twins, {})[1] or updated(twins[:1], known)[1]:
        failures.append("the baseline may shrink, and must not grow without --force")
    return failures


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--all", "--update", "--force", "--self-test"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    if options.self_test:
        found = self_test()
        print(f"{len(PLANTED) + 1} planted offences, {len(OBEDIENT)} obedient trees")
    elif options.all:
        found = [text_of(offence) for offence in offences_in(options.root)]
    else:
        offences, file = offences_in(options.root), options.root / BASELINE
        is_read = file.exists() and not (options.update and options.force)
        baseline = json.loads(file.read_text(encoding="utf-8")) if is_read else {}
        if options.update:
            text, raised = updated(offences, baseline)
            found = [] if options.force else raised
            if not found:
                file.write_text(text, encoding="utf-8")
        else:
            found = list(complaints(offences, baseline))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
