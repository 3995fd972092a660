#!/usr/bin/env python3
"""The C headers against the library and the rooms. The library exports exactly the declared functions. The error numbers are those
of the C++ enums, name by name.

    header_test.py LIBRARY NM SOURCE_DIR
"""

import ctypes
import pathlib
import re
import subprocess
import sys
import unittest

LIBRARY, NM, SOURCE = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
HEADER = "".join(path.read_text() for path in sorted((SOURCE / "capi/include/takt").glob("*.h")))
ERROR_FILES = {
    "trajectory": "include/takt/trajectory/error.hpp",
    "control": "include/takt/control/error.hpp",
    "mobile": "include/takt/mobile/error.hpp",
    "can": "include/takt/can/error.hpp",
    "vehicle": "include/takt/vehicle/error.hpp",
    "shm": "include/takt/shm/error.hpp",
    "rt": "include/takt/rt/error.hpp",
    "component": "include/takt/component/error.hpp",
    "robot": "include/takt/robot/error.hpp",
    "controllers": "include/takt/controllers/error.hpp",
    "motion": "include/takt/motion/error.hpp",
    "record": "include/takt/record/error.hpp",
    "sim": "include/takt/sim/error.hpp",
    "platform": "include/takt/platform/error.hpp",
    "app": "include/takt/app/error.hpp",
    "secure": "include/takt/secure/error.hpp",
    "capi": "capi/src/error.hpp",
}
ROOMS = {name: int(number) for name, number in re.findall(
    r"^  (\w+) = (\d+),$", (SOURCE / "include/takt/core/error.hpp").read_text(), re.MULTILINE)}


def exported_symbols(library):
    lines = subprocess.run([NM, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in lines.splitlines()}


def declared_functions(header):
    return set(re.findall(r"^TAKT_API [^;(]*?(\w+)\(", header, re.MULTILINE))


def foreign(symbols):
    return {symbol for symbol in symbols if not symbol.startswith("takt_")}


def enumerators(text):
    """Returns {name: number} of an Errc, written out or as X(name, number, ...)."""
    body = text[text.index("enum class Errc"):]
    return {name: int(number) for name, number in re.findall(r"^  (\w+) = (\d+),", body, re.MULTILINE)} | {
        name: int(number) for name, number in re.findall(r"\bX\((\w+), (\d+),", text)}


class HeaderTest(unittest.TestCase):
    def test_exactly_the_declared_functions_are_exported(self):
        self.assertEqual(exported_symbols(LIBRARY), declared_functions(HEADER))

    def test_takt_cdef_declares_the_same_functions(self):
        cdef = pathlib.Path(LIBRARY).with_name("takt.cdef").read_text()
        self.assertEqual(set(re.findall(r"\b(takt_\w+)\([^;]*\);", cdef)), declared_functions(HEADER))
        self.assertNotRegex(cdef, r"#|/\*|__|TAKT_API|extern")

    def test_every_enum_has_a_name(self):
        self.assertNotRegex(HEADER, r"\benum \{")

    def test_nothing_foreign_is_exported_and_the_check_bites(self):
        self.assertEqual(foreign(exported_symbols(LIBRARY)), set())
        libc = next(line.split()[-1] for line in open("/proc/self/maps") if "libc.so" in line)
        self.assertIn("malloc", foreign(exported_symbols(libc)))

    def test_error_numbers_are_those_of_the_rooms(self):
        declared = {name: (int(room), int(code)) for name, room, code in re.findall(
            r"^  TAKT_ERROR_(\w+) = TAKT_STATUS\((\d+), (\d+)\)", HEADER, re.MULTILINE)}
        expected = {}
        for room, path in ERROR_FILES.items():
            for name, code in enumerators((SOURCE / path).read_text()).items():
                expected[f"{room}_{name}".upper()] = (ROOMS[room], code)
        self.assertGreater(len(expected), 40)
        self.assertEqual(declared, expected)

    def test_every_error_has_a_text(self):
        text = ctypes.CDLL(LIBRARY).takt_status_text
        text.restype = ctypes.c_char_p
        for room, code in re.findall(r"= TAKT_STATUS\((\d+), (\d+)\)", HEADER):
            self.assertFalse(text(-(int(room) * 65536 + int(code))).startswith(b"unknown"), (room, code))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
