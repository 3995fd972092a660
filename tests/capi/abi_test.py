#!/usr/bin/env python3
"""The binary interface of the C API against the accepted one, abi/SONAME.cdef. Both are compiled to shared objects, which abidiff
compares. Fails on an incompatible change, and on an addition that is not accepted yet; the message says what to do. Skipped without
abidiff (Debian: abigail-tools).

    abi_test.py LIBRARY SONAME C_COMPILER
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY, SONAME, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
ACCEPTED = pathlib.Path(__file__).parent / "abi" / f"{SONAME}.cdef"
PRESENT = LIBRARY.with_name("takt.cdef")
ACCEPT = f"cp {PRESENT} {ACCEPTED}"
STRUCT = re.compile(r"typedef struct (\w+) \{(\s*uint32_t struct_size;[^}]*)\}")
ENUM = re.compile(r"(enum(?: \w+)? \{)([^}]*)\}")

if shutil.which("abidiff") is None:
    print("abidiff is not installed")
    sys.exit(77)


def without_additions(text, accepted):
    """`text` without what newer libraries may add: fields at the end of structures with struct_size, and enumerators."""
    fields = dict(STRUCT.findall(accepted))
    known = {e.split("=")[0].strip() for _, body in ENUM.findall(accepted) for e in body.split(",")}

    def cut(struct):
        body = fields.get(struct[1], "").rstrip()
        return f"typedef struct {struct[1]} {{{body}\n}}" if body and struct[2].startswith(body) else struct[0]

    def keep(enum):
        return enum[1] + ",".join(e for e in enum[2].split(",") if e.split("=")[0].strip() in known) + "}"
    return ENUM.sub(keep, STRUCT.sub(cut, text))


def compile_to(path, text):
    """A shared object with these types and functions. The functions do nothing."""
    pieces, depth = [], 0
    for piece in re.split(r"([{};])", text):
        depth += {"{": 1, "}": -1}.get(piece, 0)
        is_function = piece == ";" and depth == 0 and re.match(r"\s*(?!typedef)[\w *]+?\btakt_\w+\(", pieces[-1])
        pieces.append("{ __builtin_trap(); }" if is_function else piece)
    source = path.with_suffix(".c")
    source.write_text("#include <stddef.h>\n#include <stdint.h>\n" + "".join(pieces))
    subprocess.run([COMPILER, "-w", "-g", "-fno-eliminate-unused-debug-types", "-shared", "-fPIC", "-o", path, source], check=True)


def incompatible_changes(text, accepted):
    """The report of abidiff, "" if every program of the accepted interface works with a library of the other one."""
    with tempfile.TemporaryDirectory() as folder:
        objects = [pathlib.Path(folder) / name for name in ("accepted.so", "present.so")]
        compile_to(objects[0], accepted)
        compile_to(objects[1], without_additions(text, accepted))
        compared = subprocess.run(["abidiff", "--non-reachable-types", "--harmless", "--no-show-locs", "--no-added-syms", *objects],
                                  capture_output=True, text=True)
        return compared.stdout + compared.stderr if compared.returncode != 0 else ""


class AbiTest(unittest.TestCase):
    def test_programs_of_the_accepted_interface_work_with_this_library(self):
        if not ACCEPTED.exists():
            self.fail(f"the soname {SONAME} is new: accept its interface with\n  {ACCEPT}")
        if report := incompatible_changes(PRESENT.read_text(), ACCEPTED.read_text()):
            self.fail(f"\n{report}\nThis breaks programs. Take it back, or raise takt_c_soversion in capi/CMakeLists.txt.")

    def test_additions_are_accepted_on_purpose(self):
        if not ACCEPTED.exists() or PRESENT.read_text().split() != ACCEPTED.read_text().split():
            self.fail("\nThe interface has changed. If the other test says that nothing is incompatible, raise TAKT_ABI_VERSION, once "
                      f"for a release, and accept the addition with\n  {ACCEPT}")

    def test_the_check_bites(self):
        text = PRESENT.read_text()

        def report_of(*changes):
            changed = text
            for old, new in changes:
                self.assertIn(old, text)
                changed = changed.replace(old, new, 1)
            return incompatible_changes(changed, text)
        self.assertEqual("", report_of(
            ("  char message[256];\n", "  char message[256];\n  int64_t more;\n"),
            ("TAKT_GOAL_RECALLED = 7", "TAKT_GOAL_RECALLED = 7,\n  TAKT_GOAL_MORE = 8"),
            ("int32_t takt_abi_version(void);", "int32_t takt_abi_version(void);\nint32_t takt_more(void);")))
        report = report_of(
            ("  int64_t duration_ns;\n", "  int64_t duration_ns;\n  int64_t between;\n"),
            ("  double derivative_filter;", "  int64_t derivative_filter;"),
            ("  double effort;\n} takt_joint_limits;", "  double effort;\n  double behind_a_fixed_one;\n} takt_joint_limits;"),
            ("takt_pid_reset(takt_pid* pid, int32_t", "takt_pid_reset(takt_pid* pid, int64_t"),
            ("takt_pid_destroy(", "takt_pid_free("),
            ("TAKT_GOAL_RECALLED = 7", "TAKT_GOAL_RECALLED = 8"),
            ("TAKT_MAX_TRANSMISSION = 6", "TAKT_MAX_TRANSMISSION = 7"))
        for found in ("between", "derivative_filter", "behind_a_fixed_one", "takt_pid_reset", "takt_pid_destroy", "TAKT_GOAL_RECALLED",
                      "TAKT_MAX_TRANSMISSION"):
            self.assertIn(found, report)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
