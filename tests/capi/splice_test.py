#!/usr/bin/env python3
"""Trajectories of the C API that are spliced, cut and stopped, from Python.

    splice_test.py LIBRARY
"""

import math
import sys
import unittest
from ctypes import byref, c_int32, c_size_t, c_void_p

from bindings import *  # the library, named in the first argument, and its structures
from trajectories import Trajectory, usual_limits


class SpliceTest(unittest.TestCase):
    def setUp(self):
        self.running = Trajectory(waypoints([0, 2 * SECOND], [[0, 0], [1, -1]], through=STOP))
        self.next = Trajectory(waypoints([0, SECOND, 3 * SECOND], [[1], [0.5], [0]]))
        self.limits = usual_limits(2)
        self.options, self.splice, self.violation = SpliceOptions(), Splice(), Violation()
        initialise(self.options)
        initialise(self.splice)
        initialise(self.violation)

    def make(self, handle):
        return takt.takt_trajectory_splice(self.running.handle, self.next.handle, byref(self.options), self.limits, 2,
                                           byref(self.splice), byref(self.violation), handle)

    def test_the_running_one_before_the_next_one_after_and_no_step_between(self):
        self.options.at_ns, self.options.start_ns = SECOND, SECOND // 2
        self.options.joints = (c_size_t * 1)(1)
        spliced = Trajectory(make=self.make)
        self.assertEqual((self.splice.fits, self.splice.waypoint, self.splice.joins_ns, self.splice.delay_ns),
                         (1, 1, 1_500_000_000 + self.splice.delay_ns, self.splice.delay_ns))
        self.assertGreater(self.splice.delay_ns, 0)
        self.assertEqual(takt.takt_trajectory_check(spliced.handle, self.limits, 2, None), OK)
        end = 3_500_000_000 + self.splice.delay_ns
        self.assertAlmostEqual(spliced.duration_ns(), end, delta=2)
        before = None
        for t in range(0, end, 5_000_000):
            p, v, a = spliced.sample(t)
            expected = self.running.sample(t)
            self.assertAlmostEqual(p[0], expected[0][0], places=9)
            if t <= SECOND:
                self.assertAlmostEqual(a[1], expected[2][1], places=6)
            if t > self.splice.joins_ns:
                then = self.next.sample(t - SECOND // 2 - self.splice.delay_ns)
                self.assertAlmostEqual(p[1], then[0][0], places=6)
            if before is not None:
                self.assertLessEqual(abs(p[1] - before[0]), 2 * 0.005 * 1.001)
                self.assertLessEqual(abs(v[1] - before[1]), 6 * 0.005 * 1.001)
                self.assertLessEqual(abs(a[1] - before[2]), 80 * 0.005 * 1.001)
            before = p[1], v[1], a[1]

    def test_a_bridge_that_cannot_keep_a_limit_says_which(self):
        self.options.at_ns, self.options.start_ns = SECOND, 3 * SECOND
        self.options.joints = (c_size_t * 1)(1)
        self.limits[1].velocity = 0.7  # it goes at 15/16
        Trajectory(make=self.make)
        self.assertEqual(self.splice.fits, 0)
        self.assertEqual((self.violation.quantity, self.violation.joint, self.violation.time_ns), (2, 1, SECOND))
        self.assertAlmostEqual(self.violation.value, -15 / 16)

    def test_errors(self):
        handle = c_void_p()
        self.options.at_ns = SECOND
        self.assertEqual(self.make(byref(handle)), WRONG_SIZE)  # one joint for two
        self.options.joints = (c_size_t * 1)(2)
        self.assertEqual(self.make(byref(handle)), WRONG_SIZE)
        self.options.joints = (c_size_t * 1)(0)
        self.options.at_ns = -1
        self.assertEqual(self.make(byref(handle)), OUT_OF_DOMAIN)
        self.options.at_ns, self.options.start_ns = SECOND, -10 * SECOND
        self.assertEqual(self.make(byref(handle)), NO_WAYPOINTS)
        self.options.reserved = 1
        self.assertEqual(self.make(byref(handle)), BAD_ARGUMENT)
        self.options.struct_size = 4
        self.assertEqual(self.make(byref(handle)), WRONG_STRUCT_SIZE)
        initialise(self.options)
        self.splice.struct_size = 4
        self.assertEqual(self.make(byref(handle)), WRONG_STRUCT_SIZE)
        arguments = [self.running.handle, self.next.handle, byref(self.options), self.limits, 2, None, None, byref(handle)]
        for k in (0, 1, 2, 3, 7):
            self.assertEqual(takt.takt_trajectory_splice(*(None if i == k else x for i, x in enumerate(arguments))),
                             NULL_POINTER)
        self.assertIsNone(handle.value)

    def test_parts_and_some_of_the_joints(self):
        part = Trajectory(make=lambda handle: takt.takt_trajectory_part(
            self.running.handle, SECOND // 2, 2**62, handle))
        self.assertAlmostEqual(part.duration_ns(), 1_500_000_000, delta=2)
        self.assertAlmostEqual(part.sample(SECOND // 4)[0][1], self.running.sample(750_000_000)[0][1])
        some = Trajectory(make=lambda handle: takt.takt_trajectory_select(
            self.running.handle, (c_size_t * 1)(1), 1, handle))
        self.assertEqual(some.joints, 1)
        self.assertAlmostEqual(some.sample(SECOND // 4)[1][0], self.running.sample(SECOND // 4)[1][1])
        self.assertEqual(takt.takt_trajectory_select(some.handle, (c_size_t * 1)(1), 1, byref(c_void_p())), WRONG_SIZE)
        self.assertEqual(takt.takt_trajectory_select(some.handle, (c_size_t * 65)(), 65, byref(c_void_p())), WRONG_SIZE)

    def test_each_joint_stops_by_itself(self):
        fits = c_int32(-1)
        stopped = Trajectory(make=lambda handle: takt.takt_trajectory_stop_each(
            self.running.handle, SECOND, self.limits, 2, byref(fits), byref(self.violation), handle))
        self.assertEqual(fits.value, 1)
        self.assertEqual(stopped.sample(stopped.duration_ns())[1], [0, 0])
        self.assertLess(stopped.duration_ns(), 1_500_000_000)
        self.limits[0].position_max = 0.55
        Trajectory(make=lambda handle: takt.takt_trajectory_stop_each(
            self.running.handle, SECOND, self.limits, 2, byref(fits), byref(self.violation), handle))
        self.assertEqual((fits.value, self.violation.quantity, self.violation.joint), (0, 1, 0))
        self.assertEqual(takt.takt_trajectory_stop_each(self.running.handle, -1, self.limits, 2, None, None,
                                                        byref(c_void_p())), OUT_OF_DOMAIN)

    def test_slow_down(self):
        self.assertEqual(takt.takt_trajectory_slow_down(self.running.handle, 2.5), OK)
        self.assertAlmostEqual(self.running.duration_ns(), 5 * SECOND, delta=2)
        self.assertEqual(takt.takt_trajectory_slow_down(self.running.handle, 0), OUT_OF_DOMAIN)
        self.assertEqual(takt.takt_trajectory_slow_down(self.running.handle, math.nan), NOT_FINITE)
        self.assertEqual(takt.takt_trajectory_slow_down(None, 1), NULL_POINTER)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
