#!/usr/bin/env python3
"""The C API from Python's cffi, which reads the installed takt.cdef. Skipped without cffi.

    cffi_test.py LIBRARY
"""

import math
import pathlib
import sys
import unittest

try:
    import cffi
except ImportError:
    print("cffi is not installed")
    sys.exit(77)

ffi = cffi.FFI()
ffi.cdef(pathlib.Path(sys.argv[1]).with_name("takt.cdef").read_text())
takt = ffi.dlopen(sys.argv[1])


class CffiTest(unittest.TestCase):
    def test_every_declared_function_is_in_the_library(self):
        self.assertEqual(takt.takt_abi_version(), takt.TAKT_ABI_VERSION)
        functions = [name for name in dir(takt) if name.startswith("takt_")]
        self.assertGreater(len(functions), 200)
        for name in functions:
            self.assertTrue(callable(getattr(takt, name)), name)

    def test_constants_are_numbers(self):
        self.assertEqual(takt.TAKT_OK, 0)
        self.assertEqual(takt.TAKT_ERROR_CAPI_NULL_POINTER, -(16 * 65536 + 1))
        self.assertEqual(takt.TAKT_MAX_JOINTS, 64)
        self.assertEqual(ffi.typeof("takt_goal_state").relements["TAKT_GOAL_SUCCEEDED"], 3)

    def test_structures_have_the_size_that_the_library_writes(self):
        checked = 0
        for name in dir(takt):
            structure = name.removesuffix("_init")
            if structure == name or structure not in ffi.list_types()[0] or not hasattr(ffi.new(structure + "*"), "struct_size"):
                continue
            made = ffi.new(structure + "*")
            getattr(takt, name)(made, ffi.sizeof(structure))
            self.assertEqual(made.struct_size, ffi.sizeof(structure), structure)
            checked += 1
        self.assertGreater(checked, 15)

    def test_a_trajectory_reaches_its_last_waypoint(self):
        times, positions = ffi.new("int64_t[]", [0, 1_000_000_000]), ffi.new("double[]", [0.0, 1.5])
        waypoints, trajectory = ffi.new("takt_waypoints*"), ffi.new("takt_trajectory**")
        takt.takt_waypoints_init(waypoints, ffi.sizeof("takt_waypoints"))
        waypoints.joints, waypoints.count = 1, 2
        waypoints.times_ns, waypoints.positions = times, positions
        self.assertEqual(takt.takt_trajectory_create(waypoints, trajectory), takt.TAKT_OK)
        cursor, position = ffi.new("takt_cursor*"), ffi.new("double*", math.nan)
        end = takt.takt_trajectory_duration_ns(trajectory[0])
        self.assertEqual(takt.takt_trajectory_sample(trajectory[0], cursor, end, 1, position, ffi.NULL, ffi.NULL), takt.TAKT_OK)
        self.assertEqual(position[0], 1.5)
        takt.takt_trajectory_destroy(trajectory[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
