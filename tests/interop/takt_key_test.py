#!/usr/bin/env python3
"""Tests takt key: the file is readable by its owner only, has the requested number of random bytes, and overwrites
nothing.

    takt_key_test.py TAKT
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TAKT = sys.argv.pop(1)


def key(*arguments):
    return subprocess.run([TAKT, "key", *map(str, arguments)], capture_output=True, text=True, timeout=60)


class KeyTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "furbot.key"

    def test_makes_keys_of_both_sizes_for_their_owner_alone(self):
        made = set()
        for size in (16, 32, 16):
            self.assertEqual(key(self.path, "--bytes", size).returncode, 0)
            self.assertEqual(self.path.stat().st_mode & 0o7777, 0o600)
            made.add(self.path.read_bytes())
            self.assertEqual(len(self.path.read_bytes()), size)
            self.path.unlink()
        self.assertEqual(len(made), 3)

    def test_the_default_is_the_stronger_kind_that_the_program_has(self):
        strongest = 16 if "this program was built without it" in key("--help").stdout else 32
        self.assertEqual(key(self.path).returncode, 0)
        self.assertEqual(len(self.path.read_bytes()), strongest)

    def test_refuses_to_write_over_a_key_or_to_make_another_size(self):
        self.assertEqual(key(self.path).returncode, 0)
        before = self.path.read_bytes()
        again = key(self.path)
        self.assertEqual(again.returncode, 1)
        self.assertIn(str(self.path), again.stderr)
        self.assertEqual(self.path.read_bytes(), before)
        self.assertNotEqual(key(self.path.with_suffix(".other"), "--bytes", 17).returncode, 0)
        self.assertFalse(self.path.with_suffix(".other").exists())


if __name__ == "__main__":
    unittest.main()
