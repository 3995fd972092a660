#!/usr/bin/env python3
"""Tests that the exit code of takt dbc2hpp says whether the header contains all of the file.

    takt_dbc2hpp_test.py TAKT
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TAKT = sys.argv.pop(1)
GOOD = 'BU_: A\nBO_ 1 Good: 8 A\n SG_ a : 0|8@1+ (1,0) [0|0] "" A\n'


class Dbc2hppTest(unittest.TestCase):
    def run_on(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            source, header = pathlib.Path(folder) / "drive.dbc", pathlib.Path(folder) / "drive.hpp"
            source.write_text(text)
            done = subprocess.run([TAKT, "dbc2hpp", source, "-o", header, *arguments], capture_output=True, text=True,
                                  timeout=60)
            return done.returncode, done.stderr, header.read_text() if header.exists() else None

    def test_a_whole_file_succeeds(self):
        code, said, header = self.run_on(GOOD)
        self.assertEqual((code, said), (0, ""))
        self.assertIn("struct Good {", header)

    def test_what_is_left_out_is_named_and_fails(self):
        for lost, why in (
                ('BO_ 2 Short: 1 A\n SG_ a : 0|16@1+ (1,0) [0|0] "" A\n', "message Short is not in the header"),
                ("BO_ 2048 Large: 8 A\n", "more than 11 bits"),
                ('BO_ 2 M: 8 A\n SG_ bad : 0|8@2+ (1,0) [0|0] "" A\n', "line 5, column"),
        ):
            code, said, header = self.run_on(GOOD + lost)
            self.assertEqual(code, 1)
            self.assertIn(why, said)
            self.assertIn("--partial", said)
            self.assertIn("struct Good {", header)
            code, said, header = self.run_on(GOOD + lost, "--partial")
            self.assertEqual(code, 0)
            self.assertIn(why, said)

    def test_what_is_no_file_is_bad_input(self):
        code, _, header = self.run_on("nothing of the kind")
        self.assertEqual((code, header), (2, None))


if __name__ == "__main__":
    unittest.main()
