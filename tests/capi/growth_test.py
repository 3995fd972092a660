#!/usr/bin/env python3
"""Structures that grow: programs and libraries of different ages. Each structure of the C API that begins with struct_size is tried in
every size, between bytes that nobody may touch. No structure has bytes between its fields, which a later field would take over uninitialised.

    growth_test.py LIBRARY
"""

import ctypes
import sys
import unittest
from ctypes import byref, c_int64, c_void_p, sizeof

from bindings import *  # the library, named in the first argument, and its structures

GUARD = 0xA5
GROWING = {name: structure for name, structure in INTERFACE.structures.items() if structure._fields_[0][0] == "struct_size"}


def initialised_with(name, size):
    """The bytes of a caller that says that it owns `size` of them."""
    memory = (ctypes.c_ubyte * 4200).from_buffer(bytearray([GUARD]) * 4200)
    initialise_memory = getattr(takt, f"{name}_init")
    initialise_memory(ctypes.cast(memory, ctypes.POINTER(GROWING[name])), size)
    return bytes(memory)


class GrowthTest(unittest.TestCase):
    def test_every_structure_that_can_grow_has_a_function_that_sets_its_size(self):
        self.assertEqual(set(GROWING), {function[:-5] for function in INTERFACE.functions if function.endswith("_init")}
                         - {"takt_joint_limits", "takt_directional_limits"})
        self.assertGreater(len(GROWING), 30)

    def test_nothing_is_written_beyond_the_size_of_the_caller(self):
        for name, structure in GROWING.items():
            whole = initialised_with(name, sizeof(structure))
            for size in range(4, sizeof(structure) + 100):
                made = initialised_with(name, size)
                self.assertEqual(int.from_bytes(made[:4], sys.byteorder), size, name)
                known = min(size, sizeof(structure))
                self.assertEqual(made[4:known], whole[4:known], (name, size))
                self.assertEqual(set(made[known:size]) | {0}, {0}, (name, size))
                self.assertEqual(set(made[size:]), {GUARD}, (name, size))

    def test_a_size_that_no_structure_has_is_not_written(self):
        for name in GROWING:
            self.assertEqual(set(initialised_with(name, 3)), {GUARD}, name)
            for size in (4097, 2**63, 2**64 - 1):
                made = initialised_with(name, size)
                self.assertEqual(made[:4], bytes(4), name)  # every function refuses it
                self.assertEqual(set(made[4:]), {GUARD}, name)

    def test_no_structure_has_bytes_between_its_fields_or_behind_them(self):
        for name, structure in INTERFACE.structures.items():
            end = 0
            for field, _ in structure._fields_:
                at = getattr(structure, field)
                self.assertEqual(at.offset, end, f"{name}.{field}")
                end = at.offset + at.size
            self.assertEqual(end, sizeof(structure), name)

    def test_a_newer_program_reads_zeros_in_the_fields_that_an_older_library_does_not_know(self):
        class Newer(ctypes.Structure):
            _fields_ = [("known", Violation), ("added", c_int64)]
        limits, newer = no_limits(1), Newer()
        limits[0].velocity = 0.5
        takt.takt_violation_init(byref(newer.known), sizeof(newer))
        trajectory = c_void_p()
        self.assertEqual(takt.takt_trajectory_create(byref(waypoints([0, SECOND], [[0], [1]])), byref(trajectory)), OK)
        self.assertEqual(takt.takt_trajectory_check(trajectory, limits, 1, byref(newer.known)), VELOCITY_LIMIT)
        self.assertEqual((newer.known.struct_size, newer.known.limit, newer.added), (sizeof(newer), 0.5, 0))
        takt.takt_trajectory_destroy(trajectory)

    def test_reserved_fields_are_zero(self):
        segment, hub = c_void_p(), c_void_p()
        exchanges = (Exchange * 2)((b"image", BROADCAST, 0, takt.takt_joint_image_schema()), (b"slots", JOINT_SLOTS, 2, None))
        self.assertEqual(takt.takt_segment_create_sealed(b"reserved", exchanges, 2, byref(segment)), OK)
        safety = JointSafety(0, 1, 0, 0)
        made = takt.takt_joint_hub_create(segment, b"image", b"slots", byref(safety), 1, SECOND, 3, byref(hub))
        self.assertEqual(made, BAD_ARGUMENT)
        takt.takt_segment_close(segment)
        kind, component = initialise(ComponentType()), c_void_p()
        kind.type, kind.reserved = b"Reserved", 1
        self.assertEqual(takt.takt_component_create(byref(kind), b"one", None, byref(component)), BAD_ARGUMENT)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
