#!/usr/bin/env python3
"""Versions and statuses of the C API, from Python.

    core_test.py LIBRARY
"""

import sys
import unittest

from bindings import *  # the library, named in the first argument, and its structures


class VersionTest(unittest.TestCase):
    def test_version_and_texts(self):
        self.assertRegex(takt.takt_version().decode(), r"^\d+\.\d+\.\d+$")
        self.assertGreaterEqual(takt.takt_abi_version(), 1)
        self.assertEqual(takt.takt_status_text(OK), b"success")
        self.assertEqual(takt.takt_status_text(VELOCITY_LIMIT), b"a velocity limit would be exceeded")

    def test_any_number_has_a_text(self):
        for number in [1, 2**31 - 1, -1, -65535, -65536, -(2**31), status(12, 19), status(31, 1)]:
            self.assertTrue(takt.takt_status_text(number).startswith(b"unknown"), number)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
